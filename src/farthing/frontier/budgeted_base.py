"""The front door: a table, prices and a budget in, the best model that fits out; what estimators share."""

from __future__ import annotations

import re
import warnings
from abc import abstractmethod
from collections.abc import Mapping
from types import NoneType, UnionType
from typing import Any, ClassVar, Final, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_consistent_length, column_or_1d

from farthing.base import BudgetedEstimator
from farthing.base.inputs import check_cap, n_threads
from farthing.costs import CostSheet, RowLedger
from farthing.errors import BudgetWarning
from farthing.frontier.candidates import Kind
from farthing.frontier.data_split import Part
from farthing.frontier.frontier import SLACK, Frontier, Point
from farthing.frontier.sweep import sweep
from farthing.table import Encoded, Schema
from farthing.walks import Policy

_SHARE: Final = re.compile(r"\s*([0-9][0-9.eE+-]*)\s*%\s*")
# Below so many rows a single split is too noisy to choose by, and folds are cheap.
_FEW_ROWS: Final = 3000
_FOLDS: Final = 5

PARAMETERS: Final = """costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    budget : float, str or None
        What a row may spend: a number, or a share of the cost of all features such as "20%". None is no
        limit.
    budget_kind : {{"mean", "hard"}}
        Whether the budget is for the mean over the rows, as the rows that chose the model and those that it
        was fitted on see it, or for every row.
    methods : "auto", "all" or list
        What to try, as in `farthing.sweep`: "auto" is a choice of some twenty fits, "all" is every
        registered method that can learn the target.
    scoring : {scoring}
        What is best; see `farthing.sweep`.
    cv : int, splitter or None
        How to judge, as in `farthing.sweep`; None is five folds for tables below 3,000 rows, else one split.
    time_limit : float, optional
        Seconds after which no new setting is tried.
    memory : path, optional
        A folder that remembers what is done, so that an interrupted fit goes on where it stopped.
    progress : bool
        Whether to show a bar.
    random_state : int
        Of the split.
    n_jobs : int, optional
        Fits side by side, as in joblib."""


