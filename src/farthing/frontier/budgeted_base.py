"""The base of `BudgetedClassifier` and `BudgetedRegressor`: sweep, choose within the budget, fit again."""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from numbers import Integral
from types import NoneType
from typing import Any, Final, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length

from farthing.base import BudgetedEstimator, BudgetKind, FittedModel, Frontier, Point, TrainingSet
from farthing.base.inputs import check_cap, warn_one_class
from farthing.base.parameters import JOBS, NON_NEGATIVE, one_of
from farthing.costs import CostSheet, CostsLike, spending_limit
from farthing.errors import BudgetWarning
from farthing.frontier.budgeted_model import ChosenModel
from farthing.frontier.data_split import SweepRows
from farthing.frontier.sweep import sweep
from farthing.table import PreparedTable

_SHARE: Final = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*%\s*")
# Below this many rows a single split is too noisy to choose by, and folds are cheap.
_FEW_ROWS: Final = 3000
_FOLDS: Final = 5

PARAMETERS: Final = """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, str or None
        What a row may spend: a number, or a share of the cost of all features such as "20%". None
        means no limit.
    budget_kind : {{"mean", "hard"}}
        Whether the budget limits the mean spend, as measured both on the rows that chose the model and on
        those it was fitted on, or the spend of every row.
    methods : "auto", "all" or list
        What to try, as in `farthing.sweep`: "auto" is a selection of some twenty fits, "all" is every
        registered method that can learn the target.
    scoring : {scoring}
        The score to maximise; see `farthing.sweep`.
    cv : int, splitter or None
        How to evaluate, as in `farthing.sweep`; None means five folds below 3,000 rows, else one split.
    time_limit : float, optional
        Seconds after which no new fit is started.
    memory : path, optional
        A folder for intermediate results, so that an interrupted fit continues where it stopped.
    progress : bool
        Whether to show a progress bar.
    random_state : int
        Seed, as in `farthing.sweep`.
    n_jobs : int, optional
        Number of fits in parallel, as in joblib."""


CONSTRAINTS: Final[dict[str, Any]] = {
    "budget_kind": [one_of("mean", "hard")],
    "time_limit": [NON_NEGATIVE, None],
    "progress": ["boolean"],
    "random_state": [Integral],
    "n_jobs": JOBS,
}
"""Allowed values of the parameters; budget, costs, methods, scoring and cv are checked where used."""


