"""Boosting, with and without prices."""

from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.gradient import GradientBoostingRegressor

__all__ = ["AdaBoostClassifier", "GradientBoostingRegressor"]
