"""Growing trees of least-squares scores: the lists of columns, then the scores at shares of the budget."""

from __future__ import annotations

from bisect import bisect_right
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import moved_rows
from farthing.cascades.astc.design import Design, NodeRows
from farthing.cascades.astc.node_fit import Node, fit_node, is_stable
from farthing.costs import CostSheet, spending_limit, within_budget
from farthing.deadline import check_deadline
from farthing.learning.forward_regression import ForwardSelection
from farthing.learning.moments import Moments

# Nodes by their place in a heap: the root is 1, the children of node k are 2 k and 2 k + 1.
Nodes: TypeAlias = dict[int, Node]


@dataclass(frozen=True, eq=False)
class ColumnList:
    """The columns of a node, those of its ancestors first, in the order of purchase.

    Attributes
    ----------
    columns : list of int
    totals : list of float
        What the first 0, 1, 2 ... of them cost, ascending.
    """

    columns: list[int]
    totals: list[float]

    @classmethod
    def of(cls, costs: CostSheet, columns: list[int]) -> ColumnList:
        """Price the beginnings of a list."""
        rank = np.full(len(costs.features), len(columns))
        rank[columns] = np.arange(len(columns))
        return cls(columns, costs.total_rows(rank < np.arange(len(columns) + 1)[:, np.newaxis]).tolist())

    def beginning(self, budget: float) -> list[int]:
        """Return the first columns, as many as a budget affords."""
        return self.columns[: bisect_right(self.totals, spending_limit(budget)) - 1]


@dataclass(frozen=True, eq=False)
class GrowthProblem:
    """The rows of a fit and how its tree is grown.

    Attributes
    ----------
    design : Design
        The terms and targets of the rows.
    costs : CostSheet
        The prices.
    depth : int
        Number of nodes on a path.
    budget : float
        What a path may cost.
    min_gain : float
        The least gain of a purchase, as a share of the variance.
    min_samples_node : float
        The least total weight of a node.
    unit : float or None
        The scale of soft routing; None sends each row to one child.
    ridge : float
        The penalty of the coefficients.
    """

    design: Design
    costs: CostSheet
    depth: int
    budget: float
    min_gain: float
    min_samples_node: float
    unit: float | None
    ridge: float

    def budgets(self, place: int, share: float = 1.0) -> Iterator[float]:
        """Yield what a row may have spent after a node: as much more at each level.

        A root without a column would end the tree, so it may use what is meant for the levels below it if
        its own part buys nothing: its later budgets. Other nodes have one.
        """
        levels = range(1, self.depth + 1) if place == 1 else [_level(place)]
        for level in levels:
            yield share * self.budget * level / self.depth

    def fitted(self, place: int, rows: NodeRows, columns: list[int], known: Node | Moments | None) -> Node:
        """Fit a node; see `fit_node`.

        Known are the moments of all terms over its rows, or a node of mostly the same rows.
        """
        places, divides = self.design.places(columns), _level(place) < self.depth
        moments = known.part(places) if isinstance(known, Moments) else self._moments(rows, places, known)
        return fit_node(
            self.design,
            rows,
            columns,
            places,
            moments,
            ridge=self.ridge,
            stable=self.carries,
            divides=divides,
            unit=self.unit,
        )

    def _moments(self, rows: NodeRows, places: NDArray[np.int64], known: Node | None) -> Moments:
        """Return moments from those of a known node, if it has these terms and most of these rows."""
        # A root that could buy nothing gets more, so a smaller share may have more columns.
        if known is not None and self.carries and len(places) <= len(known.places):
            moments = known.moments.part(np.searchsorted(known.places, places))
            if known.rows is rows:
                return moments
            moved, signs = moved_rows(known.rows.numbers, rows.numbers)
            if 2 * len(moved) < len(rows.numbers):
                weights = self.design.every.weights
                weights = signs if weights is None else signs * weights[moved]
                return moments.changed(self.design.entries, weights, moved, self.design.kept(places))
        return self.design.moments(rows, places)

    def children(self, place: int, node: Node) -> list[tuple[int, NodeRows]]:
        """Return the places and rows of a node's children; none if the tree ends there."""
        parts = () if node.division is None else node.division.parts
        if not parts or min(part.total for part in parts) < self.min_samples_node:
            return []
        return [(2 * place, parts[0]), (2 * place + 1, parts[1])]

    @cached_property
    def root_moments(self) -> Moments:
        """The moments of all terms over all rows."""
        return self.design.moments(self.design.every)

    @cached_property
    def carries(self) -> bool:
        """Whether moments may be sums and differences of others, not computed anew from the rows.

        The rounding of the larger ones stays in them, which a penalty that suits the largest covers.
        """
        return self.unit is None and is_stable(self.root_moments, self.ridge)

    def divided(self, whole: Moments, parts: tuple[NodeRows, NodeRows]) -> list[Moments]:
        """Return the moments of all terms over the rows of both children, given those of their parent."""
        if not self.carries:
            return [self.design.moments(part) for part in parts]
        smaller = int(len(parts[1].numbers) < len(parts[0].numbers))
        found = self.design.moments(parts[smaller])
        return [whole.without(found), found] if smaller else [found, whole.without(found)]


