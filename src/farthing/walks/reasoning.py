"""How the reasons of a walk are found: from the split that it stands at, and from walks that go on from it.

A tree method stands at a node, whose children have the shares ``P_k`` of the training rows that went each
way. A copy of the walk takes an answer of each way. Its beliefs are ``p_k`` then, and the trees that it has
walked say how the labels of such rows are distributed, ``q_k``. With the belief ``p`` of now, the expected
fall of the Brier score is

    sum over k of P_k (S(p, q_k) - S(p_k, q_k)),    S(p, q) = |p|^2 - 2 p q + 1,

and that of the squared error likewise. For a single tree ``p_k = q_k``, and the sum is the fall of the Gini
impurity, or of the variance, of the training rows at the node. In a forest the belief counts trees that have
not been walked with their roots, so it moves less than the labels do; ``q_k`` is the mean over those walked.
Boosted trees move by a part, the learning rate, of what their rows ask for; ``q_k`` is where the whole move
leads to. Where the model has no labels at its nodes ``p_k`` stands for ``q_k``: the belief is taken at its
word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np

from farthing.typing import Flags, Floats
from farthing.walks.node_notes import NodeNotes, notes_of
from farthing.walks.policy import Policy
from farthing.walks.reason import Expectation, Outcome, Reason, RunnerUp, StopReason
from farthing.walks.row_walk import RowWalk
from farthing.walks.split import Split, Stand, Way

# A prediction, and the probability of each class, if there are classes.
Belief: TypeAlias = tuple[Any, dict[Any, float] | None]

# Trees after the current one among which the runner-up is looked for.
_LOOKED_AHEAD: Final = 64


class Explained(Protocol):
    """What a fitted model says of the splits of its trees."""

    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row."""
        ...

    def believe(self, outputs: Floats) -> Floats:
        """Return probabilities (n_rows, n_classes) or values (n_rows,) of a split's outputs."""
        ...

    def conclude_rows(self, outputs: Floats, looked: Flags) -> list[Belief]:
        """Return the prediction and the probability of each class, for each row."""
        ...

    def label_shares(self, stands: Sequence[Stand]) -> Floats | None:
        """Return shares of the labels, (n_stands, n_classes), or their means, (n_stands, 1)."""
        ...

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return encoded values of a column, each equally likely; empty if the model does not know any."""
        ...


class _Ahead(NamedTuple):
    """Where an answer leads to."""

    output: Floats
    looked: Flags
    stand: Stand | None
    asks: str | None


class _Foreseen(NamedTuple):
    """What is believed now and after each answer; the risk, its fall, and whether labels are known."""

    now: Belief
    after: list[Belief]
    risk: float
    fall: float
    known: bool


@dataclass(frozen=True)
class Reasoning:
    """What the reasons of one walk are made of.

    Parameters
    ----------
    model : Explained
        The fitted model.
    seed : int or None
        The seed of the row.
    conclude : callable
        As in `Walk`.
    columns : sequence
        Names and categories of the columns; empty if answers are not those of a table.
    factor : float
        By which predicted falls are multiplied, see `farthing.walks.realised`.
    """

    model: Explained
    seed: int | None
    conclude: Any
    columns: Any
    factor: float = 1.0

    def of_question(self, row_walk: RowWalk) -> Reason:
        """Return why a walk asks for its column."""
        column = row_walk.column
        assert column is not None
        sheet, ledger = row_walk.ledger.sheet, row_walk.ledger
        feature, price = sheet.features[column], float(ledger.price(column))
        split, ways = self._ways(row_walk)
        if split is None or not ways:
            return self._by_expectation(row_walk, feature, price)
        ahead, (now, after, risk, fall, known) = self._foreseen(row_walk, split, ways)
        estimated = not (split.is_alone and known) or self.factor != 1
        return Reason(
            feature,
            price,
            _measure(now),
            risk if _is_class(now) else None,
            self.factor * fall,
            self._runner_up(row_walk, split),
            tuple(
                Outcome(self._shown(column, way), way.probability, *_copied(belief), one.asks)
                for way, one, belief in zip(ways, ahead, after, strict=True)
            ),
            estimated,
            self._corrected(_SOURCES[known, split.is_alone]),
        )

    def expected(self, row_walk: RowWalk) -> tuple[str, float | None]:
        """Return the measure and the fall of `of_question`, without the rest, which takes longer."""
        split, ways = self._ways(row_walk)
        if split is not None and ways:
            found = self._foreseen(row_walk, split, ways)[1]
            return _measure(found.now), self.factor * found.fall
        told = getattr(row_walk.policy, "expectation", None)
        given: Expectation | None = None if told is None else told()
        if given is None:
            return _measure(self.belief(row_walk)), None
        return given.measure, self.factor * given.fall

    def _foreseen(self, row_walk: RowWalk, split: Split, ways: list[Way]) -> tuple[list[_Ahead], _Foreseen]:
        """Return where answers lead to, what is believed then, and by how much the risk falls."""
        ahead = [self._ahead(row_walk, way) for way in ways]
        if not split.is_alone:
            return ahead, self._judged(row_walk, ways, ahead)
        # In a single tree all of it follows from the nodes; a row that has bought nothing has the prior.
        nodes = [-1 if one.stand is None else int(one.stand.nodes[-1]) for one in ahead]
        key = split.forest, split.node, bool(row_walk.looked.any()), *nodes
        return ahead, self._notes.once(key, lambda: self._judged(row_walk, ways, ahead))

    def _judged(self, row_walk: RowWalk, ways: list[Way], ahead: list[_Ahead]) -> _Foreseen:
        """Return what `_foreseen` does; all rows at once, since each array operation takes its time."""
        now, *after = self.model.conclude_rows(
            np.array([row_walk.output(), *(one.output for one in ahead)]),
            np.array([row_walk.looked, *(one.looked for one in ahead)]),
        )
        moved = np.array([_vector(one) for one in after])
        stands = [one.stand for one in ahead if one.stand is not None]
        labels = self.model.label_shares(stands) if len(stands) == len(ahead) else None
        weights = np.array([way.probability for way in ways])
        risk, fall = expected_fall(_vector(now), moved, moved if labels is None else labels, weights)
        return _Foreseen(now, after, risk, fall, labels is not None)

    def _ways(self, row_walk: RowWalk) -> tuple[Split | None, list[Way]]:
        """Return the split that decides the question, and the ways out of it; None and [] without one."""
        split = split_of(row_walk.policy)
        if split is None or split.column != row_walk.column:
            return None, []
        return split, self._notes.ways(split)

    @property
    def _notes(self) -> NodeNotes:
        return notes_of(self.model)

    def _corrected(self, source: str) -> str:
        return source if self.factor == 1 else f"{source}, times {self.factor:.2f} by held-out rows"

    def of_end(self, row_walk: RowWalk) -> StopReason:
        """Return why a walk has ended."""
        now = self.belief(row_walk)
        features = row_walk.ledger.sheet.features
        dear = tuple(features[column] for column in row_walk.too_expensive)
        told = getattr(row_walk.policy, "why_ended", None)
        why = None if told is None else told()
        # In the measure of the reasons before it, if the method has one of its own.
        told = getattr(row_walk.policy, "standing", None)
        measure, risk = (None if told is None else told()) or (_measure(now), self._risk(row_walk, now))
        return StopReason(
            "budget" if dear else "finished",
            why or "the model has no further question",
            risk,
            measure,
            dear,
            tuple(features[column] for column in row_walk.refused),
        )

    def _by_expectation(self, row_walk: RowWalk, feature: str, price: float) -> Reason:
        """Return the reason of a policy that is at no split with counts."""
        now = self.belief(row_walk)
        told = getattr(row_walk.policy, "expectation", None)
        given: Expectation | None = None if told is None else told()
        if given is not None:
            fall, source = self.factor * given.fall, self._corrected(given.source)
            return Reason(feature, price, given.measure, given.risk, fall, None, (), True, source)
        risk = self._risk(row_walk, now)
        return Reason(feature, price, _measure(now), risk, None, None, (), True, "the belief of now alone")

    def _risk(self, row_walk: RowWalk, now: Belief) -> float | None:
        """Return the expected Brier score of a belief, by the labels of rows that stand there, if known.

        The same labels as in the reasons of questions, so that the risk after the last answer is the one that
        its reason foresaw; without them the belief is taken at its word.
        """
        if not _is_class(now):
            return None
        belief, stand = _vector(now), stand_of(row_walk.policy)
        # A row that has bought nothing has the prior, wherever missing values lead it.
        stands = stand is not None and len(stand.nodes) > 0 and bool(row_walk.looked.any())
        shares = self.model.label_shares([stand]) if stand is not None and stands else None
        labels = belief if shares is None else shares[0]
        return float(belief @ belief - 2 * belief @ labels + 1)

    def belief(self, row_walk: RowWalk) -> Belief:
        """Return the prediction of now, and the probability of each class."""
        return self._concluded(row_walk.output(), row_walk.looked)

    def _ahead(self, row_walk: RowWalk, way: Way) -> _Ahead:
        """Return where an answer leads to, and what would be asked then."""
        policy, column, looked = row_walk.foresee(way.answer), None, row_walk.looked
        if policy is not None:
            column, looked = policy.wants(row_walk.ledger), looked.copy()
            looked[row_walk.column] = True
        else:
            copy = row_walk.fork(self.model.policy(self.seed))
            copy.buy(way.answer)
            policy, column, looked = copy.policy, copy.column, copy.looked
        asks = None if column is None else row_walk.ledger.sheet.features[column]
        return _Ahead(policy.output(), looked, stand_of(policy), asks)

    def _concluded(self, output: Floats, looked: Flags) -> Belief:
        return self.conclude(output[np.newaxis], looked[np.newaxis])  # type: ignore[no-any-return]

    def _runner_up(self, row_walk: RowWalk, split: Split) -> RunnerUp | None:
        """Return the best other feature at the current nodes of later trees, by fall per price."""
        forest, ledger, nodes = split.forest, row_walk.ledger, split.later[:_LOOKED_AHEAD]
        columns = forest.feature[nodes]
        places = np.flatnonzero((columns >= 0) & (columns != split.column))
        if not len(places):
            return None
        spreads = self._notes.spreads(split, nodes[places])
        best, rate = -1, 0.0
        prices: dict[int, float] = {}
        for place, spread in zip(places.tolist(), spreads.tolist(), strict=True):
            column = int(columns[place])
            if column not in prices:
                prices[column] = float(ledger.price(column)) if row_walk.is_open(column) else np.inf
            gained = spread / prices[column] if prices[column] > 0 else spread * np.inf
            if gained > rate:
                best, rate = place, gained
        if best < 0:
            return None
        column = int(columns[best])
        fall = self._local_fall(split.at(split.tree + 1 + best, int(nodes[best])))
        return RunnerUp(ledger.sheet.features[column], prices[column], fall)

    def _local_fall(self, split: Split) -> float:
        """Return the expected fall by the test of one tree, the others left as they are."""
        ways = self._notes.ways(split)
        stands = [split.stand, *(split.moved(way.node) for way in ways)]
        outputs = np.array([stand.output for stand in stands])
        beliefs = self.model.believe(outputs).reshape(len(outputs), -1)
        shares = self.model.label_shares(stands[1:])
        labels = beliefs[1:] if shares is None else shares
        weights = np.array([way.probability for way in ways])
        return self.factor * expected_fall(beliefs[0], beliefs[1:], labels, weights)[1]

    def _shown(self, column: int, way: Way) -> str:
        if not way.codes:
            return way.shown
        names = self.columns[column].categories if len(self.columns) > column else ()
        return ", ".join(str(names[code]) if code < len(names) else str(code) for code in way.codes)


_SOURCES: Final = {
    (True, True): "training rows at the node of the tree",
    (True, False): "training rows at the node of the next tree, which is one of several",
    (False, True): "training counts at the node, and the model's own probabilities",
    (False, False): "training counts at the node of the next tree, and the model's own probabilities",
}


def expected_fall(now: Floats, after: Floats, labels: Floats, weights: Floats) -> tuple[float, float]:
    """Return the expected Brier score of now, and by how much it falls.

    Parameters
    ----------
    now : ndarray of float64, shape (n_classes,)
        The belief.
    after : ndarray of float64, shape (n_ways, n_classes)
        The belief after each answer.
    labels : ndarray of float64, shape (n_ways, n_classes)
        The shares of the labels among the rows with that answer.
    weights : ndarray of float64, shape (n_ways,)
        The shares of these rows.

    Returns
    -------
    risk, fall : float
        Of a value in place of probabilities, (n_ways, 1), the risk is that of the squared error up to a
        constant.

    Examples
    --------
    A fair coin, of which one answer tells all:

    >>> expected_fall(np.array([0.5, 0.5]), np.eye(2), np.eye(2), np.array([0.5, 0.5]))
    (0.5, 0.5)
    """
    before = now @ now - 2 * labels @ now + 1
    then = np.einsum("ij,ij->i", after, after - 2 * labels) + 1
    return float(weights @ before), float(weights @ (before - then))


def split_of(policy: object) -> Split | None:
    """Return the split that a policy stands at; None if it has none, or does not say."""
    split = getattr(policy, "split", None)
    return None if split is None else split()


def stand_of(policy: object) -> Stand | None:
    """Return where a row stands in the trees of a policy; None if it has none, or does not say."""
    stand = getattr(policy, "stand", None)
    return None if stand is None else stand()


def _copied(belief: Belief) -> Belief:
    """Return a belief that its owner may change."""
    return belief[0], None if belief[1] is None else dict(belief[1])


def _is_class(belief: Belief) -> bool:
    return belief[1] is not None


def _measure(belief: Belief) -> str:
    return "Brier score" if _is_class(belief) else "squared error"


def _vector(belief: Belief) -> Floats:
    prediction, likely = belief
    return np.array([prediction] if likely is None else list(likely.values()), dtype=np.float64)
