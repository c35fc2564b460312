"""VoC: the value of a feature to a local regression, less its price."""

from farthing.neighbors.value_of_classifier.classifier import ValueOfClassifier

__all__ = ["ValueOfClassifier"]
