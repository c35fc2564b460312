"""VoC: features are bought by their value to a local regression, minus their price."""

from farthing.neighbors.value_of_classifier.classifier import ValueOfClassifier

__all__ = ["ValueOfClassifier"]
