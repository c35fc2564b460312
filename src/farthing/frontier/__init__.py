"""The frontier of spend and score over many methods, and the best model within a budget."""

from farthing.base import ErrorCosts, Failure, Frontier, Point
from farthing.frontier.budgeted_classifier import BudgetedClassifier
from farthing.frontier.budgeted_ranker import BudgetedRanker
from farthing.frontier.budgeted_regressor import BudgetedRegressor
from farthing.frontier.sweep import sweep
from farthing.frontier.weight_sweep import WeightedPoint, WeightSweep, sweep_weights

__all__ = [
    "BudgetedClassifier",
    "BudgetedRanker",
    "BudgetedRegressor",
    "ErrorCosts",
    "Failure",
    "Frontier",
    "Point",
    "WeightSweep",
    "WeightedPoint",
    "sweep",
    "sweep_weights",
]
