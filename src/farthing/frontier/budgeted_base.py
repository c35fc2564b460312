"""The base of `BudgetedClassifier` and `BudgetedRegressor`: sweep, choose within the budget, fit again."""

from __future__ import annotations

import time
import warnings
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from numbers import Integral
from types import NoneType
from typing import Any, Final, Self

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.utils.validation import check_consistent_length, check_is_fitted

from farthing.base import (
    BudgetedEstimator,
    BudgetKind,
    FittedModel,
    Frontier,
    Guarantee,
    Point,
    TrainingSet,
)
from farthing.base.inputs import warn_one_class
from farthing.base.parameters import JOBS, NON_NEGATIVE, one_of
from farthing.costs import CostSheet, CostsLike, split_budget
from farthing.deadline import deadline
from farthing.distributed.detect import is_collection
from farthing.errors import BudgetWarning
from farthing.frontier.budget_amount import budget_of
from farthing.frontier.budgeted_model import ChosenModel
from farthing.frontier.data_split import SweepRows, default_folds
from farthing.frontier.delivery import LastFitLimit, deliver, of_fold
from farthing.frontier.fold_curves import SettingCurves
from farthing.frontier.last_fit import Delivery, deliver_again, mixed_with
from farthing.frontier.other_budgets import OtherBudgets
from farthing.frontier.sweep import run_sweep
from farthing.frontier.sweep_run import all_cores
from farthing.frontier.weighed_choice import weighed_fit
from farthing.learning.guarantees import Ladder, certify, nominal_budgets, ordering_rows
from farthing.table import PreparedTable

# The part of a time limit that the sweep may take; the rest is for the fit on all rows.
_SWEEP_SHARE: Final = 0.65

PARAMETERS: Final = """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    budget : float, str, mapping of str to these, or None
        What a row may spend: a number, or a share of the cost of all features such as "20%". None
        means no limit. A mapping caps the costs, by their unit, and further resources of the cost sheet:
        ``{{"USD": 100, "minutes": 30}}``. Then fits are made on weighted sums of the costs and the capped
        resources, three weights for each of these; see `farthing.frontier.weighed_choice`.
    budget_kind : {{"mean", "hard"}}
        Whether the budget limits the mean spend, as estimated for new rows and measured on those the model
        was fitted on, or the spend of every row.
    free : str or list of str, optional
        Columns that cost nothing, whatever the prices say, such as what is known of every row.
    mixture : bool
        Whether a mean budget that lies between two models of the chosen fit is filled by a coin: of the rows
        whose predictions are asked for with ``seeds``, a share takes the more expensive model. A row's seed
        decides for good; a row without a seed takes the cheaper one.
    methods : "auto", "all" or list
        What to try, as in `farthing.sweep`: "auto" is a selection of up to a dozen settings, "all" is every
        registered method that can learn the target. They race: settings that cannot win are not fitted on
        all folds; see `farthing.frontier.race`. The method that was best on other tables is taken unless
        another one is clearly better; see `farthing.frontier.paired_choice`.
    scoring : {scoring}
        The score to maximise; see `farthing.sweep`.
    cv : int, splitter or None
        How to evaluate, as in `farthing.sweep`; None means five folds below 3,000 rows, else one split.
    time_limit : float, optional
        Seconds for the whole of `fit`. Fits that are under way when their time is over are cut off; the best
        model so far is kept.
    memory : path, optional
        A folder for intermediate results, so that an interrupted fit continues where it stopped.
    progress : bool
        Whether to show a progress bar.
    random_state : int
        Seed, as in `farthing.sweep`.
    n_jobs : int, optional
        Number of fits in parallel, as in joblib. None is one after another, each with as many threads as it
        is worth."""


