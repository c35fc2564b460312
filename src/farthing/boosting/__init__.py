"""Boosting on a budget: AdaBoost and its budgeted variants, the Greedy Miser, and the cost-blind references."""

from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.adaboost_bt import AdaBoostBTClassifier
from farthing.boosting.adaboost_rs import AdaBoostRSClassifier
from farthing.boosting.gradient_boosting import GradientBoostingRegressor
from farthing.boosting.greedy_miser import (
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
    l1_path,
    miser_path,
    subset_path,
)

__all__ = [
    "AdaBoostBTClassifier",
    "AdaBoostClassifier",
    "AdaBoostRSClassifier",
    "GradientBoostingRegressor",
    "GreedyMiserClassifier",
    "GreedyMiserRanker",
    "GreedyMiserRegressor",
    "l1_path",
    "miser_path",
    "subset_path",
]
