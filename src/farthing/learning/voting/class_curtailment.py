"""Exact curtailment of a vote on several classes: stop when the remaining votes cannot change the winner.

For every pair of classes there is a bound on how far the one ends ahead of the other. That is tighter than a
bound on each class alone: a learner that votes the same on both cannot change their order. Voting weights are
multiples of one power of two and bounded, so all sums are exact and do not depend on the order of the
additions.
"""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farthing._core import curtailed_classes
from farthing.costs import CostSheet, RowLedger
from farthing.learning.voting.curtailment import by_value, is_stump
from farthing.table.bins import plain
from farthing.trees import Forest, Predictor
from farthing.trees.node_arrays import MISSING_STAY, WORD_BITS
from farthing.trees.progress import unpack
from farthing.walks.plans import ClassVotePlan


def class_ask_order(forest: Forest, alphas: NDArray[np.float64], sheet: CostSheet) -> NDArray[np.int64]:
    """Return the columns that the trees test, in the order in which to ask for them.

    As `farthing.learning.voting.curtailment.ask_order`, where the change of a vote is the mean over the
    classes.

    Parameters
    ----------
    forest : Forest
        Trees that vote on several classes.
    alphas : ndarray of float64, shape (n_trees,)
        Their voting weights.
    sheet : CostSheet
        The prices, in the order of the columns.

    Returns
    -------
    ndarray of int64, shape (n_tested,)
    """
    stump, inner = is_stump(forest), forest.feature >= 0
    columns = np.unique(forest.feature[inner]).astype(np.int64)
    reach = np.zeros(forest.n_features)
    for column in columns.tolist():
        sums = stump_outcomes(forest, alphas, stump, column)
        reach[column] = (sums.max(axis=0) - sums.min(axis=0)).mean()
    deep = np.flatnonzero(inner & np.repeat(~stump, np.diff(forest.offsets)))
    tree = np.repeat(np.arange(forest.n_trees), np.diff(forest.offsets))[deep]
    whole = np.maximum(forest.cover[forest.offsets[tree]], np.finfo(float).tiny)
    np.add.at(reach, forest.feature[deep], 2 * alphas[tree] * forest.cover[deep] / whole)
    return by_value(reach, columns, sheet)


def stump_outcomes(
    forest: Forest, alphas: NDArray[np.float64], stump: NDArray[np.bool_], column: int
) -> NDArray[np.float64]:
    """Return the sums of all stumps of a column, for every value that they distinguish and a missing one.

    Returns
    -------
    ndarray of float64, shape (n_values, n_classes)
    """
    own = np.flatnonzero(stump & (forest.feature[forest.offsets[:-1]] == column))
    if not len(own):
        return np.zeros((1, forest.width))
    trees = Forest.concat([forest.trees(tree, tree + 1) for tree in own.tolist()])
    roots = trees.offsets[:-1]
    width = int(forest.category_widths[column])
    # One representative per gap between thresholds: each threshold, which goes left, and one above them all.
    values = np.arange(width * WORD_BITS) if width else np.append(np.unique(trees.threshold[roots]), np.inf)
    table = np.full((len(values) + 1, forest.n_features), np.nan)
    table[:-1, column] = values
    weights: NDArray[np.float64] = np.repeat(alphas[own], np.diff(trees.offsets))
    return Predictor(trees, trees.value * weights[:, np.newaxis]).predict(table)[0]


