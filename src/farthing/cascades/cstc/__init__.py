"""CSTC: a tree of classifiers under the expected price of its paths (Xu et al. 2013)."""

from farthing.cascades.cstc.classifier import CSTCClassifier
from farthing.cascades.cstc.ranker import CSTCRanker
from farthing.cascades.cstc.regressor import CSTCRegressor

__all__ = ["CSTCClassifier", "CSTCRanker", "CSTCRegressor"]
