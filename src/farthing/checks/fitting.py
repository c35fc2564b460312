"""Fits for the checks, each made once and shared by all checks of an estimator."""

from __future__ import annotations

import warnings
from collections.abc import Iterable
from operator import itemgetter
from typing import Any, TypeVar

from sklearn.base import clone

from farthing.checks.problems import Problem
from farthing.costs import CostSheet
from farthing.errors import BudgetWarning

Case = TypeVar("Case")


def fit(estimator: Any, problem: Problem, sample_weight: Any = None, **params: Any) -> Any:
    """Fit a clone with the problem's prices, seed 0, and those of ``params`` that the estimator has."""
    for call in ("acquired", "spend", "walk", "save"):
        if not hasattr(estimator, call):
            raise AssertionError(f"{type(estimator).__name__} has no {call}(): it does not keep the contract")
    model = clone(estimator).set_params(**_settings(estimator, problem, params))
    options = {} if sample_weight is None else {"sample_weight": sample_weight}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)  # some budgets of the checks are meant to buy nothing
        return model.fit(problem.X, problem.y, **options)


class CheckedEstimator:
    """An estimator under check, with its problems and the models it gave so far.

    Many checks start from the same fit, and a fit takes most of their time.

    Parameters
    ----------
    estimator : estimator
        It is cloned, never changed.
    problems : list of Problem
        What it is checked on.
    """

    def __init__(self, estimator: Any, problems: list[Problem]) -> None:
        self.estimator = estimator
        self.problems = problems
        self._models: dict[tuple[object, ...], Any] = {}

    def dealt(self, problem: Problem, cases: Iterable[Case]) -> list[Case]:
        """Return the cases that fall to a table when they are dealt out in turn; a single table gets all.

        For checks of what does not depend on the kind of the columns: each case on one table shows it.
        """
        place = next(place for place, one in enumerate(self.problems) if one is problem)
        n_tables = sum(not one.is_wide for one in self.problems)
        return list(cases)[place::n_tables]

    def fit(self, problem: Problem, **params: Any) -> Any:
        """Return the result of `fit`, cached if possible; a check must not change it.

        Parameters
        ----------
        problem : Problem
            One of `problems`.
        **params
            Parameters of the estimator; those that it does not have are left out.
        """
        own = self.estimator.get_params()
        settings = _settings(self.estimator, problem, params)
        # A parameter that is set to its current value gives the same model: n_jobs=1 may find the first fit.
        # Costs are always part of the key, since an array of them cannot be compared with a sheet.
        changed = [
            (name, settings[name]) for name in settings if name == "costs" or own[name] != settings[name]
        ]
        # By identity: a problem holds arrays, which have no hash, and lives as long as this object.
        key = (id(problem), *sorted(changed, key=itemgetter(0)))
        if key not in self._models:
            self._models[key] = fit(self.estimator, problem, **params)
        return self._models[key]


def _settings(estimator: Any, problem: Problem, params: dict[str, Any]) -> dict[str, Any]:
    given = {"costs": problem.sheet, "random_state": 0, **params}
    own = estimator.get_params()
    return {name: value for name, value in given.items() if name in own}


def sheet_of(model: Any, problem: Problem) -> CostSheet:
    """Return the prices that the model was given, not those that it reports, and its calls."""
    sheet = problem.sheet if "costs" in model.get_params() else CostSheet.uniform(problem.names)
    reported = getattr(model, "costs_", None)
    return sheet.with_calls(reported.call_prices()) if isinstance(reported, CostSheet) else sheet


def scaled_prices(estimator: Any, factor: float) -> dict[str, float]:
    """Return the parameters of an estimator that are prices, times a factor; those that are set."""
    names, given = getattr(estimator, "price_parameters", ()), estimator.get_params()
    return {name: given[name] * factor for name in names if given[name] is not None}


def budget_parameter(problem: Problem, factor: float = 1.0) -> float:
    """Return half of what everything costs as a ``budget`` parameter, with prices times a factor."""
    return 0.5 * problem.total * factor


def tradeoff_of(estimator: Any) -> float | None:
    """Return the trade-off of an estimator; None if it has none."""
    return estimator.get_params().get("tradeoff")  # type: ignore[no-any-return]
