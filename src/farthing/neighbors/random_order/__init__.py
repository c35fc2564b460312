"""Features in a random order: the baseline of FMCC."""

from farthing.neighbors.random_order.classifier import RandomOrderClassifier

__all__ = ["RandomOrderClassifier"]
