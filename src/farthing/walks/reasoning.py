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
from functools import lru_cache, partial
from typing import Any, Final, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import Judged, SplitJudge, Ways, largest_spreads
from farthing._core import expected_fall as core_fall
from farthing.costs import CostSheet
from farthing.typing import Flags, Floats
from farthing.walks.node_notes import NodeWays, notes_of
from farthing.walks.policy import Policy
from farthing.walks.reason import Details, Expectation, Outcome, Reason, RunnerUp, StopReason
from farthing.walks.row_walk import RowWalk
from farthing.walks.split import Foresight, Split, Stand, Way

# A prediction, and the probability of each class, if there are classes.
Belief: TypeAlias = tuple[Any, dict[Any, float] | None]

# Trees after the current one among which the runner-up is looked for.
_LOOKED_AHEAD: Final = 64


class Explained(Protocol):
    """What a fitted model says of the splits of its trees; one with classes has ``classes``, too."""

    @property
    def costs(self) -> CostSheet:
        """The prices."""
        ...

    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row."""
        ...

    def believe(self, outputs: Floats) -> Floats:
        """Return probabilities (n_rows, n_classes) or values (n_rows,) of a split's outputs."""
        ...

    def settle(self, outputs: Floats, looked: Flags) -> Floats:
        """Replace the outputs of rows that acquired nothing by the prior."""
        ...

    def results(self, outputs: Floats) -> tuple[NDArray[Any], Floats | None]:
        """Return predictions (n_rows,), and probabilities (n_rows, n_classes) of classes."""
        ...

    def label_shares(self, stands: Sequence[Stand]) -> Floats | None:
        """Return shares of the labels, (n_stands, n_classes), or their means, (n_stands, 1)."""
        ...

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return encoded values of a column, each equally likely; empty if the model does not know any."""
        ...

    def split_judge(self) -> SplitJudge | None:
        """Return what judges answers in one call of the core; None if only the methods above can."""
        ...


class _Judged(NamedTuple):
    """What is believed after each answer, the risk and its fall, and whether labels are known."""

    predictions: list[Any]
    probabilities: list[list[float]] | None
    risk: float
    fall: float
    known: bool


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

    __slots__ = ("_notes", "columns", "conclude", "factor", "model", "seed")

    def __init__(
        self, model: Explained, seed: int | None, conclude: Any, columns: Any, factor: float = 1.0
    ) -> None:
        self.model = model
        self.seed = seed
        self.conclude = conclude
        self.columns = columns
        self.factor = factor
        self._notes = notes_of(model)

    def of_question(self, row_walk: RowWalk) -> Reason:
        """Return why a walk asks for its column; it must not go on before the reason is complete."""
        column = row_walk.column
        assert column is not None
        ledger = row_walk.ledger
        feature, price = ledger.sheet.features[column], float(ledger.price(column))
        split, (ways, core_ways, below) = self._ways(row_walk)
        if split is None or core_ways is None:
            return self._by_expectation(row_walk, feature, price)
        found = self._in_core(row_walk, core_ways)
        # Of a value the risk is known up to a constant only.
        if found is None:
            ahead, judged = self._foreseen(row_walk, split, ways)
            is_class, known = judged.probabilities is not None, judged.known
            risk, fall = judged.risk, judged.fall
            beliefs = judged.predictions, judged.probabilities
            details = partial(self._details, row_walk, split, ways, ahead.columns, beliefs)
        else:
            is_class, known = self._notes.is_class(self.model), found.labels_known
            risk, fall = found.risk, found.fall
            details = partial(self._core_details, row_walk, split, ways)
        alone = split.forest.n_trees == 1
        # An answer that is known narrows the rows below; the shares are those of all answers to it.
        narrowed = column in below or row_walk.has_answer(below)
        exact = alone and known and self.factor == 1 and not narrowed
        return Reason(
            feature,
            price,
            _MEASURES[is_class],
            risk if is_class else None,
            self.factor * fall,
            details=details,
            estimated=not exact,
            source=_corrected(_SOURCES[known, alone], self.factor),
        )

    def _in_core(self, row_walk: RowWalk, ways: Ways) -> Judged | None:
        """Return what `_foreseen` finds, from one call of the core; None if that is not possible here."""
        judge = self._notes.judge(self.model)
        return None if judge is None else row_walk.judged(judge, ways)

    def _core_details(self, row_walk: RowWalk, split: Split, ways: list[Way]) -> Details:
        """Return what `_details` does, whose answers the core has judged."""
        ahead = self._ahead(row_walk, ways)
        predictions, likely = self.model.results(ahead.outputs)
        beliefs = predictions.tolist(), None if likely is None else likely.tolist()
        return self._details(row_walk, split, ways, ahead.columns, beliefs)

    def _details(
        self,
        row_walk: RowWalk,
        split: Split,
        ways: list[Way],
        columns: Sequence[int | None],
        beliefs: tuple[list[Any], list[list[float]] | None],
    ) -> Details:
        """Return the runner-up, and the answers that make a difference."""
        features, labels = self.model.costs.features, list[Any]()
        predictions, probabilities = beliefs
        if probabilities is not None:
            labels = self._notes.once("labels", getattr(self.model, "classes").tolist)  # noqa: B009
        outcomes = []
        for place, way in enumerate(ways):
            asked = columns[place]
            outcomes.append(
                Outcome(
                    self._shown(split.column, way),
                    way.probability,
                    predictions[place],
                    None if probabilities is None else dict(zip(labels, probabilities[place], strict=True)),
                    None if asked is None else features[asked],
                )
            )
        return self._runner_up(row_walk, split), tuple(outcomes)

    def expected(self, row_walk: RowWalk) -> tuple[str, float | None]:
        """Return the measure and the fall of `of_question`, without the rest, which takes longer."""
        split, (ways, core_ways, _) = self._ways(row_walk)
        if split is not None and core_ways is not None:
            measure = _MEASURES[self._notes.is_class(self.model)]
            found = self._in_core(row_walk, core_ways) or self._foreseen(row_walk, split, ways)[1]
            return measure, self.factor * found.fall
        told = getattr(row_walk.policy, "expectation", None)
        given: Expectation | None = None if told is None else told()
        if given is None:
            return _measure(self.belief(row_walk)), None
        return given.measure, self.factor * given.fall

    def _foreseen(self, row_walk: RowWalk, split: Split, ways: list[Way]) -> tuple[Foresight, _Judged]:
        """Return where answers lead to, what is believed then, and by how much the risk falls."""
        ahead = self._ahead(row_walk, ways)
        if not split.is_alone:
            return ahead, self._judged(row_walk, ways, ahead)
        # In a single tree all of it follows from the nodes; a row that has bought nothing has the prior.
        nodes = [-1 if stand is None else int(stand.nodes[-1]) for stand in ahead.stands]
        key = self._notes.number(split.forest), split.node, bool(row_walk.looked.any()), *nodes
        return ahead, self._notes.once(key, lambda: self._judged(row_walk, ways, ahead))

    def _ahead(self, row_walk: RowWalk, ways: list[Way]) -> Foresight:
        """Return where answers lead to."""
        answers = [way.answer for way in ways]
        return row_walk.foresee(answers) or self._forked(row_walk, answers)

    def _forked(self, row_walk: RowWalk, answers: Sequence[float]) -> Foresight:
        """Return where answers lead to, by walks that go on from here."""
        copies = [row_walk.fork(self.model.policy(self.seed)) for _ in answers]
        for copy, answer in zip(copies, answers, strict=True):
            copy.buy(answer)
        return Foresight(
            np.array([copy.output() for copy in copies]),
            [stand_of(copy.policy) for copy in copies],
            [copy.column for copy in copies],
        )

    def _judged(self, row_walk: RowWalk, ways: list[Way], ahead: Foresight) -> _Judged:
        """Return what `_foreseen` does; all rows at once, since each array operation takes its time."""
        # Rows with an answer have bought something; the row itself may have the prior.
        now = self.model.settle(row_walk.output()[np.newaxis], row_walk.looked[np.newaxis])
        predictions, likely = self.model.results(np.concatenate([now, ahead.outputs]))
        beliefs = predictions[:, np.newaxis].astype(np.float64) if likely is None else likely
        stands = [stand for stand in ahead.stands if stand is not None]
        labels = self.model.label_shares(stands) if len(stands) == len(ways) else None
        known = beliefs[1:] if labels is None else labels
        risk, fall = core_fall(beliefs[0], beliefs[1:], known, [way.probability for way in ways])
        after = None if likely is None else likely[1:].tolist()
        return _Judged(predictions[1:].tolist(), after, risk, fall, labels is not None)

    def _ways(self, row_walk: RowWalk) -> tuple[Split | None, NodeWays]:
        """Return the split that decides the question, and the ways out of it; None and none without one."""
        split = split_of(row_walk.policy)
        if split is None or split.column != row_walk.column:
            return None, _NO_WAYS
        return split, self._notes.ways(split)

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
        told = getattr(row_walk.policy, "expectation", None)
        given: Expectation | None = None if told is None else told()
        if given is not None:
            fall, source = self.factor * given.fall, _corrected(given.source, self.factor)
            return Reason(
                feature, price, given.measure, given.risk, fall,
                details=_NO_DETAILS, estimated=True, source=source,
            )  # fmt: skip
        now = self.belief(row_walk)
        risk = self._risk(row_walk, now)
        return Reason(
            feature, price, _measure(now), risk, None,
            details=_NO_DETAILS, estimated=True, source="the belief of now alone",
        )  # fmt: skip

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

    def _concluded(self, output: Floats, looked: Flags) -> Belief:
        return self.conclude(output[np.newaxis], looked[np.newaxis])  # type: ignore[no-any-return]

    def _runner_up(self, row_walk: RowWalk, split: Split) -> RunnerUp | None:
        """Return the best other feature at the current nodes of later trees, by fall per price."""
        ledger, nodes = row_walk.ledger, split.later[:_LOOKED_AHEAD]
        if not len(nodes):
            return None
        best, rate, due = None, 0.0, 0.0
        # Of the tests of one column, whose price is the same, the one with the largest spread is the best.
        spreads = self._notes.spreads(split, nodes)
        for test in largest_spreads(split.forest.feature[nodes], spreads, split.column):
            _, column, spread = test
            if row_walk.is_open(column):
                price = float(ledger.price(column))
                gained = spread / price if price > 0 else np.inf
                if gained > rate:
                    best, rate, due = test, gained, price
        if best is None:
            return None
        place, column, _ = best
        fall = self._local_fall(split.at(split.tree + 1 + place, int(nodes[place])))
        return RunnerUp(ledger.sheet.features[column], due, fall)

    def _local_fall(self, split: Split) -> float:
        """Return the expected fall by the test of one tree, the others left as they are."""
        ways = self._notes.ways(split).ways
        # The node itself first: where the row stands now.
        here, *stands = split.moved([split.node, *(way.node for way in ways)])
        outputs = np.array([here.output, *(stand.output for stand in stands)])
        beliefs = self.model.believe(outputs).reshape(len(outputs), -1)
        shares = self.model.label_shares(stands)
        labels = beliefs[1:] if shares is None else shares
        weights = [way.probability for way in ways]
        return float(self.factor * core_fall(beliefs[0], beliefs[1:], labels, weights)[1])

    def _shown(self, column: int, way: Way) -> str:
        if not way.codes:
            return way.shown
        names = self.columns[column].categories if len(self.columns) > column else ()
        return ", ".join(str(names[code]) if code < len(names) else str(code) for code in way.codes)


_NO_WAYS: Final = NodeWays([], None, frozenset())
_NO_DETAILS: Final[Details] = None, ()
_MEASURES: Final = {True: "Brier score", False: "squared error"}
_SOURCES: Final = {
    (True, True): "training rows at the node of the tree",
    (True, False): "training rows at the node of the next tree, which is one of several",
    (False, True): "training counts at the node, and the model's own probabilities",
    (False, False): "training counts at the node of the next tree, and the model's own probabilities",
}


@lru_cache(maxsize=256)
def _corrected(source: str, factor: float) -> str:
    """Return where figures come from that are multiplied by a factor."""
    return source if factor == 1 else f"{source}, times {factor:.2f} by held-out rows"


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
    return core_fall(now, after, labels, weights.tolist())


def split_of(policy: object) -> Split | None:
    """Return the split that a policy stands at; None if it has none, or does not say."""
    split = getattr(policy, "split", None)
    return None if split is None else split()


def stand_of(policy: object) -> Stand | None:
    """Return where a row stands in the trees of a policy; None if it has none, or does not say."""
    stand = getattr(policy, "stand", None)
    return None if stand is None else stand()


def _is_class(belief: Belief) -> bool:
    return belief[1] is not None


def _measure(belief: Belief) -> str:
    return _MEASURES[_is_class(belief)]


def _vector(belief: Belief) -> Floats:
    prediction, likely = belief
    return np.array([prediction] if likely is None else list(likely.values()), dtype=np.float64)
