"""Boosting, with and without prices."""

from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.budgeted import AdaBoostBTClassifier
from farthing.boosting.gradient import GradientBoostingRegressor
from farthing.boosting.learners import LinearVotes, TreeVotes, WeightedVote
from farthing.boosting.linear import l1_path
from farthing.boosting.miser_classifier import GreedyMiserClassifier
from farthing.boosting.miser_ranker import GreedyMiserRanker
from farthing.boosting.miser_regressor import GreedyMiserRegressor
from farthing.boosting.path import CostPath, Curve, PathPoint, miser_path, subset_path
from farthing.boosting.sampling import AdaBoostRSClassifier

__all__ = [
    "AdaBoostBTClassifier",
    "AdaBoostClassifier",
    "AdaBoostRSClassifier",
    "CostPath",
    "Curve",
    "GradientBoostingRegressor",
    "GreedyMiserClassifier",
    "GreedyMiserRanker",
    "GreedyMiserRegressor",
    "LinearVotes",
    "PathPoint",
    "TreeVotes",
    "WeightedVote",
    "l1_path",
    "miser_path",
    "subset_path",
]
