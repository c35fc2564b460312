"""The front door for classes."""

from __future__ import annotations

from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from farthing.base import BudgetedEstimator, ContractClassifier, documented, register
from farthing.base.calibration import temper, temperature_of
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet
from farthing.forests import BudgetTreeClassifier
from farthing.frontier.candidates import Kind
from farthing.frontier.front_door import PARAMETERS, FrontDoor
from farthing.frontier.parts import Part
from farthing.frontier.scoring import ErrorCosts


@register(
    trials=[
        {"methods": [BudgetTreeClassifier(max_depth=4)], "budget": "100%", "cv": 2},
        {
            "methods": [GreedyMiserClassifier(n_trees=4, learning_rate=0.5)],
            "budget": 3.0,
            "kind": "hard",
            "cv": 2,
            "calibrate": True,
        },
    ],
)
@documented({"parameters": PARAMETERS.format(scoring="str, scorer or ErrorCosts")})
class BudgetedClassifier(FrontDoor, ContractClassifier):
    """The best classifier within a budget, of all methods that there are.

    Parameters
    ----------
    {parameters}
    calibrate : bool
        Whether to make the probabilities milder or sharper, by the temperature that suits rows not learned
        from best. Labels stay.

    Attributes
    ----------
    model_ : estimator
        The chosen model, fitted on all rows.
    frontier_ : Frontier
        What every setting pays and scores; not kept in files.
    chosen_ : Point
        The one taken; a file keeps it without its estimator, which is that of ``model_``.
    temperature_ : float
        1 without ``calibrate``.
    error_costs_ : ndarray of float64, shape (n_classes, n_classes), or None
        With ``scoring=ErrorCosts(...)``, what decides the label.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = BudgetedClassifier(costs=heart.costs, budget=10, methods=["BudgetTreeClassifier"])
    >>> model = model.fit(heart.X, heart.y)
    >>> model.chosen_.spend <= 10
    True
    """

    _stored: ClassVar[Mapping[str, type | UnionType]] = {
        "temperature_": float,
        "error_costs_": np.ndarray | NoneType,
    }

    def __init__(
        self,
        costs: Any = None,
        budget: float | str | None = None,
        *,
        kind: Kind = "mean",
        methods: Any = "auto",
        scoring: Any = "accuracy",
        cv: Any = None,
        time_limit: float | None = None,
        calibrate: bool = False,
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
        self.calibrate = calibrate

    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        return BudgetTreeClassifier(costs=sheet, max_depth=4)

    def _adopt_model(self, rows: Part) -> None:
        self.classes_ = self.model_.classes_
        self.error_costs_ = None
        if isinstance(self.scoring, ErrorCosts):
            self.error_costs_ = self.scoring.over(self.classes_).costs
        self.temperature_ = 1.0
        if self.calibrate and len(self.classes_) > 1:
            options = None if rows.weights is None else {"sample_weight": rows.weights}
            held_out = cross_val_predict(
                clone(self.model_), rows.X, rows.y, cv=3, method="predict_proba", params=options
            )
            codes = np.searchsorted(self.classes_, rows.y)
            self.temperature_ = temperature_of(held_out, codes)

    def _said(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return temper(self.model_._conclude(outputs), self.temperature_)

    def _conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        return outputs

    def _results(self, outputs: NDArray[np.float64]) -> tuple[NDArray[Any], NDArray[np.float64] | None]:
        if self.error_costs_ is None:
            return super()._results(outputs)
        return self.classes_[ErrorCosts(self.error_costs_).decide(outputs)], outputs

    def _conclude_row(
        self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]
    ) -> tuple[Any, dict[Any, float] | None]:
        label, probabilities = super()._conclude_row(outputs, looked)
        if self.error_costs_ is not None:
            label = self._results(self._settle(outputs, looked))[0].tolist()[0]
        return label, probabilities

    def _check_stored(self) -> None:
        if not 0 < self.temperature_ < np.inf:
            raise ValueError(f"temperature_ must be above zero; got {self.temperature_!r}")
        if self.error_costs_ is not None:
            ErrorCosts(self.error_costs_).over(self.classes_)
        super()._check_stored()
        if not np.array_equal(self.model_.classes_, self.classes_):
            raise ValueError("the classes must be those of the model within")
