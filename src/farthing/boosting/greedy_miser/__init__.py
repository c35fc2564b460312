"""The Greedy Miser of Xu, Weinberger and Chapelle (2012): boosted trees that pay for their features."""

from farthing.boosting.greedy_miser.classifier import GreedyMiserClassifier
from farthing.boosting.greedy_miser.l1_path import l1_path
from farthing.boosting.greedy_miser.path import miser_path, subset_path
from farthing.boosting.greedy_miser.ranker import GreedyMiserRanker
from farthing.boosting.greedy_miser.regressor import GreedyMiserRegressor

__all__ = [
    "GreedyMiserClassifier",
    "GreedyMiserRanker",
    "GreedyMiserRegressor",
    "l1_path",
    "miser_path",
    "subset_path",
]
