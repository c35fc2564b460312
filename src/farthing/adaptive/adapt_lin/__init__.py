"""ADAPT-LIN: linear gate and linear cheap model."""

from farthing.adaptive.adapt_lin.classifier import AdaptLinClassifier

__all__ = ["AdaptLinClassifier"]
