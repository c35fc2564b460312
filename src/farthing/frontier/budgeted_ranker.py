"""`BudgetedRanker`: the best ranker within a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Self

from farthing.base import BudgetedEstimator, BudgetKind, RankerMixin, documented, register
from farthing.base.parameters import at_least
from farthing.boosting import GreedyMiserRanker
from farthing.costs import CostSheet, CostsLike
from farthing.frontier.budgeted_base import CONSTRAINTS, PARAMETERS
from farthing.frontier.budgeted_regressor import BudgetedRegressor


@register(
    trials=[
        # The targets that the contract is checked on are no grades.
        {
            "methods": [GreedyMiserRanker(n_estimators=4)],
            "scoring": "neg_mean_squared_error",
            "budget": "60%",
            "cv": 2,
        }
    ],
)
@documented({"parameters": PARAMETERS.format(scoring="str, scorer or None")})
class BudgetedRanker(RankerMixin, BudgetedRegressor):
    """The best ranker within a budget, chosen among the settings of rankers.

    Folds keep queries whole. `predict` returns scores; within a query, larger is better.

    Parameters
    ----------
    {parameters}
    k : int
        `score` is NDCG@k, and so is the score to maximise if ``scoring`` is None.

    Attributes
    ----------
    model_ : estimator
        The chosen model, fitted on all rows.
    frontier_ : Frontier
        Spend and score of every setting, without the estimators once it was stored in a file.
    chosen_ : Point
        Spend and score of ``model_`` on new rows, as estimated.
    path_ : list of Point
        The same for each variant of ``model_`` that `at` may return.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X, qid = rng.normal(size=(120, 3)), np.repeat(np.arange(20), 6)
    >>> grades = np.digitize(X[:, 0], [0, 1])
    >>> model = BudgetedRanker(budget=1, methods=[GreedyMiserRanker(n_estimators=5, max_depth=1)], cv=2)
    >>> model.fit(X, grades, qid).score(X, grades, qid) > 0.9
    True
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "k": [at_least(1)]}

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | str | Mapping[str, Any] | None = None,
        *,
        budget_kind: BudgetKind = "mean",
        free: Any = None,
        mixture: bool = False,
        methods: Any = "auto",
        scoring: Any = None,
        k: int = 5,
        cv: Any = None,
        time_limit: float | None = None,
        memory: Any = None,
        progress: bool = False,
        random_state: int = 0,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            costs,
            budget,
            budget_kind=budget_kind,
            free=free,
            mixture=mixture,
            methods=methods,
            scoring=scoring,
            cv=cv,
            time_limit=time_limit,
            memory=memory,
            progress=progress,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.k = k

    def fit(self, X: Any, y: Any, qid: Any = None, sample_weight: Any = None) -> Self:  # type: ignore[override]
        """Sweep over the rankers, choose within the budget, and fit the chosen one on all rows.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            One document per row.
        y : array, shape (n_rows,)
            Grades, zero or more; larger is better.
        qid : array, shape (n_rows,), optional
            The query of each document, in any order; None means a single query.
        sample_weight : array, shape (n_rows,), optional
            Weights, in fits.

        Returns
        -------
        self
        """
        return self._choose(X, y, sample_weight, qid=qid)

    def _sweep_options(self) -> dict[str, Any]:
        return {"scoring": f"ndcg@{self.k}" if self.scoring is None else self.scoring, "ranks": True}

    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        return GreedyMiserRanker(costs=sheet)

    def _check_weighed(self, X: Any) -> None:
        raise ValueError(f"{type(self).__name__} takes one budget, of the costs; got {self.budget!r}")
