"""Facts about a table that the default grid of a method may depend on."""

from __future__ import annotations

from dataclasses import dataclass

from farthing.base.error_costs import ErrorCosts
from farthing.base.fitted_estimator import BudgetKind
from farthing.costs import CostSheet


@dataclass(frozen=True, slots=True)
class SweepContext:
    """Table size, prices and budget of a sweep; the argument of grids that are callables.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    n_classes : int or None
        None for a regression.
    costs : CostSheet
        The prices.
    budget : float or None
        The requested budget, if there is exactly one.
    budget_kind : {"mean", "hard"}
        Whether the budget limits the mean spend or that of every row.
    random_state : int
        Seed for stochastic methods that were given none, so that a sweep is repeatable.
    ranks : bool
        Whether rows are documents, to be ranked within their queries.
    error_costs : ErrorCosts or None
        Prices of errors, if models are scored by them.
    is_collection : bool
        Whether the table is a Dask collection, from which only some methods learn.
    """

    n_rows: int
    n_features: int
    n_classes: int | None
    costs: CostSheet
    budget: float | None = None
    budget_kind: BudgetKind = "mean"
    random_state: int = 0
    ranks: bool = False
    error_costs: ErrorCosts | None = None
    is_collection: bool = False

    @property
    def mean_price(self) -> float:
        """Mean price of a feature, shared costs included."""
        names = self.costs.features
        return self.costs.total(names) / max(1, len(names))
