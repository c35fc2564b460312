"""AdaBoost, cost-blind: the reference of the budgeted variants."""

from farthing.boosting.adaboost.classifier import AdaBoostClassifier

__all__ = ["AdaBoostClassifier"]
