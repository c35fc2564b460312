"""Complementary subsets: many sensors are put into a few sets, each of which a graph then buys as a whole."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.cascades.dag.column_design import ColumnDesign
from farthing.cascades.dag.sensors import Sensors
from farthing.costs import per_price, spending_limit
from farthing.deadline import check_deadline
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.forward_fit import ForwardFit
from farthing.typing import Floats

# Rows by which subsets are chosen; more would hardly change the choice.
_MOST_ROWS: Final = 3000
# Digits of a gain; the rest is rounding error, by which nothing should be chosen.
_DIGITS: Final = 10

REST: Final = "rest"
"""The name of the sensor of everything that is in no subset."""


def complementary_subsets(rows: TrainingSet, sensors: Sensors, n_subsets: int, share: float) -> Sensors:
    """Put sensors into subsets that complement each other, and the others into one more.

    Greedy: a sensor is added to that subset for which the share of rows that some subset classifies
    correctly, G = mean_i max_j [f_j(x_i) = y_i], rises most per unit of price. Where no addition makes it
    rise, the mean of max_j P_j(y_i | x_i) decides. The classifiers of the search are least-squares fits of
    the classes' indicators, which a further column updates at the cost of a projection.

    Parameters
    ----------
    rows : TrainingSet
        The rows; every k-th of many.
    sensors : Sensors
        What can be bought.
    n_subsets : int
        Number of subsets.
    share : float
        The prices of all subsets together are at most this share of the price of all sensors.

    Returns
    -------
    Sensors
        One for each subset that is not empty, and `REST`; so all sensors together are what they were.
    """
    if len(sensors) <= n_subsets:
        return sensors
    every = rows.take(np.arange(0, len(rows), -(-len(rows) // _MOST_ROWS)))
    with one_blas_thread():
        chosen = _Search(every, sensors, n_subsets).run(share)
    left = [k for k in range(len(sensors)) if not any(k in subset for subset in chosen)]
    parts = {f"subset {j}": subset for j, subset in enumerate(chosen, start=1) if subset} | {REST: left}
    columns = {
        name: np.unique(np.concatenate([sensors.columns[k] for k in part]))
        for name, part in parts.items()
        if part
    }
    return Sensors(sensors.free, tuple(columns), tuple(columns.values()))


class _Search:
    """The state of the greedy search."""

    def __init__(self, rows: TrainingSet, sensors: Sensors, n_subsets: int) -> None:
        self._rows, self._sensors = rows, sensors
        self._shares = rows.weights / rows.weights.sum()
        self._chosen: list[list[int]] = [[] for _ in range(n_subsets)]
        self._owned = np.zeros((n_subsets, len(rows.schema)), dtype=np.bool_)
        self._owned[:, sensors.free] = True
        every = np.arange(len(rows.schema), dtype=np.int64)
        design = ColumnDesign.of(rows, every, 1).design
        target = np.eye(rows.n_classes)[rows.target]
        self._fits = [self._fit(design.terms, design.zeros.columns, target) for _ in range(n_subsets)]
        n_rows = len(rows)
        # Right or wrong, and the probability of the own class: of each subset, and with each sensor added.
        self._now = np.zeros((2, n_subsets, n_rows))
        self._then = np.zeros((2, n_subsets, len(sensors), n_rows))
        for subset in range(n_subsets):
            self._evaluate(subset)

    def _fit(self, terms: Floats, columns: NDArray[np.int64], target: Floats) -> ForwardFit:
        """Return the start of a subset: all free columns are taken; a sensor is a block of terms."""
        sensors, blocks, numbers = self._sensors, [], []
        # A column that is in two sensors has its terms in the blocks of both.
        for number, own in enumerate((*sensors.columns, sensors.free)):
            block = terms[:, np.isin(columns, own)]
            blocks.append(block)
            numbers.append(np.full(block.shape[1], number))
        fit = ForwardFit(
            np.column_stack(blocks), np.concatenate(numbers).astype(np.int64), target, self._rows.weights
        )
        if len(sensors.free):
            fit.take(len(sensors))
        return fit

    def run(self, share: float) -> list[list[int]]:
        """Add sensors until the bound is spent; return the sensors of each subset."""
        costs = self._rows.costs
        union = np.zeros(len(self._rows.schema), dtype=np.bool_)
        union[np.concatenate(self._sensors.columns)] = True
        limit, spent = spending_limit(share * costs.total(union, owned=self._owned[0])), 0.0
        while True:
            check_deadline()
            prices = self._prices()
            candidates = np.argwhere(~self._taken() & (spent + prices <= limit))
            if not len(candidates):
                return self._chosen
            at = tuple(candidates.T)
            ratios = [per_price(gain[at], prices[at]) for gain in self._gains()]
            # 0 / 0 is no gain.
            first, second = (np.nan_to_num(ratio, nan=0.0, posinf=np.inf) for ratio in ratios)
            subset, sensor = candidates[np.lexsort((-second, -first))[0]].tolist()
            spent += float(prices[subset, sensor])
            self._fits[subset].take(sensor)
            self._chosen[subset].append(sensor)
            self._owned[subset, self._sensors.columns[sensor]] = True
            self._evaluate(subset)

    def _prices(self) -> Floats:
        """Return what each sensor would add to the price of each subset, shape (n_subsets, n_sensors)."""
        costs, names = self._rows.costs, self._rows.schema.names
        bought = [[names[column] for column in columns.tolist()] for columns in self._sensors.columns]
        return np.array([[costs.total(new, owned=owned) for new in bought] for owned in self._named()])

    def _named(self) -> list[list[str]]:
        names = np.array(self._rows.schema.names, dtype=object)
        return [names[owned].tolist() for owned in self._owned]

    def _taken(self) -> NDArray[np.bool_]:
        taken = np.zeros((len(self._chosen), len(self._sensors)), dtype=np.bool_)
        for subset, chosen in enumerate(self._chosen):
            taken[subset, chosen] = True
        return taken

    def _gains(self) -> tuple[Floats, Floats]:
        """Return the rise of G, and of its smooth version, for each addition; no fall counts."""
        gains: list[Floats] = []
        for now, then in zip(self._now, self._then, strict=True):
            before = float(now.max(axis=0) @ self._shares)
            found = np.empty(then.shape[:2])
            for subset in range(len(now)):
                others = np.delete(now, subset, axis=0).max(axis=0, initial=0.0)
                found[subset] = np.maximum(then[subset], others) @ self._shares - before
            gains.append(np.asarray(np.round(np.maximum(found, 0.0), _DIGITS), dtype=np.float64))
        return gains[0], gains[1]

    def _evaluate(self, subset: int) -> None:
        """Fill in what a subset classifies correctly, as it is and with each sensor added."""
        fit = self._fits[subset]
        self._now[:, subset] = self._verdicts(fit.fitted())
        for sensor in range(len(self._sensors)):
            if sensor not in self._chosen[subset]:
                self._then[:, subset, sensor] = self._verdicts(fit.fitted_with(sensor))

    def _verdicts(self, fitted: Floats) -> Floats:
        target = self._rows.target
        own = fitted[np.arange(len(target)), target]
        return np.array([fitted.argmax(axis=1) == target, own.clip(0.0, 1.0)], dtype=np.float64)
