"""CSTC for rankings."""

from __future__ import annotations

from typing import Any, ClassVar, Literal, Self

from farthing.base import ContractRegressor, RankerMixin, TrainingSet, documented, register
from farthing.base.parameters import at_least
from farthing.base.ranker import query_ids
from farthing.cascades.cstc.base import CSTCBase
from farthing.cascades.cstc.parameters import CONSTRAINTS, OVER_TREES, TEXTS, grid
from farthing.cascades.cstc.tasks import Grades, Numbers
from farthing.cascades.score_tree import ScoreTreeRegressorModel
from farthing.costs import CostsLike
from farthing.learning.merged_rows import merged_rows


@register(grid=grid, auto=False, trials=[OVER_TREES])
@documented(TEXTS)
class CSTCRanker(RankerMixin, CSTCBase, ContractRegressor):
    """A tree of linear regressions that score documents, optimised under the expected price of their paths.

    The grades are regressed on, as in the paper; see `CSTCRegressor`. Nodes are pruned by the NDCG@k of
    validation queries. `predict` returns scores; within a query, larger is better.

    Parameters
    ----------
    k : int
        Number of documents of a query that count in NDCG, also in `score`.
    {parameters}

    Attributes
    ----------
    {attributes}

    References
    ----------
    {references}

    Examples
    --------
    >>> import numpy as np
    >>> random = np.random.default_rng(0)
    >>> X, qid = random.normal(size=(300, 3)), np.repeat(np.arange(30), 10)
    >>> grades = np.digitize(X[:, 0], [0, 1])
    >>> model = CSTCRanker([1.0, 5.0, 5.0], tradeoff=0.05, depth=2, random_state=0).fit(X, grades, qid)
    >>> model.score(X, grades, qid) > 0.9, float(model.spend(X).mean())
    (True, 1.0)
    """

    model_type = ScoreTreeRegressorModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "k": [at_least(1)]}

    def __init__(
        self,
        costs: CostsLike = None,
        *,
        k: int = 5,
        tradeoff: float = 0.01,
        learners: Literal["columns", "trees"] = "columns",
        n_estimators: int = 100,
        learning_rate: float = 0.1,
        max_depth: int = 4,
        tree_cost: float = 0.0,
        depth: int = 3,
        sparsity: float = 1e-4,
        steepness: float = 10.0,
        max_cycles: int = 10,
        tol: float = 1e-3,
        validation_fraction: float | None = 0.2,
        random_state: Any = None,
    ) -> None:
        self.costs = costs
        self.k = k
        self.tradeoff = tradeoff
        self.learners = learners
        self.n_estimators = n_estimators
        self.learning_rate = learning_rate
        self.max_depth = max_depth
        self.tree_cost = tree_cost
        self.depth = depth
        self.sparsity = sparsity
        self.steepness = steepness
        self.max_cycles = max_cycles
        self.tol = tol
        self.validation_fraction = validation_fraction
        self.random_state = random_state

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Learn from documents with grades.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order; None means a single query.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is ignored.

        Returns
        -------
        self
        """
        return self.fit_rows(self.training_set(X, y, sample_weight, qid=query_ids(qid)))

    def _learn(self, rows: TrainingSet) -> ScoreTreeRegressorModel:
        merged = merged_rows(rows)
        unit = Numbers.of(merged)
        return self._model_of_numbers(merged, Grades(unit.mean, unit.spread, self.k))
