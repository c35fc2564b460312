"""Feature acquisition by the nearest training rows: FMCC, the value of classifier, and a random order."""

from farthing.neighbors.margin_neighbors import MarginNeighborsClassifier
from farthing.neighbors.random_order import RandomOrderClassifier
from farthing.neighbors.value_of_classifier import ValueOfClassifier

__all__ = ["MarginNeighborsClassifier", "RandomOrderClassifier", "ValueOfClassifier"]
