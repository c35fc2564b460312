"""Plain gradient boosting, which knows no prices; the reference for those that do."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractRegressor, TreesMixin, n_threads, register
from farthing.costs import CostSheet
from farthing.learning.booster import Boosting, Floats, Weighting
from farthing.learning.losses import SQUARED
from farthing.table import Bins
from farthing.trees import Forest, Grower, Grown


@register(
    grid={"n_estimators": [10, 30, 100, 300], "learning_rate": [0.1], "max_leaf_nodes": [8, 31]},
    auto={"n_estimators": [30, 100, 300], "learning_rate": [0.1], "max_leaf_nodes": [31]},
    rank=3,
    trials=[{"n_estimators": 20, "max_depth": 2, "max_leaf_nodes": None, "l2_regularization": 1.0}],
)
class GradientBoostingRegressor(TreesMixin, ContractRegressor):
    """Boosted regression trees on squared loss, cost-blind.

    The prices do not change what is learned, only what is reported: `spend` and `acquired` show what a model
    that was never told about money costs.

    Parameters
    ----------
    n_estimators : int
        Number of trees.
    learning_rate : float
        What each tree's values are multiplied by.
    max_depth, max_leaf_nodes : int, optional
        Limits of each tree.
    min_samples_leaf : int
        Fewest training rows of a leaf, counted and not weighed.
    l2_regularization : float
        Ridge on the leaves: a leaf of weight w is shrunk by w / (w + l2_regularization).
    max_bins : int
        Thresholds are sought among at most this many bins of a column, 2 to 255.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees.

    Attributes
    ----------
    forest_ : Forest
        The mean of the target as a tree of one node, then the trees in the order of their growth.

    Examples
    --------
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(n_estimators=50, learning_rate=0.5).fit(X, X[:, 0] > 3)
    >>> model.predict([[0.0], [7.0]]).round(3)
    array([0., 1.])
    """

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 31,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        max_bins: int = 255,
        costs: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.max_bins = max_bins
        self.costs = costs
        self.n_jobs = n_jobs

    def _fit(
        self,
        values: NDArray[np.floating],
        target: NDArray[np.float64],
        weights: NDArray[np.float64],
        sheet: CostSheet,
    ) -> None:
        if not isinstance(self.n_estimators, int | np.integer) or self.n_estimators < 0:
            raise ValueError(f"n_estimators must be an integer of at least 0; got {self.n_estimators!r}")
        if not (0 < self.learning_rate < np.inf):
            raise ValueError(f"learning_rate must be above 0, and finite; got {self.learning_rate!r}")
        threads = n_threads(self.n_jobs)
        bins = Bins(values, self.schema_, max_bins=self.max_bins, n_threads=threads)
        grower = Grower(
            bins,
            sheet,
            max_depth=self.max_depth,
            max_leaf_nodes=self.max_leaf_nodes,
            min_samples_leaf=self.min_samples_leaf,
            n_threads=threads,
        )
        trees = boost(
            grower,
            target,
            weights,
            start=float(self.prior_[0]),
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            l2_regularization=self.l2_regularization,
        )
        base = Forest.constant(self.prior_, bins.n_features, bins.category_widths)
        self.forest_ = Forest.concat([base, *trees])


def boost(
    grower: Grower,
    target: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    start: float,
    n_estimators: int,
    learning_rate: float,
    l2_regularization: float = 0.0,
) -> list[Forest]:
    """Fit tree after tree to what is left of the target.

    Parameters
    ----------
    grower : Grower
        Grows on the rows' binned table.
    target, weights : ndarray of float64, shape (n_rows,)
        What to predict, and how much each row counts.
    start : float
        The prediction before the first tree.
    n_estimators, learning_rate, l2
        As in `GradientBoostingRegressor`.

    Returns
    -------
    list of Forest
        One tree each, its values multiplied by the learning rate.
    """
    weighting = Weighting.of(weights)
    scores = np.full((1, len(target)), start)
    boosting = Boosting(SQUARED, target, weighting, scores, learning_rate)

    def grow(gradients: Floats, hessians: Floats | None, _: int, step: float) -> Grown:
        return grower.gradient(
            gradients, hessians, l2_regularization=l2_regularization / weighting.unit, step=step
        )

    for _ in range(n_estimators):
        boosting.round(grow)
    return boosting.trees
