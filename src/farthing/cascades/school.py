"""What networks learn from, and how: batches of rows, and steps that become shorter."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.base.threads import one_thread
from farthing.boosting.booster import Floats
from farthing.cascades.learner import Learner, Singles
from farthing.cascades.reading import Reading
from farthing.forests.bootstrap import Units

if TYPE_CHECKING:
    from farthing.cascades.reader import NetworkReader

# Rows of a step.
_BATCH: Final = 256
# The last steps are this part as long as the first.
_LAST_RATE: Final = 0.01


class Batch(NamedTuple):
    """Rows of one step: what is read of them, their classes, and how much each counts, 1 in the mean."""

    inputs: Singles
    target: NDArray[np.int64]
    weights: Floats


class Deck:
    """Rows that are dealt by lot, every one once before any comes again."""

    def __init__(self, rows: NDArray[np.int64]) -> None:
        self._rows = rows
        self._waiting = rows[:0]

    def deal(self, n: int, chance: np.random.Generator) -> NDArray[np.int64]:
        """Return the next rows, shape (n,)."""
        while len(self._waiting) < n:
            shuffled = self._rows[chance.permutation(len(self._rows))]
            self._waiting = np.concatenate([self._waiting, shuffled])
        dealt, self._waiting = self._waiting[:n], self._waiting[n:]
        return dealt


class Lessons(Protocol):
    """What a network learns from."""

    @property
    def reading(self) -> Reading:
        """How values become inputs."""
        ...

    @property
    def n_classes(self) -> int:
        """Classes."""
        ...

    def decks(self) -> list[Deck]:
        """Return decks of rows, in the order in which `batch` takes them."""
        ...

    def batch(self, decks: list[Deck], n: int, outside: float, chance: np.random.Generator) -> Batch:
        """Deal so many rows, of which a part, outside, is from elsewhere."""
        ...


@dataclass(frozen=True, eq=False)
class Ward:
    """Rows and what the branches would have bought for them.

    Attributes
    ----------
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers.
    weights : ndarray of float64, shape (n_rows,)
        Positive weights.
    branch_of : ndarray of int64, shape (n_rows,)
        The branch of each row.
    bought : ndarray of bool, shape (n_branches, n_features)
        What each branch buys.
    n_classes : int
        Classes.
    """

    values: NDArray[np.floating]
    target: NDArray[np.int64]
    weights: Floats
    branch_of: NDArray[np.int64]
    bought: NDArray[np.bool_]
    n_classes: int

    @cached_property
    def units(self) -> Units:
        """The rows as units to draw."""
        return Units.of(self.values, self.target, self.weights)

    @cached_property
    def _mean_weight(self) -> float:
        return float(self.units.weight[self.units.rows].mean())

    def drawn(self, rows: NDArray[np.int64], inputs: Singles) -> Batch:
        """Return rows as a batch."""
        return Batch(inputs, self.target[rows], self.units.weight[rows] / self._mean_weight)


@dataclass(frozen=True, eq=False)
class AllBranches:
    """Lessons of one network for all branches: each row through what its branch has bought.

    A part of the rows is read as if another branch had bought for them.
    """

    ward: Ward
    reading: Reading

    @property
    def n_classes(self) -> int:
        """Classes."""
        return self.ward.n_classes

    def decks(self) -> list[Deck]:
        """Return one deck, of all rows."""
        return [Deck(self.ward.units.rows)]

    def batch(self, decks: list[Deck], n: int, outside: float, chance: np.random.Generator) -> Batch:
        """Deal rows, some of them to branches by lot."""
        ward = self.ward
        rows = decks[0].deal(n, chance)
        branches = ward.branch_of[rows]
        elsewhere = chance.random(n) < outside
        branches[elsewhere] = chance.integers(0, len(ward.bought), size=int(elsewhere.sum()))
        return ward.drawn(rows, self.reading.inputs(ward.values[rows], ward.bought[branches], np.float32))


@dataclass(frozen=True, eq=False)
class OneBranch:
    """Lessons of a network of one branch: all rows through what that branch has bought.

    Attributes
    ----------
    ward : Ward
        The rows.
    reading : Reading
        Of the columns of the branch.
    branch : int
        The branch.
    near : ndarray of int64, shape (n_near,)
        The rows to learn from, whatever their branch.
    """

    ward: Ward
    reading: Reading
    branch: int
    near: NDArray[np.int64]

    @property
    def n_classes(self) -> int:
        """Classes."""
        return self.ward.n_classes

    def decks(self) -> list[Deck]:
        """Return the rows of the branch, and those of others; the latter for both if one is empty."""
        is_near = np.zeros(len(self.ward.values), dtype=np.bool_)
        is_near[self.near] = True
        units = self.ward.units.rows
        units = units[is_near[units]]
        own = self.ward.branch_of[units] == self.branch
        return [Deck(part if len(part) else units) for part in (units[own], units[~own])]

    def batch(self, decks: list[Deck], n: int, outside: float, chance: np.random.Generator) -> Batch:
        """Deal rows of the branch, and a part from elsewhere."""
        n_outside = round(outside * n)
        rows = np.concatenate([decks[0].deal(n - n_outside, chance), decks[1].deal(n_outside, chance)])
        known = np.broadcast_to(self.ward.bought[self.branch], (n, self.ward.bought.shape[1]))
        return self.ward.drawn(rows, self.reading.inputs(self.ward.values[rows], known, np.float32))


class School:
    """A network that learns from lessons, step by step.

    Parameters
    ----------
    lessons : Lessons
        What it learns from.
    plan : NetworkReader
        How it learns.
    seed : int
        For all lots.
    """

    def __init__(self, lessons: Lessons, plan: NetworkReader, seed: int) -> None:
        self._lessons, self._plan = lessons, plan
        self.chance = np.random.default_rng(seed)
        sizes = [lessons.reading.n_inputs, plan.n_units, plan.n_units, lessons.n_classes]
        self.learner = Learner(sizes, self.chance, plan.dropout)
        self.decks = lessons.decks()
        self.n_done = 0

    def go_on(self, n_steps: int) -> bool:
        """Learn for so many steps, or to the end; tell whether that is reached."""
        plan = self._plan
        with one_thread():
            for _ in range(min(n_steps, plan.n_steps - self.n_done)):
                batch = self._lessons.batch(self.decks, _BATCH, plan.outside, self.chance)
                fading = (1 + float(np.cos(np.pi * self.n_done / plan.n_steps))) / 2
                rate = plan.learning_rate * (_LAST_RATE + (1 - _LAST_RATE) * fading)
                self.learner.step(slopes(self.learner.outputs(batch.inputs), batch), rate)
                self.n_done += 1
        return self.n_done == plan.n_steps


def slopes(scores: Singles, batch: Batch) -> Singles:
    """Return how the mean log loss of a batch rises with its scores, shape (n_rows, n_classes)."""
    rises = np.exp(scores - scores.max(axis=1, keepdims=True))
    rises /= rises.sum(axis=1, keepdims=True)
    rises[np.arange(len(rises)), batch.target] -= 1
    weight = batch.weights / len(rises)
    return np.asarray(rises * weight.astype(np.float32)[:, np.newaxis])