CONSTRAINTS: Final[dict[str, Any]] = {
    "budget_kind": [one_of("mean", "hard")],
    "time_limit": [NON_NEGATIVE, None],
    "progress": ["boolean"],
    "mixture": ["boolean"],
    "random_state": [Integral],
    "n_jobs": JOBS,
}
"""Allowed values of the parameters; budget, costs, methods, scoring and cv are checked where used."""


GUARANTEED: Final = """guarantee : Guarantee, optional
        What shall hold on new rows, such as a mean spend, with which confidence, in place of ``budget``. A
        part of the rows is kept for its test, which takes the variant of the chosen fit; ``certificate_``
        says what holds."""


class BudgetedBase(OtherBudgets):
    """Base class: sweep, choose, fit again on all rows, and predict as the chosen model."""

    #: What shall hold on new rows; a parameter where rows are independent.
    guarantee: Guarantee | None = None

    def __init__(
        self,
        costs: CostsLike,
        budget: float | str | Mapping[str, Any] | None,
        *,
        budget_kind: BudgetKind,
        free: Any,
        mixture: bool,
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
        self.free = free
        self.mixture = mixture
        self.methods = methods
        self.scoring = scoring
        self.cv = cv
        self.time_limit = time_limit
        self.memory = memory
        self.progress = progress
        self.random_state = random_state
        self.n_jobs = n_jobs

    # What the classifier and the regressor implement.

    def _weighted(self, rows: SweepRows) -> SweepRows:
        """Return the rows with the weights of their classes, if there are any."""
        return rows

    def _sweep_options(self) -> dict[str, Any]:
        """Return further options of `run_sweep`."""
        return {}

    @abstractmethod
    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        """Return a model that pays for nothing, if its budget is 0."""

    @abstractmethod
    def _chosen_model(self, header: dict[str, Any], rows: SweepRows) -> ChosenModel:
        """Return the fitted model around the chosen one; ``header`` has the fields of `ChosenModel`."""

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sweep over the methods, choose within the budget, and fit the chosen one on all rows.

        Parameters
        ----------
        X : array, frame or PreparedTable, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are allowed. It is read once. Or a Dask
            array or dataframe, see `farthing.sweep`; without ``guarantee`` and ``calibrate``.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
        """
        if self.guarantee is not None:
            return self._fit_with(self.guarantee, X, y, sample_weight)
        return self._choose(X, y, sample_weight)

    def _fit_with(self, guarantee: Guarantee, X: Any, y: Any, sample_weight: Any) -> Self:
        """Fit on a part of the rows, and choose the variant that keeps a guarantee by the others."""
        self._validate_params()
        if self.budget is not None or self.budget_kind == "hard":
            raise ValueError(
                "a guarantee is in place of budget, and of a mean spend: a hard budget holds on every row; "
                "leave out budget and budget_kind"
            )
        if sample_weight is not None:
            raise ValueError("a guarantee counts rows, so they have no weights; leave out sample_weight")
        if is_collection(X):
            self.refuse_on_collections("guarantee")
        table = PreparedTable.of(X, type(self).__name__)
        target = np.asarray(y)
        check_consistent_length(table.values, target)
        order = np.random.default_rng(self.random_state).permutation(len(target))
        n_tested = round(guarantee.holdout * len(target))
        learned, tested = np.sort(order[n_tested:]), np.sort(order[:n_tested])
        within: Self = clone(self).set_params(guarantee=None, budget=guarantee.budget)
        within.fit(table.take(learned), target[learned])
        ordering = table.take(learned[ordering_rows(len(learned))])
        made = certify(within, table.take(tested), guarantee, learned=ordering)
        return self.adopt(made.fitted_)

    def guarantee_ladder(self, guarantee: Guarantee) -> Ladder:
        """Return the variants of the chosen fit at nominal budgets."""
        if self.budget_kind == "hard":
            raise ValueError("a hard budget holds on every row already; fit with budget_kind='mean'")
        return Ladder(tuple(nominal_budgets(self, guarantee)), None, self._moved)

    def _choose(self, X: Any, y: Any, sample_weight: Any, *, qid: Any = None) -> Self:
        """Do what `fit` does, for rows that may belong to queries."""
        self._validate_params()
        start = time.time()
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        given = self._given(X, y, sample_weight, qid)
        classes = self._encode_target(given.y)[1]
        warn_one_class(classes)
        all_rows = self._weighted(given)
        rows = all_rows.of_positive_weight()
        sheet = self._prices(given)
        if split_budget(self.budget, sheet)[1]:
            self._check_weighed(X)
            return self.adopt(weighed_fit(self, all_rows, sheet))
        budget = budget_of(self.budget, sheet)
        # All rows go to the sweep: folds that the user gives are numbered over rows of weight zero too.
        # A single class is predicted for nothing, whatever the method.
        methods = [] if classes is not None and len(classes) == 1 else _listed(self.methods)
        frontier, settings = self._sweep(
            methods, all_rows, sheet, budget, start, folds=default_folds(len(rows.y))
        )
        _check_some_fitted(frontier, settings)
        # The sweep fitted on part of the rows; the model that is kept learns from all of them.
        hard = self.budget_kind == "hard"
        limit = None
        if self.time_limit is not None:
            limit = LastFitLimit(start + (1 - self._later_share()) * self.time_limit, self.time_limit)
        with all_cores(self.n_jobs):
            found = deliver(settings, rows, budget, hard=hard, limit=limit, progress=self.progress)
        if found is None:
            raise ValueError(f"no model is within the budget of {budget!r}")
        self._adopt(found, frontier, rows, budget, start)
        return self

    def _check_weighed(self, X: Any) -> None:
        """Raise an error if a budget of several resources does not go with the rest."""
        if self.mixture:
            raise ValueError("mixture fills one budget; leave it out where several resources are capped")
        if is_collection(X):
            self.refuse_on_collections("budget")

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the chosen setting again, on new rows: one fit, without a new choice.

        The model is aimed at the budget on the new rows. Its score is the one that was estimated for models
        of its spend when it was chosen.

        Parameters
        ----------
        X, y, sample_weight
            As in `fit`; the columns are those of the first fit.

        Returns
        -------
        estimator
            A new one; this one is left as it is.
        """
        check_is_fitted(self)
        fitted = self._fitted()
        if isinstance(self.budget, Mapping) and split_budget(self.budget, fitted.costs)[1]:
            raise ValueError("a budget of several resources needs a new choice; call fit again")
        given = self._given(X, y, sample_weight)
        rows = self._weighted(given).of_positive_weight()
        sheet = self._prices(given)
        budget = budget_of(self.budget, sheet)
        again: Self = clone(self)
        with all_cores(self.n_jobs):
            found = deliver_again(
                fitted.model, fitted.path, rows, budget, hard=self.budget_kind == "hard", growth=fitted.growth
            )
        params = {**fitted.chosen.params, **found.chosen.params}
        found = replace(found, chosen=replace(found.chosen, method=fitted.chosen.method, params=params))
        again._adopt(found, fitted.frontier, rows, budget, time.time())
        return again

    def fitted_again(self, X: Any, y: Any) -> Self:
        """Return the chosen setting fitted on other rows, see `refit`."""
        return self.refit(X, y)

    def _given(self, X: Any, y: Any, sample_weight: Any, qid: Any = None) -> SweepRows:
        """Check what the user gives."""
        name = type(self).__name__
        if is_collection(X):
            return SweepRows.of(X, y, sample_weight, qid, name)
        table = PreparedTable.of(X, name)
        check_consistent_length(table.values, self._encode_target(y)[0])
        return SweepRows.of(table, y, sample_weight, qid)

    def _prices(self, rows: SweepRows) -> CostSheet:
        names = rows.table.schema.names
        return CostSheet.of(self.costs, names).with_free(() if self.free is None else self.free)

    def _adopt(
        self,
        found: Delivery,
        frontier: Frontier,
        rows: SweepRows,
        budget: float | None,
        start: float,
    ) -> None:
        """Take a model over, with its figures."""
        within = found.model.fitted_
        # A hard budget is capped in prediction whatever the chosen method: one that knows no budget keeps it
        # too.
        cap = budget if self.budget_kind == "hard" and budget is not None else within.budget
        less = found.optimism
        mixed = self._mixed(found, budget)
        header = {
            "schema": within.schema,
            "costs": within.costs,
            "budget": cap,
            "model": found.model,
            "chosen": replace(found.chosen, score=found.chosen.score - less),
            "path": [replace(point, score=point.score - less) for point in found.path],
            "frontier": found.with_models(frontier),
            "optimism": less,
            "growth": found.growth,
            **mixed,
        }
        with deadline(None if self.time_limit is None else start + self.time_limit):
            self.adopt(self._chosen_model(header, rows))
        if mixed["above"] is None:
            _warn_if_nothing(within.costs.without_calls(), budget, found.chosen)

    def _mixed(self, found: Delivery, budget: float | None) -> dict[str, Any]:
        """Return the more expensive model that the budget pays for on a share of the rows, if asked for."""
        if not self.mixture or budget is None or self.budget_kind == "hard":
            return {"above": None, "share": 0.0}
        row_cap = found.model.fitted_.budget
        return mixed_with(found.model, found.chosen, found.path, budget, row_cap=row_cap)

    def _later_share(self) -> float:
        """Return the part of a time limit that is kept for what follows the last fit."""
        return 0.0

    def _sweep(
        self,
        methods: list[Any],
        rows: SweepRows,
        sheet: CostSheet,
        budget: float | None,
        start: float,
        *,
        folds: int | None,
    ) -> tuple[Frontier, list[SettingCurves]]:
        options = {"scoring": self.scoring, **self._sweep_options()}
        time_limit = fit_limit = None
        if self.time_limit is not None:
            share = 1 - self._later_share()
            end = start + _SWEEP_SHARE * share * self.time_limit
            time_limit = max(end - time.time(), 0.0)
            fit_limit = of_fold((1 - _SWEEP_SHARE) * share * self.time_limit)
        return run_sweep(
            # A model that buys nothing is always a candidate, so that some point is within any budget. It
            # comes first, since it is fitted in no time.
            [(self._free_model(sheet), {"budget": [0.0]}), *methods],
            rows,
            sheet,
            cv=folds if self.cv is None else self.cv,
            budget=budget,
            budget_kind=self.budget_kind,
            memory=self.memory,
            n_jobs=self.n_jobs,
            progress=self.progress,
            time_limit=time_limit,
            random_state=self.random_state,
            classifies=is_classifier(self),
            fit_limit=fit_limit,
            is_race=True,
            **options,
        )

    def _learn(self, rows: TrainingSet) -> FittedModel:  # the sweep needs the table itself
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


def _listed(methods: Any) -> list[Any]:
    return [methods] if isinstance(methods, str | type) or hasattr(methods, "fit") else list(methods)


def _check_some_fitted(frontier: Frontier, settings: Sequence[SettingCurves]) -> None:
    """Raise ValueError if all that was left of the methods is the model that buys nothing."""
    # It never fails.
    if len(settings) <= 1 and frontier.failures:
        reasons = sorted({f"{failure.method}: {failure.reason}" for failure in frontier.failures})
        raise ValueError(f"no method could be fitted: {'; '.join(reasons)}")


def _warn_if_nothing(sheet: CostSheet, budget: float | None, chosen: Point) -> None:
    prices = [sheet.price(name) for name in sheet.features]
    if budget is not None and chosen.max_spend == 0 and budget < min(prices):
        warnings.warn(
            f"a budget of {budget:g} buys no feature, the cheapest of which costs {min(prices):g}; "
            "the model gives the best guess without any feature",
            BudgetWarning,
            stacklevel=3,
        )
