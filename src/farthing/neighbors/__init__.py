"""Acquisition by the nearest training rows: FMCC, the value of classifier, plans of sets, and a random order."""

from farthing.neighbors.lookahead import LookaheadClassifier
from farthing.neighbors.margin_neighbors import MarginNeighborsClassifier
from farthing.neighbors.random_order import RandomOrderClassifier
from farthing.neighbors.value_of_classifier import ValueOfClassifier

__all__ = [
    "LookaheadClassifier",
    "MarginNeighborsClassifier",
    "RandomOrderClassifier",
    "ValueOfClassifier",
]
