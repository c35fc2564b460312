"""The nearest training rows choose what to buy: FMCC, value of classifier, plans of sets, random order."""

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
