"""Boosting, with and without prices."""

from farthing.boosting.adaboost import AdaBoostClassifier
from farthing.boosting.budgeted import AdaBoostBTClassifier
from farthing.boosting.gradient import GradientBoostingRegressor
from farthing.boosting.learners import LinearVotes, TreeVotes, WeightedVote
from farthing.boosting.sampling import AdaBoostRSClassifier

__all__ = [
    "AdaBoostBTClassifier",
    "AdaBoostClassifier",
    "AdaBoostRSClassifier",
    "GradientBoostingRegressor",
    "LinearVotes",
    "TreeVotes",
    "WeightedVote",
]
