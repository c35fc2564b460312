"""ADAPT-GBRT: gate and cheap model are boosted trees."""

from farthing.adaptive.adapt_gbrt.classifier import AdaptGbrtClassifier

__all__ = ["AdaptGbrtClassifier"]
