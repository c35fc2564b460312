"""AdaBoostBT of Huang, Powers and Reyzin (2015), and SpeedBoost: boosting that stops at the budget."""

from farthing.boosting.adaboost_bt.classifier import AdaBoostBTClassifier

__all__ = ["AdaBoostBTClassifier"]
