"""`BudgetedClassifier`: the best classifier within a budget."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import cross_val_predict

from farthing.base import (
    BudgetedEstimator,
    BudgetKind,
    ContractClassifier,
    ErrorCosts,
    Guarantee,
    documented,
    register,
)
from farthing.base.class_weights import plain
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet, CostsLike
from farthing.deadline import DeadlineReached
from farthing.errors import BudgetWarning
from farthing.forests import BudgetTreeClassifier
from farthing.frontier.budgeted_base import CONSTRAINTS, GUARANTEED, PARAMETERS, BudgetedBase
from farthing.frontier.budgeted_model import ChosenClassifierModel, ChosenModel
from farthing.frontier.data_split import SweepRows
from farthing.learning.calibration import temperature_of
from farthing.learning.guarantees.guaranteed import GUARANTEE

# The part of a time limit that is kept for calibration, which fits the chosen model three times.
_CALIBRATION_SHARE: Final = 0.35


@register(
    trials=[
        {"methods": [BudgetTreeClassifier(max_depth=4)], "budget": "100%", "cv": 2},
        {
            "methods": [GreedyMiserClassifier(n_estimators=4, learning_rate=0.5)],
            "budget": 3.0,
            "budget_kind": "hard",
            "cv": 2,
            "calibrate": True,
        },
    ],
)
@documented({"guarantee": GUARANTEED, "parameters": PARAMETERS.format(scoring="str, scorer or ErrorCosts")})
class BudgetedClassifier(BudgetedBase, ContractClassifier):
    """The best classifier within a budget, chosen among many methods.

    Parameters
    ----------
    {parameters}
    {guarantee}
    pos_label : label, optional
        The positive one of two labels, for scores such as "f1"; without it they must be 0 and 1.
    class_weight : dict, "balanced" or None
        Weights of the classes, as in scikit-learn: in fits and in the score, by which the model is chosen.
        Spends and the budget are those of the rows as they come.
    calibrate : bool
        Whether to rescale the probabilities by the temperature with the least log loss on held-out rows.
        Labels do not change.

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
    temperature_ : float
        1 without ``calibrate``.
    error_costs_ : ndarray of float64, shape (n_classes, n_classes), or None
        With ``scoring=ErrorCosts(...)``, the costs that decide the label.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = BudgetedClassifier(costs=heart.costs, budget=10, methods=["BudgetTreeClassifier"])
    >>> model = model.fit(heart.X, heart.y)
    >>> model.chosen_.spend <= 10
    True
    """

    model_type = ChosenClassifierModel
    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **CONSTRAINTS,
        "guarantee": GUARANTEE,
        "calibrate": ["boolean"],
    }

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
        scoring: Any = "accuracy",
        pos_label: Any = None,
        class_weight: Any = None,
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
        self.pos_label = pos_label
        self.class_weight = class_weight
        self.calibrate = calibrate

    def file_params(self) -> dict[str, Any]:
        """Return the parameters without the objects that were tried or scored by."""
        params = super().file_params()
        return {**params, "pos_label": plain(params["pos_label"])}

    def _weighted(self, rows: SweepRows) -> SweepRows:
        if self.class_weight is not None and isinstance(self.scoring, ErrorCosts):
            raise ValueError(
                "ErrorCosts says what each error costs, so class_weight has no place beside it; leave it out"
            )
        return rows.by_class(self.class_weight)

    def _sweep_options(self) -> dict[str, Any]:
        return {"pos_label": self.pos_label}

    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        return BudgetTreeClassifier(costs=sheet, max_depth=4)

    def _chosen_model(self, header: dict[str, Any], rows: SweepRows) -> ChosenModel:
        model = header["model"]
        classes = model.classes_
        costs = self.scoring.over(classes).costs if isinstance(self.scoring, ErrorCosts) else None
        temperature = 1.0
        if self.calibrate and len(classes) > 1:
            try:
                temperature = self._temperature(model, rows)
            except DeadlineReached:
                warnings.warn(
                    "the time limit left no time to calibrate; probabilities are those of the chosen model",
                    BudgetWarning,
                    stacklevel=4,
                )
        prior = model.fitted_.conclude(model.fitted_.prior[np.newaxis])[0]
        return ChosenClassifierModel(
            **header,
            prior=prior,
            classes=classes,
            temperature=temperature,
            error_costs=costs,
        )

    def _later_share(self) -> float:
        return _CALIBRATION_SHARE if self.calibrate else 0.0

    def _temperature(self, model: Any, rows: SweepRows) -> float:
        """Return the temperature with the least log loss on out-of-fold probabilities."""
        weights = rows.all_weights
        options = None if weights is None else {"sample_weight": weights}
        held_out = cross_val_predict(
            clone(model), rows.X, rows.y, cv=3, method="predict_proba", params=options
        )
        return temperature_of(held_out, np.searchsorted(model.classes_, rows.y))
