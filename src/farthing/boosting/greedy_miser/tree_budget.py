"""Warnings about a budget that trees and features compete for."""

from __future__ import annotations

from dataclasses import dataclass

from farthing.costs import CostSheet, spending_limit
from farthing.errors import BudgetWarning, warn


@dataclass(frozen=True, slots=True)
class TreeBudget:
    """A budget of trees and features, and what of it the trees of a fit took.

    Parameters
    ----------
    budget : float
        Of trees and features together.
    tree_cost : float
        Cost of evaluating one tree.
    trees_per_round : int
        Trees of one round of boosting.
    n_estimators : int
        Rounds asked for.
    costs : CostSheet
        Prices of the features.
    """

    budget: float
    tree_cost: float
    trees_per_round: int
    n_estimators: int
    costs: CostSheet

    @property
    def cheapest(self) -> float:
        """The least price of a feature."""
        return min(self.costs.price(name) for name in self.costs.features)

    def warn_of_starved_features(self, n_reserved: int) -> bool:
        """Warn, and return True, if the trees set aside leave less than the cheapest feature costs.

        Parameters
        ----------
        n_reserved : int
            Number of trees that are paid for before any feature.
        """
        left = max(0.0, self.budget - self.tree_cost * n_reserved)
        if not self.tree_cost or self.cheapest <= spending_limit(left):
            return False
        warn(
            f"tree_cost={self.tree_cost:g} times {n_reserved} trees would leave {left:g} of "
            f"budget={self.budget:g} for features, the cheapest of which costs {self.cheapest:g}: the model "
            f"buys none and predicts the prior; {self._remedy()}",
            BudgetWarning,
        )
        return True

    def _remedy(self) -> str:
        of_a_round = self.tree_cost * self.trees_per_round
        # With the slack, (10 - 1) / 0.1 = 89.99999999999999 counts as 90.
        rounds = int(spending_limit(max(0.0, self.budget - self.cheapest) / of_a_round))
        if rounds >= 1:
            return f"set n_estimators to {rounds} or less, raise budget or lower tree_cost"
        return f"raise budget to at least {self.cheapest + of_a_round:g}, or lower tree_cost"

    def warn_of_missing_rounds(self, n_rounds: int, evaluation_cost: float) -> None:
        """Warn that the budget ended boosting after so many rounds, whose trees cost so much."""
        warn(
            f"budget={self.budget:g} ended boosting after {n_rounds} of {self.n_estimators} rounds, whose "
            f"trees cost {evaluation_cost:g} and leave {max(0.0, self.budget - evaluation_cost):g} for "
            f"features: raise budget, lower tree_cost, or raise tradeoff so that fewer features are bought; "
            f"n_estimators={n_rounds} asks for no more",
            BudgetWarning,
        )