class BudgetedBase(BudgetedEstimator):
    """Base class: sweep, choose, fit again on all rows, and predict as the chosen model."""

    frontier_: Frontier

    def __init__(
        self,
        costs: CostsLike,
        budget: float | str | None,
        *,
        budget_kind: BudgetKind,
        methods: Any,
        scoring: Any,
        cv: Any,
        time_limit: float | None,
        memory: Any,
        progress: bool,
        random_state: int,
        n_jobs: int | None,
    ) -> None:
        self.costs = costs
        self.budget = budget
        self.budget_kind = budget_kind
        self.methods = methods
        self.scoring = scoring
        self.cv = cv
        self.time_limit = time_limit
        self.memory = memory
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    # What the classifier and the regressor implement.

    @abstractmethod
    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        """Return a model that pays for nothing, if its budget is 0."""

    @abstractmethod
    def _chosen_model(
        self, header: dict[str, Any], model: Any, chosen: Point, rows: SweepRows
    ) -> ChosenModel:
        """Return the fitted model around the chosen one; ``header`` has its schema, costs and budget."""

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sweep over the methods, choose within the budget, and fit the chosen one on all rows.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are allowed. It is read once.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
        """
        self._validate_params()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        table = PreparedTable.of(X, type(self).__name__)
        target, classes = self._encode_target(y)
        check_consistent_length(table.values, target)
        warn_one_class(classes)
        all_rows = SweepRows.of(table, y, sample_weight)
        rows = all_rows.of_positive_weight()
        sheet = CostSheet.of(self.costs, table.schema.names)
        budget = budget_of(self.budget, sheet)
        # All rows go to the sweep: folds that the user gives are numbered over rows of weight zero too.
        self.frontier_ = self._sweep(all_rows, sheet, budget, few=len(rows.y) < _FEW_ROWS)
        chosen = _choose(self.frontier_, budget, hard=self.budget_kind == "hard")
        # The sweep fitted on part of the rows; the model that is kept learns from all of them.
        model = clone(chosen.estimator)
        if not isinstance(model, BudgetedEstimator):
            raise TypeError(
                f"{chosen.method} does not keep the contract, so it cannot be the model; "
                "farthing.sweep takes any estimator, for comparison"
            )
        model.fit(rows.table, rows.y, rows.weights)
        if self.budget_kind == "mean" and budget is not None:
            model = _held_to(budget, model, rows)
        within = model.fitted_
        # A hard budget is capped in prediction whatever the chosen method: one that knows no budget keeps it
        # too.
        cap = budget if self.budget_kind == "hard" and budget is not None else within.budget
        header = {"schema": within.schema, "costs": within.costs, "budget": cap}
        self.adopt(self._chosen_model(header, model, chosen, rows))
        _warn_if_nothing(sheet, budget, chosen)
        return self

    def _sweep(self, rows: SweepRows, sheet: CostSheet, budget: float | None, *, few: bool) -> Frontier:
        return sweep(
            # A model that buys nothing is always a candidate, so that some point is within any budget.
            [*_listed(self.methods), (self._free_model(sheet), {"budget": [0.0]})],
            rows.table,
            rows.y,
            sheet,
            scoring=self.scoring,
            cv=_FOLDS if self.cv is None and few else self.cv,
            budget=budget,
            budget_kind=self.budget_kind,
            sample_weight=rows.weights,
            memory=self.memory,
            n_jobs=self.n_jobs,
            progress=self.progress,
            time_limit=self.time_limit,
            random_state=self.random_state,
        )

    def _learn(self, rows: TrainingSet) -> FittedModel:  # noqa: ARG002 - the sweep needs the table itself
        raise TypeError(
            f"{type(self).__name__} learns through the fit of the model it chooses; call its fit first, "
            "and pass the fitted model to the estimator that needs it"
        )

    def file_params(self) -> dict[str, Any]:
        """Return the parameters without the objects that were tried or scored by."""
        params = super().file_params()
        # Only names can be stored in a file. Loading builds no objects that the user has passed in.
        methods = params["methods"]
        listed = methods if isinstance(methods, list | tuple) else [methods]
        named = all(isinstance(name, str) for name in listed)
        params["methods"] = methods if named else "auto"
        for name in ("scoring", "cv", "memory"):
            params[name] = params[name] if isinstance(params[name], str | int | NoneType) else None
        return params


def budget_of(budget: Any, sheet: CostSheet) -> float | None:
    """Return a budget as a number; "20%" is a share of the cost of all features.

    Examples
    --------
    >>> budget_of("20%", CostSheet([3.0, 7.0]))
    2.0
    """
    if isinstance(budget, str):
        found = _SHARE.fullmatch(budget)
        if found is None:
            raise ValueError(f"budget must be a number or a share such as '20%'; got {budget!r}")
        return check_cap(float(found[1]) / 100 * sheet.total(sheet.features))
    return check_cap(budget)


def _held_to(budget: float, model: Any, rows: SweepRows) -> Any:
    """Return a refitted model, or a variant of it that keeps the mean budget on all rows.

    With more rows trees grow larger and spend more. Among the variants within the budget, those with the
    fewest changed parameters are the nearest; the most expensive of these is taken. If none is within the
    budget, the cheapest variant is taken.
    """

    def spend(variant: Any) -> float:
        return float(np.average(variant.spend(rows.table), weights=rows.weights))

    limit = spending_limit(budget)
    if spend(model) <= limit:
        return model
    tried = [(len(params), spend(variant), variant) for params, variant in model.variants()]
    within = [(-changed, spent, variant) for changed, spent, variant in tried if spent <= limit]
    if within:
        return max(within, key=lambda one: one[:2])[2]
    return min(tried, key=lambda one: one[1])[2]


def _listed(methods: Any) -> list[Any]:
    return [methods] if isinstance(methods, str | type) or hasattr(methods, "fit") else list(methods)


def _choose(frontier: Frontier, budget: float | None, *, hard: bool) -> Point:
    found = frontier.choose(budget, hard=hard)
    if found is None:
        reasons = sorted({f"{failure.method}: {failure.reason}" for failure in frontier.failures})
        raise ValueError(f"no method could be fitted: {'; '.join(reasons[:3])}")
    return found


def _warn_if_nothing(sheet: CostSheet, budget: float | None, chosen: Point) -> None:
    prices = [sheet.price(name) for name in sheet.features]
    if budget is not None and chosen.max_spend == 0 and budget < min(prices):
        warnings.warn(
            f"a budget of {budget:g} buys no feature, the cheapest of which costs {min(prices):g}; "
            "the model gives the best guess without any feature",
            BudgetWarning,
            stacklevel=3,
        )
