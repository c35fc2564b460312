"""The Greedy Miser for rankings."""

from __future__ import annotations

from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from farthing.base import ContractRegressor, TrainingSet, ValidatedRankerMixin, documented, register
from farthing.base.parameters import at_least, one_of
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.grid import miser_grid
from farthing.boosting.greedy_miser.model import GreedyMiserRegressorModel
from farthing.boosting.greedy_miser.parameters import CONSTRAINTS, SHARED, Charge, Leaf
from farthing.collective import mean, peers
from farthing.costs import CostsLike
from farthing.learning.losses import SQUARED, Loss, lambdamart
from farthing.metrics import ndcg_by_query, query_weights


@register(
    grid=miser_grid,
    trials=[{"n_estimators": 12, "tradeoff": 0.01, "relative": True, "max_depth": 2, "charge": "row"}],
)
@documented(SHARED)
class GreedyMiserRanker(ValidatedRankerMixin, GreedyMiser, ContractRegressor):
    """Boosted trees that score documents, and weigh the gain of a feature against its cost.

    `predict` returns scores; within a query, larger is better.

    Parameters
    ----------
    loss : {"squared", "lambdamart"}
        "squared" regresses on the grades, as in the paper. "lambdamart" uses pairwise gradients weighted by
        the change in NDCG; scores start at the mean grade and have no scale. Pairs without a document among
        the top 30 are left out, as in LightGBM's default: they hardly change NDCG.
    k : int
        The number of rounds is chosen by the mean NDCG@k of the validation queries, each weighted by the mean
        weight of its documents; `score` is NDCG@k, too.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Xu, Weinberger, Chapelle: The Greedy Miser: Learning under Test-time Budgets. ICML 2012.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> grades = np.digitize(X[:, 0], [0, 1])
    >>> model = GreedyMiserRanker(n_estimators=20, tradeoff=0.001, relative=True)
    >>> model.fit(X, grades, qid=np.repeat(np.arange(30), 10)).predict(X).shape
    (300,)
    """

    model_type = GreedyMiserRegressorModel
    steps_tell_labels = False
    fitted_: GreedyMiserRegressorModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "loss": [one_of("squared", "lambdamart")],
        "k": [at_least(1)],
    }

    units = "queries"

    def __init__(
        self,
        *,
        loss: Literal["squared", "lambdamart"] = "squared",
        k: int = 5,
        tradeoff: float = 0.0,
        relative: bool = False,
        charge: Charge = "model",
        budget: float | None = None,
        tree_cost: float = 0.0,
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int | None = 4,
        max_leaf_nodes: int | None = None,
        min_samples_leaf: int = 1,
        l2_regularization: float = 0.0,
        leaf: Leaf = "newton",
        subsample: float = 1.0,
        monotonic_cst: Any = None,
        validation_fraction: float | None = None,
        n_iter_no_change: int | None = None,
        warm_start: bool = False,
        max_bins: int = 255,
        random_state: Any = None,
        costs: CostsLike = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            tradeoff=tradeoff,
            relative=relative,
            charge=charge,
            budget=budget,
            tree_cost=tree_cost,
            n_estimators=n_estimators,
            learning_rate=learning_rate,
            max_depth=max_depth,
            max_leaf_nodes=max_leaf_nodes,
            min_samples_leaf=min_samples_leaf,
            l2_regularization=l2_regularization,
            leaf=leaf,
            subsample=subsample,
            monotonic_cst=monotonic_cst,
            validation_fraction=validation_fraction,
            n_iter_no_change=n_iter_no_change,
            warm_start=warm_start,
            max_bins=max_bins,
            random_state=random_state,
            costs=costs,
            n_jobs=n_jobs,
        )
        self.loss = loss
        self.k = k

    def _loss(self, rows: TrainingSet) -> Loss:
        if self.loss == "squared":
            return SQUARED
        return lambdamart(rows.qid, len(rows), self.n_threads())

    def _validation_loss(self, loss: Loss, rows: TrainingSet, scores: NDArray[np.float64]) -> float:
        # NDCG rather than the training loss, whose values have no scale with lambdamart.
        seen = rows.weights > 0
        if not seen.any() and peers() is not None:  # others have validation queries
            return 1 - mean(np.empty(0), np.empty(0))
        qid = None if rows.qid is None else rows.qid[seen]
        by_query = ndcg_by_query(rows.target[seen], scores[0, seen], qid=qid, k=self.k)
        return 1 - mean(by_query, query_weights(rows.weights[seen], qid))
