"""Boosting, with and without prices."""

from farthing.boosting.gradient import GradientBoostingRegressor

__all__ = ["GradientBoostingRegressor"]