def grow_lists(problem: GrowthProblem) -> tuple[dict[int, ColumnList], Nodes]:
    """Choose the columns of every node, and fit the tree that uses all of them.

    Returns
    -------
    lists : dict of int to ColumnList
        By the places of the nodes.
    nodes : dict of int to Node
        The nodes at the whole budget.
    """
    lists: dict[int, ColumnList] = {}
    nodes: Nodes = {}
    queue = deque([(1, problem.design.every, problem.root_moments)])
    while queue:
        check_deadline()
        place, rows, moments = queue.popleft()
        above = lists[place // 2] if place > 1 else ColumnList.of(problem.costs, [])
        lists[place] = _extended(problem, above, place, moments)
        columns = lists[place].columns
        nodes[place] = problem.fitted(place, rows, columns, moments)
        below = problem.children(place, nodes[place])
        if below:
            (lower, low_rows), (upper, up_rows) = below
            low, up = problem.divided(moments, (low_rows, up_rows))
            queue.extend([(lower, low_rows, low), (upper, up_rows, up)])
    return lists, nodes


def _extended(problem: GrowthProblem, owned: ColumnList, place: int, moments: Moments) -> ColumnList:
    """Return the columns of a node: those of its parent, then what it buys for its own rows."""
    selection = ForwardSelection(moments, problem.design.zeros.columns)
    for column in owned.columns:
        selection.take(column)
    for budget in problem.budgets(place):
        # Otherwise the root has used the part of this level.
        if within_budget(owned.totals[-1], budget):
            bought = selection.select(problem.costs, owned.columns, budget, problem.min_gain)
            if bought:
                return ColumnList.of(problem.costs, owned.columns + bought)
    return owned


def grow_tree(problem: GrowthProblem, lists: dict[int, ColumnList], share: float, larger: Nodes) -> Nodes:
    """Fit the scores of the nodes on the beginnings of their lists, at a share of the budget.

    Parameters
    ----------
    problem : GrowthProblem
    lists : dict of int to ColumnList
        The columns of the nodes.
    share : float
    larger : dict of int to Node
        The nodes of a larger share, which have mostly the same rows.
    """
    nodes: Nodes = {}
    queue = deque([(1, problem.design.every)])
    while queue:
        check_deadline()
        place, rows = queue.popleft()
        columns = _columns(problem, lists, place, share)
        if place > 1:
            # Both begin the same list; that of the parent is longer if the root has used more than its part.
            columns = max(nodes[place // 2].columns, columns, key=len)
        known = larger.get(place)
        if known is not None and known.rows is rows and known.columns == columns:
            nodes[place] = known
        else:
            nodes[place] = problem.fitted(place, rows, columns, known)
        below = problem.children(place, nodes[place])
        queue.extend((child, part) for child, part in below if child in lists)
    return nodes


def _columns(problem: GrowthProblem, lists: dict[int, ColumnList], place: int, share: float) -> list[int]:
    """Return the beginning of a node's list, at the first budget that affords any of it."""
    for budget in problem.budgets(place, share):
        columns = lists[place].beginning(budget)
        if columns:
            return columns
    return []


def _level(place: int) -> int:
    """Return the number of nodes on the path to a place, itself included."""
    return place.bit_length()
