"""What the fitted front door gives at other budgets and at other prices, without a new fit."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from farthing.base import AnyBudgetMixin, BudgetedEstimator, BudgetKind, FittedModel, Point
from farthing.costs import CostSheet, spending_limit, within_budget
from farthing.errors import BudgetWarning, RepriceError
from farthing.frontier.budget_amount import budget_of, resource_caps
from farthing.frontier.budgeted_model import ChosenModel
from farthing.frontier.last_fit import mixed_with, pick, reachable, variant_of


class OtherBudgets(BudgetedEstimator):
    """Base class of estimators around a chosen model whose variants serve other budgets."""

    budget_kind: BudgetKind
    mixture: bool
    free: Any

    def at(self, budget: float | str | Mapping[str, Any] | None) -> Self:
        """Return the model for another budget, without a new fit; it shares the learned parts.

        The method stays the one that was chosen. Of its variants, the one within the budget is taken; none
        spends more than the fit contains. If all of them spend more than a mean budget, the cheapest is
        taken, with a BudgetWarning.

        Parameters
        ----------
        budget : float, str, mapping or None
            As the parameter; a mean budget may cap resources that the fit capped. A hard budget caps every
            prediction; its score is not known, and NaN.

        Returns
        -------
        estimator
            Its ``chosen_`` has the spend and the score of the new model.
        """
        check_is_fitted(self)
        moved = self._moved(budget)
        cap, spend = budget_of(budget, self._fitted().costs), moved.chosen_.spend
        for name, limit in resource_caps(budget, self._fitted().costs).items():
            taken = moved.chosen_.details.get(name, 0.0)
            if self.budget_kind == "mean" and taken > spending_limit(limit):
                warnings.warn(
                    f"no variant of this fit takes {limit:.4g} {name} or less on average; the one taken "
                    f"takes {taken:.4g}. Fit with this budget, or pass it to predict, which limits every row",
                    BudgetWarning,
                    stacklevel=2,
                )
        if cap is not None and spend > spending_limit(cap):
            warnings.warn(
                f"no variant of this fit spends {cap:.4g} or less on average; the cheapest, which is taken, "
                f"spends {spend:.4g}. Fit with this budget for a cheaper model, or pass budget={cap:.4g} to "
                "predict, which limits every row",
                BudgetWarning,
                stacklevel=2,
            )
        return moved

    def _moved(self, budget: float | str | Mapping[str, Any] | None) -> Self:
        fitted = self._fitted()
        cap, caps = budget_of(budget, fitted.costs), resource_caps(budget, fitted.costs)
        model = fitted.model
        aims = isinstance(model, AnyBudgetMixin)
        if self.budget_kind == "hard":
            if aims and model.budget_kind == "hard" and not fitted.weights:
                model = model.at(cap)
            chosen = Point(fitted.chosen.method, fitted.chosen.params, math.nan, math.nan, math.nan)
            changed = replace(fitted, model=model, budget=cap, chosen=chosen, resource_caps=caps)
        else:
            found = pick(_within_caps(fitted.path, caps), cap, is_any_budget=aims)
            named = {**fitted.chosen.params, **found.params}
            chosen = replace(found, method=fitted.chosen.method, params=named)
            other = variant_of(model, found.params)
            mixed: dict[str, Any] = {"above": None, "share": 0.0}
            if self.mixture and cap is not None:
                mixed = mixed_with(model, chosen, fitted.path, cap, row_cap=other.fitted_.budget)
            # The variant may contain less than the whole fit; it contains itself.
            path = fitted.path
            if other is not model:
                path = [*reachable(path, other), replace(chosen, params={}, estimator=None)]
            # A variant of a hard budget keeps it within the mean one.
            changed = replace(
                fitted, model=other, budget=other.fitted_.budget, chosen=chosen, path=path, **mixed
            )
        return self.variant({"budget": budget}, replace(changed, certificate=None))

    def repriced(self, costs: CostSheet) -> FittedModel:
        """Return the chosen model at other prices, aimed at the budget by its held-out rows.

        The method stays the one that was chosen. Spends are those of its held-out rows, times how much more
        new rows spend; scores are not known, and NaN.
        """
        fitted = self._fitted()
        if fitted.weights:
            raise RepriceError("it learned by a weighted sum of resources; fit it again")
        model, name = fitted.model, type(fitted.model).__name__
        sheet = costs.with_free(() if self.free is None else self.free)
        if not isinstance(model, AnyBudgetMixin) or self.budget_kind == "hard":
            kind = "is chosen for a hard budget" if self.budget_kind == "hard" else "takes no budget"
            raise RepriceError(f"it chose {name}, which {kind}; fit it again")
        try:
            inner = model.reprice(sheet)
        except RepriceError as error:
            raise RepriceError(f"it chose one that cannot; {error}") from None
        aims = [float(spend) for spend in inner.other_budgets()]
        if hasattr(inner, "path"):
            aims = [point.spend for point in inner.path()]
        nan = math.nan
        path = [Point(name, {"budget": aim}, aim * fitted.growth, nan, nan) for aim in aims]
        found = pick(path, budget_of(self.budget, sheet), is_any_budget=True)
        chosen = replace(found, method=fitted.chosen.method, params={**fitted.chosen.params, **found.params})
        aimed = variant_of(inner, found.params)
        budget = aimed.fitted_.budget
        return replace(
            fitted, costs=sheet, model=aimed, chosen=chosen, path=path, budget=budget, above=None, share=0.0
        )

    def table(self, budgets: Sequence[float] | None = None) -> str:
        """Return a text table of what the model spends and scores at other budgets, see `at`.

        Parameters
        ----------
        budgets : sequence of float, optional
            None means 2, 5, 10, 20, 50 and 100 % of the full cost, or the budget itself if it is hard.
        """
        check_is_fitted(self)
        fitted = self._fitted()
        if budgets is None and self.budget_kind == "hard" and fitted.budget is not None:
            budgets = [fitted.budget]
            return fitted.frontier.table(budgets, choose=lambda _: fitted.chosen)
        return fitted.frontier.table(budgets, choose=lambda budget: self._moved(budget).chosen_)

    def _fitted(self) -> ChosenModel:
        fitted = self.fitted_
        if not isinstance(fitted, ChosenModel):
            raise TypeError(f"{type(self).__name__} holds a chosen model; got {type(fitted).__name__}")
        return fitted


def _within_caps(path: Sequence[Point], caps: Mapping[str, float]) -> Sequence[Point]:
    """Return the variants whose means keep caps of resources; if there is none, the cheapest."""
    if not caps:
        return path
    if unknown := [name for name in caps if name not in path[0].details]:
        raise ValueError(
            f"the fit did not measure what its variants take of {unknown[0]!r}; fit with this budget, or "
            "pass it to predict, which limits every row"
        )
    inside = [p for p in path if all(within_budget(p.details[name], cap) for name, cap in caps.items())]
    return inside or [min(path, key=lambda point: [point.details[name] for name in caps])]
