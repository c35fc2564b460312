"""`BudgetedRegressor`: the best regressor within a budget."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from farthing.base import BudgetedEstimator, BudgetKind, ContractRegressor, Guarantee, documented, register
from farthing.boosting import GreedyMiserRegressor
from farthing.costs import CostSheet, CostsLike
from farthing.frontier.budgeted_base import CONSTRAINTS, GUARANTEED, PARAMETERS, BudgetedBase
from farthing.frontier.budgeted_model import ChosenModel, ChosenRegressorModel
from farthing.frontier.data_split import SweepRows
from farthing.learning.guarantees.guaranteed import GUARANTEE


@register(
    trials=[{"methods": [GreedyMiserRegressor(n_estimators=4)], "budget": "60%", "cv": 2}],
)
@documented({"guarantee": GUARANTEED, "parameters": PARAMETERS.format(scoring="str or scorer")})
class BudgetedRegressor(BudgetedBase, ContractRegressor):
    """The best regressor within a budget, chosen among many methods.

    Parameters
    ----------
    {parameters}
    {guarantee}

    Attributes
    ----------
    model_ : estimator
        The chosen model, fitted on all rows.
    frontier_ : Frontier
        Spend and score of every setting, without the estimators once it was stored in a file.
    chosen_ : Point
        Spend and score of ``model_`` on new rows, as estimated. Its spend is that of the rows it learned
        from, corrected by how much more new rows spent in the folds, or that of rows held out within the fit
        if it is more; its score is that of the folds' models of the same spend, less ``optimism_``.
    optimism_ : float
        How much of the score was due to the choice among many models: ``chosen_.score + optimism_`` is the
        score by which the model was chosen; see `farthing.frontier.optimism`.
    path_ : list of Point
        The same for each variant of ``model_`` that `at` may return.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(300, 3))
    >>> y = X[:, 0] + 0.1 * X[:, 1]
    >>> model = BudgetedRegressor([1, 5, 5], budget=1, methods=["GreedyMiserRegressor"]).fit(X, y)
    >>> float(model.spend(X).max()), model.walk().ask.feature
    (1.0, 'x0')
    """

    model_type = ChosenRegressorModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {**CONSTRAINTS, "guarantee": GUARANTEE}

    def __init__(
        self,
        costs: CostsLike = None,
        budget: float | str | Mapping[str, Any] | None = None,
        *,
        budget_kind: BudgetKind = "mean",
        free: Any = None,
        mixture: bool = False,
        guarantee: Guarantee | None = None,
        methods: Any = "auto",
        scoring: Any = "neg_mean_squared_error",
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
        self.guarantee = guarantee

    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        return GreedyMiserRegressor(costs=sheet)

    def _chosen_model(
        self,
        header: dict[str, Any],
        rows: SweepRows,  # values need no calibration
    ) -> ChosenModel:
        model = header["model"]
        prior = np.atleast_1d(model.fitted_.conclude(model.fitted_.prior[np.newaxis])[0])
        return ChosenRegressorModel(**header, prior=prior)
