"""Many classes from binary methods: one model for each class, and one account for all of them."""

from farthing.multiclass.classifier import OneVsRestClassifier

__all__ = ["OneVsRestClassifier"]
