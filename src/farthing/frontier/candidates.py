"""The candidates of a sweep: settings of methods."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import zip_longest
from typing import Any, Final

from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.model_selection import ParameterGrid

from farthing.base import BudgetedEstimator, ContractClassifier, SweepContext, registered
from farthing.base.registry import (
    Grid,
    auto_grid,
    default_grid,
    get,
    is_registered,
    preferred,
    rank,
    time_rank,
)
from farthing.errors import TableError

# Words that stand for many methods, and where the grid of each method comes from.
_GRIDS: Final[Mapping[str, Callable[[str], Grid | None]]] = {"auto": auto_grid, "all": default_grid}


@dataclass(frozen=True, eq=False)
class Candidate:
    """A setting to fit.

    Attributes
    ----------
    method : str
        Name of the method.
    estimator : estimator
        At its parameters, unfitted.
    params : mapping
        The parameters that the grid sets.
    is_preferred : bool
        Whether it is of the method that did best on other tables, which others must clearly beat.
    """

    method: str
    estimator: Any
    params: Mapping[str, Any]
    is_preferred: bool = False


def candidates(methods: Any, context: SweepContext, *, fast_first: bool = False) -> list[Candidate]:
    """Return the settings to try, the first of each method before the second of any.

    Parameters
    ----------
    methods : "auto", "all", or iterable of names, classes, estimators and pairs of one of these and a grid
        "auto" is the small default grid of each registered method that can learn the target, up to a dozen
        fits in all; "all" is the whole grid of each. A name or a class stands for its registered grid, an
        estimator for itself alone; a pair adds a grid, as in scikit-learn's ``ParameterGrid``.
    context : SweepContext
        The table.
    fast_first : bool
        Whether the methods of "auto" and "all" are ordered by how long they take, not by how good they are.
    """
    order = time_rank if fast_first else rank
    rows = [list(_settings(given, context)) for given in _expand(methods, context, order)]
    best = _preferred({type(row[0].estimator) for row in rows if row}, context)
    rows = [[replace(one, is_preferred=type(one.estimator) is best) for one in row] for row in rows]
    # Round robin over the methods: if the time limit cuts the sweep short, every method has had a turn.
    turns = zip_longest(*rows)
    return [candidate for turn in turns for candidate in turn if candidate is not None]


def _preferred(methods: set[type], context: SweepContext) -> type | None:
    """Return the method of the lowest rank among those that did best on other tables; None for none."""
    found = [method for method in methods if is_registered(method) and preferred(method.__name__)(context)]
    return min(found, key=lambda method: rank(method.__name__), default=None)


def suits(method: type, context: SweepContext) -> bool:
    """Return whether a registered method can learn the target, with independent rows."""
    if not issubclass(method, BudgetedEstimator) or not method.rows_are_independent:
        return False
    if context.is_collection and not _learns_from_collections(method()):
        return False
    if context.n_classes is None:
        return bool(is_regressor(method())) and _ranks(method) == context.ranks
    binary_only = issubclass(method, ContractClassifier) and method.binary_only
    return bool(is_classifier(method())) and not (binary_only and context.n_classes > 2)


def _learns_from_collections(estimator: BudgetedEstimator) -> bool:
    try:
        estimator.check_collection()
    except TableError:
        return False
    return True


def _expand(methods: Any, context: SweepContext, order: Callable[[str], Any]) -> list[Any]:
    given = [methods] if isinstance(methods, str | type | BaseEstimator) else list(methods)
    if not given:
        raise ValueError("methods must name at least one method")
    found: list[Any] = []
    for one in given:
        grid_of = _GRIDS.get(one) if isinstance(one, str) else None
        found += [one] if grid_of is None else _offered(grid_of, context, order)
    return found


def _offered(
    grid_of: Callable[[str], Grid | None], context: SweepContext, order: Callable[[str], Any]
) -> list[Any]:
    """Return the methods that suit, with their grids, by their order."""
    grids = {name: grid_of(name) for name in sorted(registered(), key=order)}
    return [(name, grid) for name, grid in grids.items() if grid is not None and suits(get(name), context)]


def _settings(given: Any, context: SweepContext) -> Iterator[Candidate]:
    grid: Any = None
    if isinstance(given, tuple):
        given, grid = given
    if isinstance(given, str):
        given = get(given)
    if isinstance(given, type):
        name, estimator = given.__name__, given()
        if grid is None and name in registered():
            grid = default_grid(name)
    else:
        name, estimator = type(given).__name__, given
    if not hasattr(estimator, "fit"):
        raise TypeError(f"methods must be names, classes or estimators; got {estimator!r}")
    if callable(grid) and (grid := grid(context)) is None:
        return  # a method may leave itself out
    for params in _points(grid):
        yield Candidate(name, clone(estimator).set_params(**_given(estimator, params, context)), params)


def _points(grid: Any) -> Iterable[Mapping[str, Any]]:
    return [{}] if not grid else list(ParameterGrid(grid))


def _given(estimator: Any, params: Mapping[str, Any], context: SweepContext) -> dict[str, Any]:
    """Return the parameters with prices of features and errors, a seed, and a budget of the right kind."""
    known = estimator.get_params(deep=False)
    made = dict(params)
    # Prices and budgets of a sweep are over columns; what asks devices has its own.
    by_columns = getattr(estimator, "asks", "columns") == "columns"
    if "costs" in known and by_columns:
        made["costs"] = context.costs
    if known.get("error_costs", 0) is None and params.get("error_costs") is None:
        made["error_costs"] = context.error_costs
    # Only where the user has set none: a sweep with the same seed is then repeatable.
    if known.get("random_state", 0) is None and params.get("random_state") is None:
        made["random_state"] = context.random_state
    # A mean budget is not a hard one: a method gets the budget only if it understands this kind.
    kind = getattr(estimator, "budget_kind", "mean")
    asked = context.budget is not None and kind == context.budget_kind and by_columns
    if "budget" in known and known["budget"] is None and params.get("budget") is None and asked:
        made["budget"] = context.budget
    return made


def _ranks(method: type) -> bool:
    return "qid" in inspect.signature(method.fit).parameters  # type: ignore[attr-defined]