class BudgetedBase(BudgetedEstimator):
    """What the classifier and the regressor share: sweep, choose, fit again, answer as the one chosen."""

    _stored: ClassVar[Mapping[str, type | UnionType]] = {"model_": BudgetedEstimator, "chosen_": Point}
    model_: Any
    frontier_: Frontier
    chosen_: Point

    def __init__(
        self,
        costs: Any,
        budget: float | str | None,
        *,
        budget_kind: Kind,
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

    # What the two differ in.

    @abstractmethod
    def _free_model(self, sheet: CostSheet) -> BudgetedEstimator:
        """Return a model that pays for nothing, if its budget is 0."""

    @abstractmethod
    def _adopt_model(self, rows: Part) -> None:
        """Take over what prediction needs of the chosen model beside its prior."""

    @abstractmethod
    def _said(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return our raw outputs for those of the chosen model."""

    # Learning.

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Sweep over the methods, choose within the budget, and fit the chosen one on all rows.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights.

        Returns
        -------
        self
        """
        if self.budget_kind not in ("mean", "hard"):
            raise ValueError(f"budget_kind must be 'mean' or 'hard'; got {self.budget_kind!r}")
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None")
        schema = Schema.learn(X, type(self).__name__)
        target = self._learn_target(y)
        check_consistent_length(schema.encode(X, type(self).__name__).values, target)
        rows = Part.of(X, y, sample_weight).counted()
        sheet = CostSheet.of(self.costs, schema.names)
        budget = budget_of(self.budget, sheet)
        self.frontier_ = sweep(
            [*_listed(self.methods), (self._free_model(sheet), {"budget": [0.0]})],
            X,
            column_or_1d(y),
            sheet,
            scoring=self.scoring,
            cv=_FOLDS if self.cv is None and len(rows.y) < _FEW_ROWS else self.cv,
            budget=budget,
            budget_kind=self.budget_kind,
            sample_weight=sample_weight,
            memory=self.memory,
            n_jobs=self.n_jobs,
            progress=self.progress,
            time_limit=self.time_limit,
            random_state=self.random_state,
        )
        self.chosen_ = _choose(self.frontier_, budget, hard=self.budget_kind == "hard")
        self.model_ = clone(self.chosen_.estimator).fit(rows.X, rows.y, rows.weights)
        if self.budget_kind == "mean" and budget is not None:
            self.model_ = _held_to(budget, self.model_, rows)
        if not isinstance(self.model_, BudgetedEstimator):
            raise TypeError(
                f"{self.chosen_.method} does not keep the contract, so it cannot be the model; "
                "farthing.sweep takes any estimator, for comparison"
            )
        self._adopt(self.model_.schema_)
        self.costs_ = self.model_.costs_
        self.budget_ = budget if self.budget_kind == "hard" and budget is not None else self.model_.budget_
        self._adopt_model(rows)
        self.prior_ = self._model_prior()
        _warn_if_nothing(sheet, budget, self.chosen_)
        return self

    def _fit(self, *_: Any) -> None:
        raise TypeError(
            f"{type(self).__name__} learns through the fit of the model it chooses; call its fit first, "
            "and give the fitted model to the one that needs it"
        )

    def _file_params(self) -> dict[str, Any]:
        # Objects that were tried, or judged, are not part of what was chosen.
        params = super()._file_params()
        methods = params["methods"]
        listed = methods if isinstance(methods, list | tuple) else [methods]
        named = all(isinstance(name, str) for name in listed)
        params["methods"] = methods if named else "auto"
        for name in ("scoring", "cv", "memory"):
            params[name] = params[name] if isinstance(params[name], str | int | NoneType) else None
        return params

    def _model_prior(self) -> NDArray[np.float64]:
        """Return what the chosen model says without looking, as we say it."""
        return np.atleast_1d(self.model_._conclude(self.model_.prior_[np.newaxis])[0])

    # Predicting.

    def _policy(self, seed: int | None) -> Policy:
        return _Spoken(self, self.model_._policy(seed))

    def _answers(
        self,
        encoded: Encoded,
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64] | None,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        outputs, acquired = self.model_._answers(encoded, budget, seeds)
        return self._said(outputs), acquired

    def _check_stored(self) -> None:
        super()._check_stored()
        n_threads(self.n_jobs)
        if self.model_.schema_ != self.schema_ or self.model_.costs_ != self.costs_:
            raise ValueError("the columns and costs must be those of the model within")
        if not np.array_equal(self._model_prior(), self.prior_):
            raise ValueError("prior_ must be that of the model within")


class _Spoken:
    """The walk of the chosen model, with our outputs."""

    def __init__(self, door: BudgetedBase, policy: Policy) -> None:
        self._door = door
        self._policy = policy

    def wants(self, ledger: RowLedger) -> int | None:
        return self._policy.wants(ledger)

    def hear(self, column: int, value: float) -> None:
        self._policy.hear(column, value)

    def output(self) -> NDArray[np.float64]:
        return np.asarray(self._door._said(self._policy.output()[np.newaxis])[0])


def budget_of(budget: Any, sheet: CostSheet) -> float | None:
    """Return a budget as a number: a share such as "20%" is of the cost of all features.

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


def _held_to(budget: float, model: Any, rows: Part) -> Any:
    """Return a model that was fitted again on more rows, or a variant that keeps the mean budget on them.

    More rows let trees grow, and so spend. Of the variants within the budget those with the fewest parameters
    changed are the nearest, and of these the dearest is taken; the cheapest of all if none is within.
    """

    def spend(variant: Any) -> float:
        return float(np.average(variant.spend(rows.X), weights=rows.weights))

    limit = budget * SLACK
    if not isinstance(model, BudgetedEstimator) or spend(model) <= limit:
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
            "the model gives the best guess without looking",
            BudgetWarning,
            stacklevel=3,
        )
