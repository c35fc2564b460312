"""Prediction of whole tables by trees, with the features that each row acquired."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import Predictor as CompiledPredictor
from farthing.costs import CostSheet
from farthing.table.bins import plain
from farthing.trees.forest import Forest
from farthing.trees.progress import Progress, unpack


class Predictor:
    """A forest prepared for the compiled predictor.

    Parameters
    ----------
    forest : Forest
        A valid forest.
    scores : ndarray of float64, shape (n_nodes, width), optional
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
        self, forest: Forest, scores: NDArray[np.float64] | None = None, *, single_sums: bool = False
    ) -> None:
        self.forest = forest
        self.single_sums = single_sums
        self.scores = forest.value if scores is None else np.ascontiguousarray(scores, dtype=np.float64)
        self.core = CompiledPredictor(forest.compiled, self.scores, single_sums)

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
            outputs, words = self.core.predict(plain(values), True, n_threads)
        else:
            if sheet is None:
                raise ValueError("a budget needs the cost sheet that it is spent by")
            outputs, words = self.core.predict_within(
                plain(values), budget, sheet.own, sheet.shared, sheet.group_of, n_threads
            )
        return outputs, unpack(words, self.forest.n_features)

    def advance(
        self, progress: Progress, begin: int, end: int, rows: NDArray[np.int64] | None = None
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
        """
        leg = (progress.values, begin, end, rows, progress.outputs, progress.touched)
        if progress.budget is None:
            self.core.advance(*leg, progress.n_threads)
        else:
            sheet = progress.sheet
            prices = (sheet.own, sheet.shared, sheet.group_of)
            self.core.advance_within(*leg, progress.refused, progress.budget, *prices, progress.n_threads)

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled object does not pickle; it is built again from the arrays.
        return partial(Predictor, single_sums=self.single_sums), (self.forest, self.scores)
