"""ADAPT-LSTSQ: linear gate and model, symmetric divergence between gate and q."""

from farthing.adaptive.adapt_lstsq.classifier import AdaptLstsqClassifier

__all__ = ["AdaptLstsqClassifier"]
