"""Growing a tree of least-squares scores: the lists of columns, then the scores at shares of the budget."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.astc.node_fit import FittedNode, NodeRows, fit_node
from farthing.cascades.astc.selection import select_columns
from farthing.cascades.score_tree.tree import NO_CHILD, ScoreTree
from farthing.costs import CostSheet, RowLedger
from farthing.deadline import check_deadline
from farthing.learning.forward_regression import ForwardRegression
from farthing.learning.linear_design import LinearDesign
from farthing.typing import Floats

# The columns of each node by its place in a heap: the root is 1, the children of node k are 2 k and 2 k + 1.
Lists: TypeAlias = dict[int, list[int]]


@dataclass(frozen=True, eq=False)
class GrowthProblem:
    """The rows of a fit and how its tree is grown.

    Attributes
    ----------
    design : LinearDesign
        The standardised terms of the rows.
    target : ndarray of float64, shape (n_rows, n_outputs)
        One column for numbers or two classes, else an indicator of each class.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
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

    design: LinearDesign
    target: Floats
    weights: Floats
    costs: CostSheet
    depth: int
    budget: float
    min_gain: float
    min_samples_node: float
    unit: float | None
    ridge: float

    def ledgers(self, place: int, share: float = 1.0) -> Iterator[RowLedger]:
        """Yield empty ledgers with what a row may have spent after a node: as much more at each level.

        A root without a column would end the tree, so it may use what is meant for the levels below it if
        its own part buys nothing: its later ledgers. Other nodes have one.
        """
        levels = range(1, self.depth + 1) if place == 1 else [_level(place)]
        for level in levels:
            yield RowLedger(self.costs, share * self.budget * level / self.depth)

    def children(self, place: int, rows: NodeRows, node: FittedNode) -> list[tuple[int, NodeRows]]:
        """Return the places and rows of a node's children; none if the tree ends there."""
        if node.threshold is None or _level(place) == self.depth:
            return []
        parts = [rows.sent(chances) for chances in node.chances(self.unit)]
        if min(part.weights.sum() for part in parts) < self.min_samples_node:
            return []
        return [(2 * place, parts[0]), (2 * place + 1, parts[1])]

    def every_row(self) -> NodeRows:
        """Return the rows of the root."""
        return NodeRows(np.arange(len(self.weights)), self.weights)


def grow_lists(problem: GrowthProblem) -> Lists:
    """Choose the columns of every node, those of its ancestors first, in the order of purchase."""
    lists: Lists = {}
    queue = deque([(1, problem.every_row())])
    while queue:
        check_deadline()
        place, rows = queue.popleft()
        lists[place] = _extended(problem, lists.get(place // 2, []), place, rows)
        node = fit_node(problem.design, problem.target, rows, lists[place], problem.ridge)
        queue.extend(problem.children(place, rows, node))
    return lists


def _extended(problem: GrowthProblem, owned: list[int], place: int, rows: NodeRows) -> list[int]:
    """Return the columns of a node: those of its parent, then what it buys for its own rows."""
    selection = ForwardRegression(
        problem.design.terms[rows.numbers],
        problem.design.zeros.columns,
        problem.target[rows.numbers],
        rows.weights,
    )
    for column in owned:
        selection.take(column)
    bought: list[int] = []
    for ledger in problem.ledgers(place):
        if not ledger.affords_all(owned):
            continue  # the root has used the part of this level
        ledger.buy_all(owned)
        bought = select_columns(selection, ledger, problem.min_gain)
        if bought:
            break
    return owned + bought


def grow_tree(problem: GrowthProblem, lists: Lists, share: float) -> tuple[ScoreTree, Floats | None]:
    """Fit the scores of the nodes on the beginnings of their lists, at a share of the budget.

    Returns
    -------
    tree : ScoreTree
    scores : ndarray of float64, shape (n_outputs, n_rows), or None
        The scores of the training rows where they end; None if rows go both ways in training.
    """
    scores = np.empty((problem.target.shape[1], len(problem.target)))
    nodes: list[FittedNode] = []
    bought: list[list[int]] = []
    children: list[list[int]] = []
    queue: deque[tuple[int, NodeRows, list[int], list[int]]] = deque([(1, problem.every_row(), [], [])])
    while queue:
        check_deadline()
        place, rows, above, owned = queue.popleft()
        # Both begin the same list; that of the parent is longer if the root has used more than its part.
        columns = max(above, _beginning(lists[place], problem.ledgers(place, share)), key=len)
        node = fit_node(problem.design, problem.target, rows, columns, problem.ridge)
        used = set(problem.design.zeros.columns[(node.coef != 0).any(axis=1)].tolist()) | set(owned)
        below = [(child, part) for child, part in problem.children(place, rows, node) if child in lists]
        nodes.append(node)
        scores[:, rows.numbers] = node.scores  # until a child has better ones
        bought.append([column for column in columns if column in used])
        # The children come after all nodes that are fitted or wait.
        first = len(nodes) + len(queue)
        children.append([first, first + 1] if below else [NO_CHILD, NO_CHILD])
        queue.extend((child, part, columns, bought[-1]) for child, part in below)
    tree = ScoreTree(
        terms=problem.design.zeros,
        coef=np.array([node.coef for node in nodes]),
        intercept=np.array([node.intercept for node in nodes]),
        direction=np.array([node.direction for node in nodes]),
        threshold=np.array([node.threshold or 0.0 for node in nodes]),
        children=np.array(children, dtype=np.int64),
        bought=_padded(bought),
    )
    return tree, scores if problem.unit is None else None


def _beginning(columns: list[int], ledgers: Iterable[RowLedger]) -> list[int]:
    """Return the first columns of a list, as many as the first ledger that can pay for any affords."""
    length = 0
    for ledger in ledgers:
        while length < len(columns) and ledger.affords(columns[length]):
            ledger.buy(columns[length])
            length += 1
        if length:
            break
    return columns[:length]


def _level(place: int) -> int:
    """Return the number of nodes on the path to a place, itself included."""
    return place.bit_length()


def _padded(columns: list[list[int]]) -> NDArray[np.int64]:
    padded = np.full((len(columns), max(map(len, columns))), -1, dtype=np.int64)
    for node, own in enumerate(columns):
        padded[node, : len(own)] = own
    return padded
