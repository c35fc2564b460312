"""The search for the tree of the least total cost: a table of codes, the costs of labels, and prices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from farthing._core import optimal_tree
from farthing.base import TrainingSet
from farthing.forests.diagnostic_policy.column_values import ColumnValues
from farthing.forests.optimal_tree.found_tree import NodeTests, tree_of
from farthing.trees import Forest
from farthing.typing import Floats

# Bins that intervals are joined from: those that other methods have by default, made once for a table.
_BINS: Final = 255
#: Most levels of a column that may be divided into any two sets: 2**11 - 1 tests.
MOST_LEVELS: Final = 12
# Memory for sub-tables that are remembered, in bytes; beyond it they are solved again.
_MOST_BYTES: Final = 2**30


class OptimalTree(NamedTuple):
    """A tree, what it costs, and what no tree can go below.

    Attributes
    ----------
    forest : Forest
        The tree; values are class weights.
    spend : float
        Mean price of the tests of a training row.
    risk : float
        Mean cost of the errors of a training row.
    penalty : float
        Penalty of all tests, per training row.
    objective : float
        ``risk + tradeoff * spend + penalty``.
    lower_bound : float
        No tree has a lower objective.
    """

    forest: Forest
    spend: float
    risk: float
    penalty: float
    objective: float
    lower_bound: float


class FoundTests(NamedTuple):
    """The tests of a tree, their number and what they cost; see `OptimalTree` for the figures.

    An interval is one test and two nodes.
    With guesses, the tree may cost less than the objective.
    """

    nodes: NodeTests
    n_tests: int
    spend: float
    risk: float
    objective: float
    lower_bound: float


@dataclass(frozen=True, eq=False)
class TreeProblem:
    """Rows as codes of a few values per column, and what tests and labels cost.

    Parameters
    ----------
    rows : TrainingSet
        The rows, target, weights and prices.
    values : ColumnValues
        The values that tests tell apart.
    prices : ndarray of float64, shape (n_rows, n_classes)
        The price of predicting each class for each row.
    max_depth : int
        Most tests on a path.
    intervals : bool
        Whether an interval of a numeric column is a test, as a threshold is.
    max_levels : int
        Columns of at most this many categories are divided into any two sets, others one against the rest.
    node_penalty : float
        What a test must save beyond its price, over all training rows that reach it.
    n_threads : int
        Threads of the search.
    guesses : ndarray of float64, shape (n_rows,), or None
        What each row is guessed to cost in a sub-table that is tested, times its weight. The tree costs at
        most the sum of these more than the best; its lower bound takes that into account.
    """

    rows: TrainingSet
    values: ColumnValues
    prices: Floats
    max_depth: int
    intervals: bool
    max_levels: int
    node_penalty: float
    n_threads: int
    guesses: Floats | None = None

    @classmethod
    def of(
        cls,
        rows: TrainingSet,
        max_values: int,
        n_threads: int,
        *,
        thresholds: Sequence[Floats] | None = None,
        **limits: Any,
    ) -> Self:
        """Cut the columns into at most ``max_values`` values, or at thresholds, and price the labels."""
        bins = rows.bins(_BINS, n_threads)
        if thresholds is None:
            values = ColumnValues.of(bins, rows.weights, max_values)
        else:
            values = ColumnValues.cut(bins, thresholds)
        if rows.errors is None:
            prices = np.ones((len(rows), rows.n_classes))
            prices[np.arange(len(rows)), rows.target] = 0.0
        else:
            prices = rows.errors.rows
        return cls(rows, values, prices, n_threads=n_threads, **limits)

    def guessed(self, labels: NDArray[np.int64]) -> Self:
        """Return the problem with the costs of some labels of the rows, shape (n_rows,), as guesses."""
        return replace(self, guesses=self.prices[np.arange(len(labels)), labels] * self.rows.weights)

    @cached_property
    def weight(self) -> float:
        """Weight of all rows."""
        return float(self.rows.weights.sum())

    def solve(self, tradeoff: float, budget: float | None, seconds: float = math.inf) -> OptimalTree:
        """Return the tree of the least objective, or the best that was found in time.

        Parameters
        ----------
        tradeoff : float
            What a unit of price is worth, in units of the cost of errors.
        budget : float or None
            Limit on the price of any path.
        seconds : float
            Time for the search.
        """
        found = self.search(tradeoff, budget, seconds)
        penalty = self.node_penalty * found.n_tests / self.weight
        objective = found.objective
        if self.guesses is not None:
            objective = max(found.lower_bound, found.risk + tradeoff * found.spend + penalty)
        forest = tree_of(found.nodes, self.rows, self.values)
        return OptimalTree(forest, found.spend, found.risk, penalty, objective, found.lower_bound)

    def search(self, tradeoff: float, budget: float | None, seconds: float = math.inf) -> FoundTests:
        """Return the tests of that tree, before they are put into the common format; see `solve`."""
        rows, costs, values, weight = self.rows, self.rows.costs, self.values, self.weight
        feature, left, right, side, origin, value, cover, n_tests, spend, risk, cost, lower = optimal_tree(
            values.codes,
            np.array(values.n_present, dtype=np.int64),
            values.category_widths,
            intervals=self.intervals,
            max_levels=self.max_levels,
            prices=self.prices,
            target=rows.target,
            weights=rows.weights,
            own=costs.own,
            shared=costs.shared,
            group_of=costs.group_of,
            factor=tradeoff,
            budget=math.inf if budget is None else budget,
            penalty=self.node_penalty,
            guesses=self.guesses,
            max_depth=self.max_depth,
            seconds=max(0.0, seconds),
            most_bytes=float(_MOST_BYTES),
            n_threads=self.n_threads,
        )
        nodes = NodeTests(feature, left, right, side, origin, value, cover)
        return FoundTests(nodes, n_tests, spend / weight, risk / weight, cost / weight, lower / weight)
