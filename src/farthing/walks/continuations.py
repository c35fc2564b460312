"""How a walk may go on: what it would ask for, answer by answer, and how likely that is.

Copies of the walk go on from where it stands. Their answers are those of training rows: at a split of a tree,
each way out has the share of the training rows that took it; elsewhere, the values of a column are those that
the model tells (`Foreseen.likely_answers`). A number of copies is divided among the answers to each question
in proportion, so that no random numbers are needed and equal walks have equal continuations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from farthing.walks.policy import Policy
from farthing.walks.reasoning import split_of
from farthing.walks.row_walk import RowWalk

N_COPIES: Final = 32
"""Copies of a walk that go on; the likelihood of a question is known to one part in so many."""

# Steps of a Weyl sequence, by which copies are rounded up or down: no answer is favoured.
_GOLDEN: Final = (5**0.5 - 1) / 2


class Foreseen(Protocol):
    """What a fitted model tells of the rows that will come."""

    def policy(self, seed: int | None = None) -> Policy:
        """Return a fresh policy for one row."""
        ...

    def likely_answers(self, column: int) -> Sequence[float]:
        """Return encoded values of a column, each equally likely; empty if the model does not know any."""
        ...


@dataclass(frozen=True, slots=True)
class Continuation:
    """One way in which a walk may go on.

    Attributes
    ----------
    weight : float
        How likely it is.
    columns : tuple of int
        What it asks for, in order.
    idle : tuple of int
        What was bought ahead and is still not wanted.
    answers : tuple of float
        The encoded answers to what it asks for.
    """

    weight: float
    columns: tuple[int, ...]
    idle: tuple[int, ...] = ()
    answers: tuple[float, ...] = ()


def continuations(
    row_walk: RowWalk,
    model: Foreseen,
    seed: int | None,
    *,
    depth: int,
    n_copies: int = N_COPIES,
    watch: Callable[[], None] | None = None,
) -> list[Continuation]:
    """Return how a walk may go on, up to a number of questions.

    Parameters
    ----------
    row_walk : RowWalk
        The walk, which is left as it is.
    model : Foreseen
        The fitted model.
    seed : int or None
        The seed of the row.
    depth : int
        The largest number of questions that are looked at.
    n_copies : int
        Copies that go on.
    watch : callable, optional
        Called for each of them; may raise to stop.

    Returns
    -------
    list of Continuation
        Their weights add up to 1. Under a budget, none of them exceeds it.
    """
    return _Exploration(row_walk, model, seed, depth).explore(n_copies, watch)


class _Exploration:
    """Copies of one walk on their way."""

    def __init__(self, row_walk: RowWalk, model: Foreseen, seed: int | None, depth: int) -> None:
        self._walk = row_walk
        self._model = model
        self._seed = seed
        self._depth = depth
        self._n_shared = 0  # how often copies were divided so far

    def explore(self, n_copies: int, watch: Callable[[], None] | None) -> list[Continuation]:
        found: list[Continuation] = []
        open_ = [(n_copies, dict[int, float]())]
        while open_:
            if watch is not None:
                watch()
            count, told = open_.pop()
            copy = self._walk.fork(self._model.policy(self._seed))
            for value in told.values():
                copy.buy(value)
            while (column := copy.column) is not None and len(told) < self._depth:
                # All but one of the answers are left for later; this copy goes on with the first.
                (count, value), *others = self._share(count, self._answers(copy, column))
                open_ += [(number, {**told, column: other}) for number, other in others]
                told = {**told, column: value}
                copy.buy(value)
            found.append(Continuation(count / n_copies, tuple(told), copy.idle, tuple(told.values())))
        return found

    def _answers(self, copy: RowWalk, column: int) -> list[tuple[float, float]]:
        """Return the likely answers to a question, with their probabilities."""
        split = split_of(copy.policy)
        ways = [] if split is None or split.column != column else split.ways(most=2)
        if ways:
            return [(way.probability, way.answer) for way in ways]
        values = self._model.likely_answers(column)
        # Without a value that is known to be likely: as if it were measured and missing.
        return [(1 / len(values), value) for value in values] or [(1.0, np.nan)]

    def _share(self, count: int, answers: list[tuple[float, float]]) -> list[tuple[int, float]]:
        """Divide copies among answers in proportion to their probabilities; leave out those with none."""
        if count == 1 and len(answers) == 1:
            return [(1, answers[0][1])]
        self._n_shared += 1
        offset = self._n_shared * _GOLDEN % 1
        total = sum(probability for probability, _ in answers)
        ends = np.cumsum([probability for probability, _ in answers]) / total * count
        # The last end is `count`, whatever it was rounded to.
        places = [*np.floor(ends[:-1] + offset).astype(int).tolist(), count]
        counts = np.diff([0, *np.clip(places, 0, count).tolist()])
        return [
            (int(number), value) for number, (_, value) in zip(counts, answers, strict=True) if number > 0
        ]
