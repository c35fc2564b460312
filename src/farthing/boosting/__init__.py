"""Boosting, with and without prices."""

from farthing.boosting.gradient import GradientBoostingRegressor
from farthing.boosting.miser import PriceLevel
from farthing.boosting.miser_classifier import GreedyMiserClassifier
from farthing.boosting.miser_ranker import GreedyMiserRanker
from farthing.boosting.miser_regressor import GreedyMiserRegressor

__all__ = [
    "GradientBoostingRegressor",
    "GreedyMiserClassifier",
    "GreedyMiserRanker",
    "GreedyMiserRegressor",
    "PriceLevel",
]
