"""The policy of the least expected cost, errors and tests together, by dynamic programming.

A state is a set S of known columns and a cell, the training rows that agree on them. With a price for every
test and every error, the value of a state is the least of the cost of stopping and, over all columns k that
are not known, the price of k plus the mean value of the states that k leads to:

    V(S, cell) = min( min_j q(cell) . C[:, j],  min_k price(k | S) + mean over rows of V(S + k, cell of row) )

The class probabilities q of a cell are its counts, shrunk to those of naive Bayes: cells are small, and the
least of many noisy estimates is too low. All cells of a set are computed at once, the largest sets first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.deadline import check_deadline
from farthing.forests.diagnostic_policy.coded_rows import CodedRows
from farthing.typing import Floats

#: The action of a state in which nothing more is bought.
STOP: Final = -1

Columns = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class PolicySearch:
    """States, and the best action in each.

    Parameters
    ----------
    rows : CodedRows
        The training rows.
    costs : CostSheet
        Prices of the columns.
    tradeoff : float
        What a unit of price is worth, in units of error price.
    max_depth : int
        Most columns that a row may buy.
    shrinkage : float
        Weight of naive Bayes in the probabilities of a cell, in rows.
    max_features : int
        Most columns that are considered: those that are worth most at once.

    Examples
    --------
    >>> codes = np.array([[0, 0, 1, 1], [0, 1, 0, 1]])
    >>> target = np.array([0, 0, 1, 1])
    >>> table = np.array([[0.0, 9.0], [9.0, 0.0]])
    >>> rows = CodedRows(codes, (2, 2), target, np.ones(4), table[target], table)
    >>> search = PolicySearch(rows, CostSheet([1.0, 1.0]), 1.0, 2, 0.0, 16)
    >>> search.actions[()].tolist(), float(search.value)
    ([0, 0, 0, 0], 1.0)
    """

    rows: CodedRows
    costs: CostSheet
    tradeoff: float
    max_depth: int
    shrinkage: float
    max_features: int

    @cached_property
    def columns(self) -> Columns:
        """The columns that are considered, ascending."""
        n_features = len(self.rows.codes)
        everything = tuple(range(n_features))
        if n_features <= self.max_features:
            return everything
        # By the cost of buying the column and stopping; the earlier of ties.
        totals = [
            self.price(k, ()) + float(np.average(self._stop((k,)), weights=self.rows.weights))
            for k in everything
        ]
        return tuple(sorted(np.argsort(totals, kind="stable")[: self.max_features].tolist()))

    @property
    def value(self) -> float:
        """Expected cost of a row, tests and errors, by the estimates of the search itself."""
        return float(self._solution[1])

    @property
    def actions(self) -> dict[Columns, NDArray[np.int16]]:
        """For each set of known columns, what each row would buy next, `STOP` for nothing, (n_rows,)."""
        return self._solution[0]

    def price(self, column: int, known: Columns) -> float:
        """Return the price of a column, in units of error price, for rows that own some columns."""
        names = self.costs.features
        return self.tradeoff * self.costs.price(names[column], [names[k] for k in known])

    def sets(self, size: int) -> Iterator[Columns]:
        """Yield the sets of so many columns."""
        return combinations(self.columns, size)

    def probabilities(self, known: Columns, rows: NDArray[np.int64]) -> Floats:
        """Return the class probabilities of the cell that some rows form, shape (n_classes,)."""
        coded, m = self.rows, self.shrinkage
        counts = coded.counts(rows)
        expected = coded.naive_bayes(known, rows[:1])[0]
        return np.asarray((counts + m * expected) / (counts.sum() + m))

    @cached_property
    def _solution(self) -> tuple[dict[Columns, NDArray[np.int16]], float]:
        depth = min(self.max_depth, len(self.columns))
        actions: dict[Columns, NDArray[np.int16]] = {}
        later: dict[Columns, Floats] = {}  # values of rows, for the sets of one column more
        for size in range(depth, -1, -1):
            values: dict[Columns, Floats] = {}
            for known in self.sets(size):
                check_deadline()
                values[known], actions[known] = self._best(known, later)
            later = values
        return actions, float(later[()][0])

    def _best(self, known: Columns, later: dict[Columns, Floats]) -> tuple[Floats, NDArray[np.int16]]:
        """Return the value of each row's state, and what to buy next."""
        cells, weight = self._cells(known)
        best = self._stop_of_cells(known, cells, weight)
        action = np.full(len(weight), STOP, dtype=np.int16)
        if later:
            weights = self.rows.weights
            for column in self.columns:
                if column in known:
                    continue
                values = later[tuple(sorted((*known, column)))]
                total = np.bincount(cells, weights=weights * values, minlength=len(weight))
                bought = self.price(column, known) + total / weight
                better = bought < best
                best = np.where(better, bought, best)
                action[better] = column
        return best[cells], action[cells]

    def _stop(self, known: Columns) -> Floats:
        """Return the expected cost of the best label of each row's cell, shape (n_rows,)."""
        cells, weight = self._cells(known)
        return self._stop_of_cells(known, cells, weight)[cells]

    def _stop_of_cells(self, known: Columns, cells: NDArray[np.int64], weight: Floats) -> Floats:
        coded, m = self.rows, self.shrinkage
        totals = np.column_stack(
            [
                np.bincount(cells, weights=coded.weights * price, minlength=len(weight))
                for price in coded.prices.T
            ]
        )
        first = np.empty(len(weight), dtype=np.int64)
        first[cells] = np.arange(len(cells))  # any row of the cell: they agree on the known columns
        expected = coded.naive_bayes(known, first) @ coded.table
        return np.asarray(((totals + m * expected) / (weight + m)[:, np.newaxis]).min(axis=1))

    def _cells(self, known: Columns) -> tuple[NDArray[np.int64], Floats]:
        """Return the cell of each row, and the weight of each cell."""
        cells = np.zeros(len(self.rows.target), dtype=np.int64)
        for column in known:
            cells = cells * self.rows.n_values[column] + self.rows.codes[column]
        _, cells = np.unique(cells, return_inverse=True)
        return cells, np.bincount(cells, weights=self.rows.weights).astype(np.float64)
