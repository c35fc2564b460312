"""CSTC: a tree of classifiers under the expected price of its paths (Xu et al. 2013)."""

from farthing.cascades.cstc.estimators import CSTCClassifier, CSTCRegressor

__all__ = ["CSTCClassifier", "CSTCRegressor"]
