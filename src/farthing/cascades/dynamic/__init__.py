"""Two small networks: one chooses what each row buys next, one reads whatever it has bought."""

from farthing.cascades.dynamic.estimator import DynamicSelectionClassifier

__all__ = ["DynamicSelectionClassifier"]
