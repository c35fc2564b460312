"""Boosting, with and without prices."""

from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.gradient import GradientBoostingRegressor
from farthing.boosting.learners import LinearVotes, TreeVotes, WeightedVote
from farthing.boosting.sampling import AdaBoostRSClassifier

__all__ = [
    "AdaBoostClassifier",
    "AdaBoostRSClassifier",
    "LinearVotes",
    "TreeVotes",
    "WeightedVote",
    "GradientBoostingRegressor",
]
