"""Plain, cost-blind gradient boosting: the baseline of the Greedy Miser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from farthing.base import ContractRegressor, RegressorModel, TrainingSet, TreeModel, documented, register
from farthing.base.parameters import NON_NEGATIVE, POSITIVE, at_least, between
from farthing.costs import CostsLike
from farthing.learning.booster import TreeSettings, constants
from farthing.learning.least_squares_boosting import boost
from farthing.learning.monotonic import MONOTONIC, MONOTONIC_TEXT, directions_of
from farthing.trees import Forest
from farthing.typing import Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class GradientBoostingModel(TreeModel, RegressorModel):
    """A constant and a sum of regression trees."""


@register(
    grid={"n_estimators": [10, 30, 100, 300], "learning_rate": [0.1], "max_leaf_nodes": [8, 31]},
    auto={"n_estimators": [30, 100, 300], "learning_rate": [0.1], "max_leaf_nodes": [31]},
    rank=3,
    time_rank=1,
    trials=[{"n_estimators": 20, "max_depth": 2, "max_leaf_nodes": None, "l2_regularization": 1.0}],
)
@documented({"monotonic_cst": MONOTONIC_TEXT})
class GradientBoostingRegressor(ContractRegressor):
    """Boosted regression trees on squared loss, cost-blind.

    Prices affect only what is reported: `spend` and `acquired` show the cost of a model that was trained
    without them.

    Parameters
    ----------
    n_estimators : int
        Number of trees; fewer if no split is left that reduces the loss.
    learning_rate : float
        Factor applied to the values of each tree.
    max_depth, max_leaf_nodes : int, optional
        Limits of each tree; None for no limit.
    min_samples_leaf : int
        Minimum number of training rows in a leaf, regardless of their weights.
    l2_regularization : float
        L2 penalty on the leaves: a leaf of weight w is shrunk by w / (w + l2_regularization).
    {monotonic_cst}
    max_bins : int
        Maximum number of bins per column, 2 to 255; thresholds lie between bins.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    n_jobs : int, optional
        Threads, as in joblib; any number gives the same trees.

    Attributes
    ----------
    forest_ : Forest
        The mean of the target as a tree with one node, then the trees in the order of growth.

    References
    ----------
    J. H. Friedman. Greedy Function Approximation: A Gradient Boosting Machine. Annals of Statistics 29, 2001.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.arange(8.0).reshape(-1, 1)
    >>> model = GradientBoostingRegressor(n_estimators=50, learning_rate=0.5).fit(X, X[:, 0] > 3)
    >>> model.predict([[0.0], [7.0]]).round(3)
    array([0., 1.])
    """

    model_type = GradientBoostingModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_estimators": [at_least(0)],
        "learning_rate": [POSITIVE],
        "max_depth": [at_least(0), None],
        "max_leaf_nodes": [at_least(1), None],
        "min_samples_leaf": [at_least(1)],
        "l2_regularization": [NON_NEGATIVE],
        "monotonic_cst": MONOTONIC,
        "max_bins": [between(2, 255)],
    }

    def __init__(
        self,
        *,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = None,
        max_leaf_nodes: int | None = 31,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        monotonic_cst: Any = None,
        max_bins: int = 255,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.max_leaf_nodes = max_leaf_nodes
        self.min_samples_leaf = min_samples_leaf
        self.l2_regularization = l2_regularization
        self.monotonic_cst = monotonic_cst
        self.max_bins = max_bins
        self.costs = costs
        self.n_jobs = n_jobs

    def check_collection(self) -> None:
        """Raise nothing: the method learns from Dask collections."""

    def _learn(self, rows: TrainingSet) -> GradientBoostingModel:
        monotonic = directions_of(self.monotonic_cst, rows.schema)
        settings, prior = TreeSettings.of(self, monotonic=monotonic), rows.prior()
        bins = rows.bins(self.max_bins, settings.n_threads)
        first = constants(prior, bins.n_features, bins.category_widths)

        def after(trees: list[Forest]) -> Floats:
            return rows.progress(Forest.concat([first, *trees]), n_threads=settings.n_threads).outputs[:, 0]

        trees = boost(
            # The trade-off is 0, so prices have no influence on the growth.
            settings.make_grower(bins, rows.costs, ledger="row"),
            rows.target,
            rows.weights,
            start=float(prior[0]),
            n_estimators=self.n_estimators,
            learning_rate=self.learning_rate,
            l2_regularization=self.l2_regularization,
            after=after,
        )
        return GradientBoostingModel(
            **rows.header(prior=prior),
            forest=Forest.concat([first, *trees]),
            # The labels at a node do not follow from a value that bounds may have moved.
            learning_rate=float(self.learning_rate) if monotonic is None else None,
        )
