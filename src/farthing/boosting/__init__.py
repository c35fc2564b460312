"""Boosting, with and without prices."""

from farthing.boosting.adaboost.classifier import AdaBoostClassifier
from farthing.boosting.adaboost_bt.classifier import AdaBoostBTClassifier
from farthing.boosting.gradient_boosting.regressor import GradientBoostingRegressor
from farthing.learning.voting.votes import LinearVotes, TreeVotes, WeightedVote
from farthing.boosting.greedy_miser.l1_path import l1_path
from farthing.boosting.greedy_miser.classifier import GreedyMiserClassifier
from farthing.boosting.greedy_miser.ranker import GreedyMiserRanker
from farthing.boosting.greedy_miser.regressor import GreedyMiserRegressor
from farthing.boosting.greedy_miser.path import CostPath, Curve, PathPoint, miser_path, subset_path
from farthing.boosting.adaboost_rs.classifier import AdaBoostRSClassifier
from farthing.boosting.greedy_miser.staged import PriceLevel

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
    "PriceLevel",
    "TreeVotes",
    "WeightedVote",
    "l1_path",
    "miser_path",
    "subset_path",
]
