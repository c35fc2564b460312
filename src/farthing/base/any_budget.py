"""Estimators whose fitted model can be moved to other budgets without learning again."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, ClassVar, Self

from sklearn.utils.validation import check_is_fitted

from farthing.base.estimator import BudgetedEstimator
from farthing.base.fitted import FittedModel
from farthing.base.fitted_estimator import BudgetKind
from farthing.base.inputs import check_cap


class BudgetPathMixin(BudgetedEstimator):
    """One fit for several budgets: `model_at` moves a fitted model to a budget of `other_budgets`."""

    @abstractmethod
    def model_at(self, cap: float | None, budget_kind: BudgetKind) -> FittedModel:
        """Return the fitted model for another budget; it shares the learned parts. None means no limit."""

    @abstractmethod
    def other_budgets(self) -> list[float]:
        """Return the budgets that `variants` tries, ascending."""

    def at(self, budget: float | None) -> Self:
        """Return the estimator for another budget; it shares the learned parts.

        Parameters
        ----------
        budget : float or None
            As the parameter; None means no limit.

        Returns
        -------
        estimator
            What `fit` with that budget gives.
        """
        check_is_fitted(self)
        model = self.model_at(check_cap(budget), self.budget_kind)
        # A certificate is of one variant.
        return self.variant({"budget": budget}, replace(model, certificate=None))

    def variants(self) -> Iterator[tuple[dict[str, Any], Self]]:
        """Yield other budgets, see `BudgetedEstimator.variants`; the model itself comes last."""
        check_is_fitted(self)
        for budget in self.other_budgets():
            yield {"budget": budget}, self.at(budget)
        yield {}, self


class AnyBudgetMixin(BudgetPathMixin):
    """One fit for all budgets.

    Budgets are compared on rows held out within the fit, so a larger budget is assumed to be no worse.
    """

    #: Budgets that `variants` tries, as fractions of the cost of all features.
    budget_shares: ClassVar[Sequence[float]] = (
        0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.3, 0.5, 0.7, 1.0,
    )  # fmt: skip

    def other_budgets(self) -> list[float]:
        """Return the budgets that `variants` tries, ascending."""
        costs = self.fitted_.costs
        whole = costs.total(costs.features)
        return sorted({share * whole for share in self.budget_shares})

    def held_out_spend(self) -> float | None:
        """Return what this model spent on average on rows held out within the fit; None if unknown."""
        return None
