"""The miser cascade: nested feature sets bought stage by stage, boosted trees at each, calibrated exits."""

from farthing.cascades.miser_cascade.classifier import MiserCascadeClassifier
from farthing.cascades.miser_cascade.regressor import MiserCascadeRegressor

__all__ = ["MiserCascadeClassifier", "MiserCascadeRegressor"]
