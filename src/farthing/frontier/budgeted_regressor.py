"""The front door for numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import BudgetedEstimator, ContractRegressor, documented, register
from farthing.boosting import GreedyMiserRegressor
from farthing.costs import CostSheet
from farthing.frontier.candidates import Kind
from farthing.frontier.front_door import PARAMETERS, FrontDoor
from farthing.frontier.parts import Part


@register(
    trials=[{"methods": [GreedyMiserRegressor(n_trees=4)], "budget": "60%", "cv": 2}],
)
@documented({"parameters": PARAMETERS.format(scoring="str or scorer")})
class BudgetedRegressor(FrontDoor, ContractRegressor):
    """The best regressor within a budget, of all methods that there are.

    Parameters
    ----------
    {parameters}

    Attributes
    ----------
    model_ : estimator
        The chosen model, fitted on all rows.
    frontier_ : Frontier
        What every setting pays and scores; not kept in files.
    chosen_ : Point
        The one taken; a file keeps it without its estimator, which is that of ``model_``.
    """

    def __init__(
        self,
        costs: Any = None,
        budget: float | str | None = None,
        *,
        kind: Kind = "mean",
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
            kind=kind,
            methods=methods,
            scoring=scoring,
            cv=cv,
            time_limit=time_limit,
            memory=memory,
            progress=progress,
            random_state=random_state,
            n_jobs=n_jobs,
        )

    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        return GreedyMiserRegressor(costs=sheet)

    def _adopt_model(self, rows: Part) -> None:
        """Numbers need nothing more."""

    def _said(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(self.model_._conclude(outputs)[:, np.newaxis])
