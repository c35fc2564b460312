"""Prediction of whole tables by trees, with the features that each row acquired."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, lru_cache, partial
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import Predictor as CompiledPredictor
from farthing.costs import CostSheet, within_budget
from farthing.table.bins import plain
from farthing.trees.forest import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY
from farthing.trees.progress import Progress
from farthing.trees.sparse_rows import NodeValues, SparseRows, core_scores, dense_values

# Sets of refused features for which a predictor keeps its trees.
_KEPT_REFUSALS: Final = 32


class Predictor:
    """A forest prepared for the compiled predictor.

    Parameters
    ----------
    forest : Forest
        A valid forest.
    scores : ndarray of float64, shape (n_nodes, width), or SparseRows, optional
        What each node adds to the output, instead of its value.
    single_sums : bool
        Whether the sum is rounded to float32 after each tree, as in XGBoost.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> outputs, acquired = Predictor(stump).predict(np.array([[9.0, 0.2], [9.0, 0.7]]))
    >>> outputs.ravel()
    array([-1.,  1.])
    >>> acquired
    array([[False,  True],
           [False,  True]])
    """

    def __init__(
        self, forest: Forest, scores: NodeValues | None = None, *, single_sums: bool = False
    ) -> None:
        self.forest = forest
        self.single_sums = single_sums
        given = forest.node_values if scores is None else scores
        # Sums that are rounded after each tree must pass the zeros, too.
        sparse = isinstance(given, SparseRows) and not single_sums
        self.scores: NodeValues = given if sparse else np.ascontiguousarray(dense_values(given), np.float64)
        self._cached_without = lru_cache(maxsize=_KEPT_REFUSALS)(self._make_without)
        self._cached_room = lru_cache(maxsize=1)(self._make_room)

    @cached_property
    def core(self) -> CompiledPredictor:
        """The trees in the compiled core."""
        # Not made at once: walks do without it, and those that refuse make many predictors.
        return CompiledPredictor(self.forest.compiled, core_scores(self.scores), self.single_sums)

    @property
    def dense_scores(self) -> NDArray[np.float64]:
        """The scores with all zeros, shape (n_nodes, width); made anew if they are sparse."""
        return dense_values(self.scores)

    def dense(self) -> Predictor:
        """Return the same trees with scores that are not sparse, which some kernels need."""
        if not isinstance(self.scores, SparseRows):
            return self
        return Predictor(self.forest, self.dense_scores, single_sums=self.single_sums)

    @cached_property
    def refused_ways(self) -> NDArray[np.uint8]:
        """Where each node sends a refused value, shape (n_nodes,): to a side, and nowhere from a leaf.

        A missing value goes the way of the training rows that lacked it, which may be few, or unlike the
        others; a refusal says nothing about the row. So a refused feature is to change the sum over the
        trees, on average over the training rows, as little as possible: each node sends it to the child that
        keeps the sum over the trees so far nearest to its mean. A single tree sends it to the larger child.
        """
        forest = self.forest
        if forest.n_trees > 1:
            return forest.compiled.refused_ways(core_scores(self.scores), forest.cover)
        # Balanced, a second test of the feature would make up for the first one, and send all rows to a rare
        # leaf.
        larger = np.where(
            forest.cover[forest.left] >= forest.cover[forest.right], MISSING_LEFT, MISSING_RIGHT
        )
        return np.where(forest.feature >= 0, larger, MISSING_STAY).astype(np.uint8)

    def without(self, refused: frozenset[int]) -> Predictor:
        """Return the same trees for rows that refuse some columns: there, NaN goes the `refused_ways`.

        Examples
        --------
        >>> stump = Forest.from_arrays(
        ...     n_features=1, feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]], cover=[3.0, 1.0, 2.0], missing=[0, 2, 2])
        >>> float(Predictor(stump).predict(np.array([[np.nan]]))[0][0, 0])
        -1.0
        >>> float(Predictor(stump).without(frozenset({0})).predict(np.array([[np.nan]]))[0][0, 0])
        1.0
        """
        return self._cached_without(refused) if refused else self

    def _make_without(self, refused: frozenset[int]) -> Predictor:
        forest = self.forest
        ways = np.where(np.isin(forest.feature, list(refused)), self.refused_ways, forest.missing)
        changed = replace(forest, missing=ways.astype(np.uint8, copy=False))
        return Predictor(changed, self.scores, single_sums=self.single_sums)

    def predict(
        self,
        values: NDArray[np.floating],
        *,
        sheet: CostSheet | None = None,
        budget: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Send each row down all trees.

        Parameters
        ----------
        values : ndarray of float32 or float64, shape (n_rows, n_features)
            An encoded table, in any memory order.
        sheet : CostSheet, optional
            The prices, in the order of the columns; needed with a budget.
        budget : ndarray of float64, shape (n_rows,), optional
            Hard budget of each row: a feature that would exceed it is refused and counts as missing.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            The sum of the scores of the nodes where the row ended, tree by tree.
        acquired : ndarray of bool, shape (n_rows, n_features)
            The features that the row was tested on.
        """
        if budget is None:
            return self.core.predict(plain(values), n_threads)
        if sheet is None:
            raise ValueError("a budget needs the cost sheet that it is spent by")
        return self.core.predict_within(
            plain(values), budget, sheet.own, sheet.shared, sheet.group_of, n_threads
        )

    def advance(
        self,
        progress: Progress,
        begin: int,
        end: int,
        rows: NDArray[np.int64] | None = None,
        refused: frozenset[int] = frozenset(),
    ) -> None:
        """Send rows in progress down the trees from ``begin`` up to, not including, ``end``.

        Parameters
        ----------
        progress : Progress
            State of the rows; it is updated in place.
        begin, end : int
            The trees.
        rows : ndarray of int64, optional
            Ascending indices of the rows that continue; None means all.
        refused : frozenset of int
            Columns that these rows refuse; their values must be NaN.
        """
        leg = (progress.values, begin, end, rows, progress.outputs, progress.touched)
        core = self.without(refused).with_room(len(progress.sheet.calls)).core
        if progress.budget is None:
            core.advance(*leg, progress.n_threads)
        else:
            sheet = progress.sheet
            prices = (sheet.own, sheet.shared, sheet.group_of)
            core.advance_within(*leg, progress.refused, progress.budget, *prices, progress.n_threads)

    def advance_paid(
        self,
        progress: Progress,
        begin: int,
        end: int,
        rows: NDArray[np.int64],
        call: int,
    ) -> NDArray[np.int64]:
        """Send rows down a block of trees whose evaluation is a call; see `farthing.walks.PaidTrees`.

        Parameters
        ----------
        progress : Progress
            State of the rows; it is updated in place.
        begin, end : int
            The trees of the block.
        rows : ndarray of int64, shape (n_rows_left,)
            Ascending indices of the rows that continue.
        call : int
            The place of the call in the cost sheet.

        Returns
        -------
        ndarray of int64
            The rows that could pay. The others own something, but too little is left of their budget.
        """
        owned = progress.acquired_by(rows)
        looked = np.asarray(owned.any(axis=1))
        owned[:, call] = True
        if progress.budget is not None:
            due = progress.sheet.total_rows(owned)
            pays = within_budget(due, progress.budget[rows]) | ~looked
            rows, looked = rows[pays], looked[pays]
        # A row that owns nothing must be able to pay for the call beside its first column.
        progress.mark(call, rows, owned=True)
        self.advance(progress, begin, end, rows)
        blind = rows[~looked]
        blind = blind[progress.acquired_by(blind).sum(axis=1) == 1]
        progress.mark(call, blind, owned=False)
        return rows

    def with_room(self, n_calls: int) -> Predictor:
        """Return the same trees for tables that have a column for each call."""
        return self._cached_room(n_calls) if n_calls else self

    def _make_room(self, n_calls: int) -> Predictor:
        forest = self.forest
        widths = np.concatenate([forest.category_widths, np.zeros(n_calls, dtype=np.int64)])
        wider = replace(forest, n_features=forest.n_features + n_calls, category_widths=widths)
        return Predictor(wider, self.scores, single_sums=self.single_sums)

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled object does not pickle; it is built again from the arrays.
        return partial(Predictor, single_sums=self.single_sums), (self.forest, self.scores)
