"""How the networks learn: the reader from what rows bought, the chooser from what the reader would gain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.booster import Floats
from farthing.cascades.dynamic.entries import Entries, Reading
from farthing.cascades.dynamic.learner import Learner
from farthing.cascades.dynamic.network import Network
from farthing.cascades.dynamic.purchases import Till, Whims, buy_rows
from farthing.forests.bootstrap import Units

# Rows that buy at a time; more take more memory and are no faster.
_AT_ONCE: Final = 1024
# Steps of each round, in which rows buy once and are learned from.
_ROUND: Final = 256
# Part of the rounds in which rows buy by whim alone, and how often they do so later.
_WARM: Final = 0.15
_WHIM: Final = 0.05
# Part of the rounds, at the end, in which the chooser learns no more and the reader learns its purchases.
_LAST: Final = 0.3
# Gains are learned as parts of what is unknown, plus this, so that a row that is nearly sure counts as well.
_SURE: Final = 0.05
_TINY: Final = np.float32(1e-7)


@dataclass(frozen=True)
class Plan:
    """How long and how finely networks learn; as the parameters of `DynamicSelectionClassifier`."""

    n_units: int
    n_steps: int
    batch_rows: int
    n_tried: int
    learning_rate: float
    n_uses: int


class Training:
    """Two networks that learn together.

    Parameters
    ----------
    reading : Reading
        How values become inputs.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers.
    units : Units
        The rows as units to draw.
    n_classes : int
        Classes.
    till : Till
        The prices.
    budget : float or None
        What a row may spend.
    likings : ndarray of float64, shape (n_columns,)
        How often each column is bought by whim.
    plan : Plan
        How long.
    chance : Generator
        For all lots.
    """

    def __init__(
        self,
        reading: Reading,
        values: NDArray[np.floating],
        target: NDArray[np.int64],
        units: Units,
        n_classes: int,
        *,
        till: Till,
        budget: float | None,
        likings: Floats,
        plan: Plan,
        chance: np.random.Generator,
    ) -> None:
        self._reading, self._values, self._target, self._units = reading, values, target, units
        self._till, self._budget, self._likings = till, budget, likings
        self._plan, self._chance = plan, chance
        n_columns, n_units = len(reading.columns), plan.n_units
        self.reader = Learner([reading.n_inputs, n_units, n_units, n_classes], chance)
        self.chooser = Learner([reading.n_inputs, n_units, n_units, n_columns], chance)
        self._mean_weight = float(units.weight[units.rows].mean())
        self.n_steps = 0
        self._waiting = np.zeros(0, dtype=np.int64)

    @property
    def finished(self) -> bool:
        """Whether all steps are done."""
        return self.n_steps >= self._plan.n_steps

    def round(self) -> None:
        """Draw rows, let them buy, and learn from them for some steps."""
        plan = self._plan
        n_steps = min(_ROUND, plan.n_steps - self.n_steps)
        done = self.n_steps / plan.n_steps
        whim = 1.0 if done < _WARM else _WHIM if done < 1 - _LAST else 0.0
        n_drawn = -(-n_steps // plan.n_uses) * plan.batch_rows
        rows = self._drawn(n_drawn)
        order = self._bought(rows, whim)
        for number in range(n_steps):
            at = number % (n_drawn // plan.batch_rows) * plan.batch_rows
            part = slice(at, at + plan.batch_rows)
            self._step(rows[part], order[part], choose=done < 1 - _LAST)
            self.n_steps += 1

    def _drawn(self, n_drawn: int) -> NDArray[np.int64]:
        """Return so many rows, each unit once before any comes again."""
        while len(self._waiting) < n_drawn:
            units = self._units.rows[self._chance.permutation(len(self._units.rows))]
            self._waiting = np.concatenate([self._waiting, units])
        drawn, self._waiting = self._waiting[:n_drawn], self._waiting[n_drawn:]
        return drawn

    def _bought(self, rows: NDArray[np.int64], whim: float) -> NDArray[np.int64]:
        """Return what rows buy, shape (n_rows, n_purchases); -1 behind the end."""
        made = []
        for begin in range(0, len(rows), _AT_ONCE):
            part = rows[begin : begin + _AT_ONCE]
            entries = self._reading.entries(self._values[part], np.float32)
            whims = None
            if whim:
                lots = self._chance.random((len(part), len(self._likings)))
                whims = Whims(np.log(lots) / self._likings, whim, self._chance)
            caps = None if self._budget is None else np.full(len(part), self._budget)
            made.append(buy_rows(self.chooser.network, entries, self._till, caps, whims))
        width = max(order.shape[1] for order in made)
        return np.concatenate(
            [np.pad(order, ((0, 0), (0, width - order.shape[1])), constant_values=-1) for order in made]
        )

    def _step(self, rows: NDArray[np.int64], order: NDArray[np.int64], choose: bool) -> None:
        """Learn from some rows, at some moment of their purchases."""
        n_rows, chance = len(rows), self._chance
        entries = self._reading.entries(self._values[rows], np.float32)
        counts = (order >= 0).sum(axis=1)
        moment = (chance.random(n_rows) * (counts + 1)).astype(np.int64)
        if not choose:  # the reader answers at the end as a rule, and before it if a row cannot pay
            moment = np.where(chance.random(n_rows) < 0.5, counts, moment)
        known = np.zeros(entries.amount.shape, dtype=np.bool_)
        owned = np.arange(order.shape[1]) < moment[:, np.newaxis]
        known[np.nonzero(owned)[0], order[owned]] = True
        inputs = entries.inputs(known)
        weights = (self._units.weight[rows] / (self._mean_weight * n_rows)).astype(np.float32)[:, np.newaxis]
        believed = _softmax(self.reader.outputs(inputs))
        gradient = believed.copy()
        gradient[np.arange(n_rows), self._target[rows]] -= 1
        if choose:
            foreseen = self.chooser.outputs(inputs)
            tried = self._tried(foreseen, known)
            gains = self._gains(entries, tried, believed)
            slopes = np.zeros_like(foreseen)
            at = np.arange(n_rows)[:, np.newaxis]
            slopes[at, tried] = (foreseen[at, tried] - gains) * ~known[at, tried]
            self.chooser.step(slopes * weights, self._rate(1 - _LAST))
        self.reader.step(gradient * weights, self._rate(1.0))

    def _tried(self, foreseen: NDArray[np.floating], known: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return columns whose gains are looked up: half of them foreseen to be large, half by lot."""
        n_columns = foreseen.shape[1]
        n_tried = min(self._plan.n_tried, n_columns)
        if n_tried == n_columns:
            return np.broadcast_to(np.arange(n_columns), foreseen.shape)
        high = np.where(known, -np.inf, foreseen)
        best = np.argpartition(-high, n_tried // 2, axis=1)[:, : n_tried // 2]
        lots = self._chance.integers(0, n_columns, size=(len(foreseen), n_tried - n_tried // 2))
        return np.concatenate([best, lots], axis=1)

    def _gains(
        self, entries: Entries, tried: NDArray[np.int64], believed: NDArray[np.floating]
    ) -> NDArray[np.floating]:
        """Return how much each column would change what the reader believes, as a part of what is unknown.

        The divergence of what it believes with the column from what it believes without, whose mean over
        the values of the column is the information that the column has of the class.
        """
        n_rows, n_tried = tried.shape
        rows = np.repeat(np.arange(n_rows), n_tried)
        sums = self.reader.sums[rows]
        self.reader.network.hear(sums, entries, tried.ravel(), rows)
        then = _softmax(self.reader.network.outputs(sums)).reshape(n_rows, n_tried, -1)
        before = np.log(believed + _TINY)
        gains = (then * (np.log(then + _TINY) - before[:, np.newaxis])).sum(axis=2)
        unknown = -(believed * before).sum(axis=1, keepdims=True)
        return np.asarray(gains / (unknown + np.float32(_SURE)))

    def _rate(self, end: float) -> float:
        """Return the length of a step: down to zero, by a cosine, at this part of all steps."""
        done = min(1.0, self.n_steps / (self._plan.n_steps * end))
        return self._plan.learning_rate * (0.01 + 0.495 * (1 + float(np.cos(np.pi * done))))


def _softmax(scores: NDArray[Any]) -> NDArray[Any]:
    made = scores - scores.max(axis=1, keepdims=True)
    np.exp(made, out=made)
    made /= made.sum(axis=1, keepdims=True)
    return made


def likings(
    reading: Reading, values: NDArray[np.floating], target: NDArray[np.int64], weights: Floats
) -> Floats:
    """Return how well each column tells the classes apart by itself, between 0 and 1: the most is 1.

    The share of the variance of its inputs that lies between the classes, the largest of its inputs.
    """
    n_classes = int(target.max()) + 1
    sums = np.zeros((n_classes, reading.n_inputs))
    squares = np.zeros(reading.n_inputs)
    shares = weights / weights.sum()
    for begin in range(0, len(values), _AT_ONCE):
        part = slice(begin, begin + _AT_ONCE)
        entries = reading.entries(values[part])
        inputs = entries.inputs(np.ones(entries.amount.shape, dtype=np.bool_))
        of_class = (target[part] == np.arange(n_classes)[:, np.newaxis]) * shares[part]
        sums += of_class @ inputs
        squares += shares[part] @ (inputs * inputs)
    mean = sums.sum(axis=0)
    of_class = np.bincount(target, weights=shares, minlength=n_classes)[:, np.newaxis]
    between = (sums**2 / np.where(of_class > 0, of_class, 1.0)).sum(axis=0) - mean**2
    told = between / np.maximum(squares - mean**2, 1e-9)
    n_places = int(reading.begin[-1])
    by_column = np.maximum(np.maximum.reduceat(told[:n_places], reading.begin[:-1]), told[n_places:])
    # Quarters of bits that weights leave by their rounding must not tell two columns apart.
    by_column = np.rint(np.clip(by_column, 0.0, 1.0) * 2.0**20) / 2.0**20
    most = float(by_column.max())
    return np.asarray(by_column / most if most > 0 else np.ones_like(by_column))


def exact(training: Training) -> tuple[Network, Network]:
    """Return the reader and the chooser that were learned, with exact sums."""
    return training.reader.network.rounded(), training.chooser.network.rounded()
