"""ASTC: a tree of least-squares scores whose features are chosen greedily per price (Kusner et al. 2014)."""

from farthing.cascades.astc.estimators import ASTCClassifier, ASTCRegressor

__all__ = ["ASTCClassifier", "ASTCRegressor"]
