"""Small trees among which AdaBoostBT chooses: grown at several trade-offs of gain against unpaid prices.

The rules weigh the edge of a whole tree against the price of all its features, and there are far too many
trees to try them all (the open question of section 8 of Huang, Powers and Reyzin, 2015). But whatever a rule
prefers among trees of one price has the largest edge at that price, and growth with a penalty of the
trade-off times the price gives good trees for one price after another as the trade-off rises. A rule then
chooses among these trees and all stumps by its own formula, so that its score is never below that of the best
stump. Growth is greedy, so some other tree may score more.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.costs.common_unit import unit_of
from farthing.learning.voting.stump_rounds import Learner, StumpRounds
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown, pruned

# Trade-offs, as parts of the largest gain per price of any stump: at the whole of it hardly any split is
# worth a purchase, so that the last trees test what is owned already.
_STEPS: Final = (0.0, 1 / 64, 1 / 16, 1 / 4, 1.0)


class TreeCandidates:
    """Grow the candidates of each round on one table.

    Parameters
    ----------
    bins : Bins
        The table.
    sheet : CostSheet
        The prices, in the order of the columns.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows, which count in the covers of the trees.
    max_depth : int
        Maximum number of tests on a path, at least 2.
    n_outputs : int
        Votes per leaf.
    n_threads : int
        Threads to use; any number gives the same trees.
    """

    def __init__(
        self,
        bins: Bins,
        sheet: CostSheet,
        weights: NDArray[np.float64],
        *,
        max_depth: int,
        n_outputs: int = 1,
        n_threads: int = 1,
    ) -> None:
        # In a unit in which gain over price is finite.
        self._unit = unit_of(sheet.own + np.append(sheet.shared, 0.0)[sheet.group_of])
        self._sheet = _in_unit(sheet, self._unit)
        self._weights = weights
        self._max_depth = max_depth
        self._n_outputs = n_outputs
        self._grower = Grower(
            bins, self._sheet, max_depth=max_depth, ledger="model", cost_rule="penalty", n_threads=n_threads
        )

    def grow(
        self, rounds: StumpRounds, edges: NDArray[np.float64], ledger: RowLedger, *, affordable: bool
    ) -> list[Learner]:
        """Return trees of at least two tests, for the current distribution and what is owned.

        Each tree comes with its truncations at lower depths.

        Parameters
        ----------
        rounds : StumpRounds
            The rounds so far.
        edges : ndarray of float64, shape (n_features + 1,)
            The edges of the constant vote and of the best stump of each column.
        ledger : RowLedger
            What the model owns.
        affordable : bool
            Whether the trees are grown within what is left of the budget.
        """
        signed, owned = rounds.distribution(), ledger.owned.astype(np.uint8)
        budget = self._budget(ledger) if affordable else None
        found: dict[bytes, Learner] = {}
        for tradeoff in self._tradeoffs(edges, ledger):
            grown = self._grower.votes(signed, self._n_outputs, tradeoff=tradeoff, owned=owned, budget=budget)
            for depth in range(2, self._max_depth + 1):
                learner = voting_tree(grown, self._weights, depth)
                if np.count_nonzero(learner.tree.feature >= 0) > 1:
                    found.setdefault(learner.votes.tobytes() + learner.tree.feature.tobytes(), learner)
            # A tree that buys nothing is the same at any larger trade-off.
            if not (grown.owned > owned).any():
                break
        return list(found.values())

    def _tradeoffs(self, edges: NDArray[np.float64], ledger: RowLedger) -> Iterator[float]:
        scaled = RowLedger(self._sheet, known=ledger.owned)
        prices = np.array([scaled.price(column) for column in range(len(self._sheet.features))])
        unpaid = prices > 0
        # The gain of a split is about the square of its edge; see `Grower.votes`.
        most = np.max(edges[1:][unpaid] ** 2 / prices[unpaid], initial=0.0)
        yield from (step * float(most) for step in _STEPS if step == 0 or 0 < most < np.inf)

    def _budget(self, ledger: RowLedger) -> float | None:
        sheet = ledger.sheet
        if ledger.budget is None or ledger.budget >= sheet.total(sheet.features):
            return None
        return math.ldexp(ledger.budget, -self._unit)


def voting_tree(grown: Grown, weights: NDArray[np.float64], max_depth: int) -> Learner:
    """Return a grown tree, up to a depth, as a learner: leaves vote by the signs of their mean labels.

    Where both children of a node vote the same on everything, the node becomes a leaf: its test has a price,
    and no use.

    Parameters
    ----------
    grown : Grown
        One tree of `Grower.votes`.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    max_depth : int
        Maximum number of tests on a path.
    """
    tree = grown.tree
    votes = np.where(tree.value > 0, 1.0, -1.0)
    inner = np.flatnonzero(tree.feature >= 0).tolist()
    split: NDArray[np.bool_] = tree.feature >= 0
    parent: NDArray[np.int64] = np.arange(tree.n_nodes)
    depth: NDArray[np.int64] = np.zeros(tree.n_nodes, dtype=np.int64)
    for node in inner:
        children = [tree.left[node], tree.right[node]]
        parent[children], depth[children] = node, depth[node] + 1
    split &= depth < max_depth
    for node in reversed(inner):  # children come after their parents
        left, right = tree.left[node], tree.right[node]
        if not (split[left] or split[right]) and (votes[left] == votes[right]).all():
            split[node], votes[node] = False, votes[left]
    # The leaf of each node: itself, or the nearest ancestor that is not split.
    leaf = np.arange(tree.n_nodes)
    for node in range(1, tree.n_nodes):
        if not split[parent[node]]:
            leaf[node] = leaf[parent[node]]
    cover: NDArray[np.float64] = np.zeros(tree.n_nodes)
    np.add.at(cover, grown.leaf_of_row, weights)
    for node in range(tree.n_nodes - 1, 0, -1):
        cover[parent[node]] += cover[node]
    values = np.where(split[:, np.newaxis], 0.0, votes)
    kept = pruned(replace(tree, node_values=values, cover=cover), split)
    return Learner(kept, votes[leaf[grown.leaf_of_row]].astype(np.int8).ravel())


def columns_of(tree: Forest) -> tuple[int, ...]:
    """Return the columns that a tree tests, ascending."""
    return tuple(np.unique(tree.feature[tree.feature >= 0]).tolist())


def _in_unit(sheet: CostSheet, unit: int) -> CostSheet:
    # In two steps, as a single power of two may be out of range.
    half = unit // 2
    return sheet.scaled(math.ldexp(1.0, -half)).scaled(math.ldexp(1.0, half - unit))
