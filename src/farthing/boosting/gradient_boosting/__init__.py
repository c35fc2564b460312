"""Gradient boosting, cost-blind: the reference of the Greedy Miser."""

from farthing.boosting.gradient_boosting.regressor import GradientBoostingRegressor

__all__ = ["GradientBoostingRegressor"]
