"""What a method may want to know of a table before it says which settings a sweep should try."""

from __future__ import annotations

from dataclasses import dataclass

from farthing.base.estimator import BudgetKind
from farthing.costs import CostSheet


@dataclass(frozen=True, slots=True)
class SweepContext:
    """The table, the prices and the budget of a sweep; a grid that is a callable gets this.

    Parameters
    ----------
    n_rows, n_features : int
        Size of the table.
    n_classes : int or None
        None for a regression.
    costs : CostSheet
        The prices.
    budget : float or None
        What is asked for, if it is one budget.
    budget_kind : {"mean", "hard"}
        Whether the budget is for the mean of the rows or for every row.
    random_state : int
        For stochastic methods that were given no seed, so that a sweep can be repeated.
    """

    n_rows: int
    n_features: int
    n_classes: int | None
    costs: CostSheet
    budget: float | None = None
    budget_kind: BudgetKind = "mean"
    random_state: int = 0

    @property
    def mean_price(self) -> float:
        """What a feature costs on average, shared costs included."""
        names = self.costs.features
        return self.costs.total(names) / max(1, len(names))
