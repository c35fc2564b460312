"""AdaBoostRS of Reyzin (2011): a sampled vote within a budget."""

from farthing.boosting.adaboost_rs.classifier import AdaBoostRSClassifier
from farthing.learning.voting.margin_bounds import MarginBound

__all__ = ["AdaBoostRSClassifier", "MarginBound"]
