"""The policy of the least expected cost, errors and tests together, by dynamic programming.

A state is a set S of known columns and a cell, the training rows that agree on them. With a price for every
test and every error, the value of a state is the least of the cost of stopping and, over all columns k that
are not known, the price of k plus the mean value of the states that k leads to:

    V(S, cell) = min( min_j q(cell) . C[:, j],  min_k price(k | S) + mean over rows of V(S + k, cell of row) )

The class probabilities q of a cell are its counts, shrunk to those of naive Bayes: cells are small, and the
least of many noisy estimates is too low. For the same reason a test is charged a constant over all rows of
its cell, as in cost-complexity pruning: where few rows decide, it must save more. All cells of a set are
computed at once, the largest sets first.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from math import comb
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.deadline import check_deadline
from farthing.forests.diagnostic_policy.coded_rows import CodedRows
from farthing.typing import Floats

# Sets of columns that are searched, at most; 16 columns have 697 sets of up to three.
_MOST_SETS: Final = 1000
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
    node_penalty : float
        What a test must save over all its training rows beyond its price, in mean prices of an error.

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
    node_penalty: float = 0.0

    @cached_property
    def columns(self) -> Columns:
        """The columns that are considered, ascending."""
        n_features = len(self.rows.codes)
        everything = tuple(range(n_features))
        if n_features <= self.max_features:
            return everything
        # By the cost of buying the column and stopping; the earlier of ties.
        totals = []
        for column in everything:
            cells = self._cells((column,))
            stop = np.average(self._stop((column,), cells), weights=cells.weight)
            totals.append(self.price(column, ()) + float(stop))
        return tuple(sorted(np.argsort(totals, kind="stable")[: self.max_features].tolist()))

    @property
    def depth(self) -> int:
        """Most columns that are bought: fewer than allowed where there would be too many sets of them."""
        n_columns, n_sets = len(self.columns), 1
        for depth in range(1, min(self.max_depth, n_columns) + 1):
            n_sets += comb(n_columns, depth)
            if n_sets > _MOST_SETS:
                return max(1, depth - 1)
        return min(self.max_depth, n_columns)

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
        own, shared, group_of = self.costs.own, self.costs.shared, self.costs.group_of
        group = group_of[column]
        paid = group < 0 or any(group_of[other] == group for other in known)
        return float(self.tradeoff * (own[column] + (0.0 if paid else shared[group])))

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
        depth = self.depth
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
        cells = self._cells(known)
        best = self._stop(known, cells)
        action = np.full(len(best), STOP, dtype=np.int16)
        left = [column for column in self.columns if column not in known]
        if later and left:
            values = np.array([later[tuple(sorted((*known, column)))] for column in left])
            bought = cells.sums(values * self.rows.weights) / cells.weight
            bought += np.array([self.price(column, known) for column in left])[:, np.newaxis]
            bought += self.node_penalty * self._mean_price / cells.weight
            choice = bought.argmin(axis=0)
            least = bought[choice, np.arange(len(choice))]
            better = least < best
            best = np.where(better, least, best)
            action[better] = np.array(left, dtype=np.int16)[choice[better]]
        return best[cells.of_row], action[cells.of_row]

    def _stop(self, known: Columns, cells: _Cells) -> Floats:
        """Return the expected cost of the best label of each cell, shape (n_cells,)."""
        coded, m = self.rows, self.shrinkage
        totals = cells.sums(coded.prices.T * coded.weights)
        expected = (coded.naive_bayes(known, cells.first) @ coded.table).T
        return np.asarray(((totals + m * expected) / (cells.weight + m)).min(axis=0))

    def _cells(self, known: Columns) -> _Cells:
        codes = np.zeros(len(self.rows.target), dtype=np.int64)
        for column in known:
            codes = codes * self.rows.n_values[column] + self.rows.codes[column]
        return _Cells.of(codes, self.rows.weights)

    @cached_property
    def _mean_price(self) -> float:
        """Mean price of a wrong label, over all pairs of classes."""
        table = self.rows.table
        return float(table.sum() / max(1, table.size - len(table)))


@dataclass(frozen=True, eq=False)
class _Cells:
    """Rows that agree on some columns: all sums over cells are made in one pass over the sorted rows.

    Attributes
    ----------
    of_row : ndarray of int64, shape (n_rows,)
        The cell of each row.
    first : ndarray of int64, shape (n_cells,)
        A row of each cell.
    weight : ndarray of float64, shape (n_cells,)
        Total weight of each cell.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    of_row: NDArray[np.int64]
    first: NDArray[np.int64]
    weight: Floats

    @classmethod
    def of(cls, codes: NDArray[np.int64], weights: Floats) -> _Cells:
        order = np.argsort(codes, kind="stable")
        new = np.diff(codes[order], prepend=codes[order[0]] - 1) != 0
        starts = np.flatnonzero(new)
        of_row = np.empty(len(codes), dtype=np.int64)
        of_row[order] = np.cumsum(new) - 1
        return cls(order, starts, of_row, order[starts], np.add.reduceat(weights[order], starts))

    def sums(self, values: Floats) -> Floats:
        """Return sums over the cells, shape (n, n_cells), of values of shape (n, n_rows)."""
        return np.add.reduceat(values[:, self.order], self.starts, axis=1)