class ClassCurtailment:
    """The bounds of a forest of votes on several classes, for curtailed walks and array calls.

    Parameters
    ----------
    predictor : Predictor
        The forest and what its nodes add to the votes.
    alphas : ndarray of float64, shape (n_trees,)
        The voting weights.
    order : ndarray of int64, shape (n_tested,)
        The columns that the trees test, in the order in which to ask for them.
    """

    def __init__(self, predictor: Predictor, alphas: NDArray[np.float64], order: NDArray[np.int64]) -> None:
        self.predictor = predictor
        self.alphas = alphas
        self.order = order
        forest = predictor.forest
        #: Place of each column in the order, -1 if no tree tests it; shape (n_features,).
        self.position: NDArray[np.int64] = np.full(forest.n_features, -1, dtype=np.int64)
        self.position[order] = np.arange(len(order))
        #: Whether each tree is a single test, shape (n_trees,).
        self.stump = is_stump(forest)
        #: Least lead of one class over another at which a walk from each node can end, and the least plus the
        #: largest vote on each class, both in votes; shapes (n_nodes, k, k) and (n_nodes, k).
        self.node_lead, self.node_sum = _node_bounds(forest)
        outcomes = [stump_outcomes(forest, alphas, self.stump, column) for column in order.tolist()]
        k, lead, total = forest.width, map(_least_lead, outcomes), [x.min(0) + x.max(0) for x in outcomes]
        #: The same for the sum of all stumps of a column, by its place in the order.
        self.shared_lead: NDArray[np.float64] = np.array(list(lead)).reshape(-1, k, k)
        self.shared_sum: NDArray[np.float64] = np.array(total).reshape(-1, k)

    @cached_property
    def start(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Bounds before the first answer: of the leads (k, k), and least plus largest votes (k,)."""
        deep, roots = self.alphas[~self.stump], self.predictor.forest.offsets[:-1][~self.stump]
        return (
            self.shared_lead.sum(axis=0) + np.tensordot(deep, self.node_lead[roots], axes=1),
            self.shared_sum.sum(axis=0) + deep @ self.node_sum[roots],
        )

    @cached_property
    def is_constant(self) -> bool:
        """Whether the winner is certain before the first answer."""
        return is_decided(*self.start)

    def plan(self) -> ClassVotePlan:
        """Return the vote and its bounds as tables."""
        return ClassVotePlan(
            self.predictor,
            self.order,
            self.stump,
            self.alphas,
            self.node_lead,
            self.node_sum,
            self.shared_lead,
            self.shared_sum,
            self.start,
        )

    def predict(
        self,
        values: NDArray[np.floating],
        sheet: CostSheet,
        budget: NDArray[np.float64] | None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Return votes (n_rows, k) and acquired (n_rows, n_features); the same bits as the policy.

        Parameters
        ----------
        values : ndarray of float32 or float64, shape (n_rows, n_features)
            An encoded table.
        sheet : CostSheet
            The prices, in the order of the columns.
        budget : ndarray of float64, shape (n_rows,), or None
            Hard budget of each row.
        n_threads : int
            Threads to use; any number gives the same bits.
        """
        outputs, words = curtailed_classes(
            self.predictor.core,
            plain(values),
            order=self.order,
            position=self.position,
            stump=self.stump.view(np.uint8),
            weights=self.alphas,
            shared_lead=self.shared_lead.ravel(),
            shared_sum=self.shared_sum.ravel(),
            node_lead=self.node_lead.ravel(),
            node_sum=self.node_sum.ravel(),
            budgets=budget,
            own=sheet.own,
            shared=sheet.shared,
            group_of=sheet.group_of,
            n_threads=n_threads,
        )
        return outputs, unpack(words, self.predictor.forest.n_features)


class CurtailedClassPolicy:
    """Ask for the features of a vote on several classes, in a fixed order, until its winner is certain.

    The next column is the first one in the order that an unfinished tree needs. A tie goes to the earlier
    class. The output is the middle of what each vote may still become, which is largest for the winner.

    Parameters
    ----------
    curtailment : ClassCurtailment
        The forest and its bounds.
    """

    def __init__(self, curtailment: ClassCurtailment) -> None:
        self._curtailment = curtailment
        forest = curtailment.predictor.forest
        self._forest = forest
        self._nodes: NDArray[np.int64] = forest.offsets[:-1].copy()
        self._answers: dict[int, float] = {}
        self._refused: frozenset[int] = frozenset()
        # Unfinished trees, by the place in the order of the column that they need next.
        self._waiting: dict[int, list[int]] = {}
        lead, total = curtailment.start
        self._lead, self._sum = lead.copy(), total.copy()
        for tree, node in enumerate(self._nodes.tolist()):
            if forest.feature[node] >= 0:
                self._wait(tree, node)

    def wants(self, ledger: RowLedger) -> int | None:  # the order is fixed
        """Return the next column; None if the winner is certain or all trees are finished."""
        if not self._waiting or is_decided(self._lead, self._sum):
            return None
        return int(self._curtailment.order[min(self._waiting)])

    def hear(self, column: int, value: float) -> None:
        """Continue all trees that need the column."""
        plan = self._curtailment
        place = int(plan.position[column])
        self._answers[column] = value
        # The trees of this column leave the bounds and are added again below, with their votes or with
        # tighter bounds.
        self._lead -= plan.shared_lead[place]
        self._sum -= plan.shared_sum[place]
        for tree in self._waiting.pop(place):
            if not plan.stump[tree]:
                self._add(tree, int(self._nodes[tree]), -1.0)
            self._advance(tree)

    def refuse(self, column: int) -> None:
        """Continue all trees that need the column without it."""
        self._refused |= {column}
        self._forest = self._curtailment.predictor.without(self._refused).forest
        self.hear(column, np.nan)

    def output(self) -> NDArray[np.float64]:
        """Return the middle of what each vote may still become, shape (k,)."""
        return self._sum / 2

    def _advance(self, tree: int) -> None:
        node = int(self._nodes[tree])
        while (column := int(self._forest.feature[node])) >= 0:
            if column not in self._answers:
                self._nodes[tree] = node
                self._add(tree, node, 1.0)
                self._wait(tree, node)
                return
            turn = self._forest.route(node, self._answers[column])
            if turn is None:  # a missing value stays: the node itself votes
                break
            node = turn
        votes = self._curtailment.predictor.dense_scores[node]
        self._lead += votes[:, np.newaxis] - votes
        self._sum += 2 * votes

    def _add(self, tree: int, node: int, sign: float) -> None:
        weight = sign * self._curtailment.alphas[tree]
        self._lead += weight * self._curtailment.node_lead[node]
        self._sum += weight * self._curtailment.node_sum[node]

    def _wait(self, tree: int, node: int) -> None:
        place = int(self._curtailment.position[self._forest.feature[node]])
        self._waiting.setdefault(place, []).append(tree)


def is_decided(lead: NDArray[np.float64], total: NDArray[np.float64]) -> bool:
    """Return whether some class is ahead of all others, where a tie goes to the earlier one.

    Parameters
    ----------
    lead : ndarray of float64, shape (k, k)
        The least lead of each class over each other one.
    total : ndarray of float64, shape (k,)
        Least plus largest vote of each class.

    Examples
    --------
    >>> is_decided(np.array([[0.0, 1.0], [-3.0, 0.0]]), np.array([2.0, 0.0]))
    True
    >>> is_decided(np.array([[0.0, -1.0], [-3.0, 0.0]]), np.array([2.0, 0.0]))
    False
    """
    # Only the class with the largest middle can be ahead of all others: if every outcome of it is, so are the
    # ends of its range. Exact comparisons are safe, as the bounds have no rounding error.
    first = int(np.argmax(total))
    return bool((lead[first, :first] > 0).all() and (lead[first, first + 1 :] >= 0).all())


def _least_lead(votes: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the least lead of each class over each other one among some outcomes (n_outcomes, k)."""
    return np.asarray((votes[:, :, np.newaxis] - votes[:, np.newaxis, :]).min(axis=0))


def _node_bounds(forest: Forest) -> tuple[NDArray[np.int8], NDArray[np.int8]]:
    votes = forest.value.astype(np.int8)
    low, high = votes.copy(), votes.copy()
    lead: NDArray[np.int8] = votes[:, :, np.newaxis] - votes[:, np.newaxis, :]
    starts = forest.tree_starts()
    # Children come after their parents, so in reverse order both children are done before their parent.
    for node in np.flatnonzero(forest.feature >= 0)[::-1].tolist():
        ends = [starts[node] + forest.left[node], starts[node] + forest.right[node]]
        ends += [node] if forest.missing[node] == MISSING_STAY else []
        low[node], high[node] = low[ends].min(axis=0), high[ends].max(axis=0)
        lead[node] = lead[ends].min(axis=0)
    return lead, low + high
