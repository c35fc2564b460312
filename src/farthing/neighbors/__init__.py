"""Nearest training rows, by what is measured so far, say which feature to buy next."""

from farthing.neighbors.kept import Kept
from farthing.neighbors.margin_neighbors import MarginNeighborsClassifier
from farthing.neighbors.margins import Margins
from farthing.neighbors.random_order import RandomOrderClassifier
from farthing.neighbors.value_of_classifier import ValueOfClassifier

__all__ = [
    "Kept",
    "MarginNeighborsClassifier",
    "Margins",
    "RandomOrderClassifier",
    "ValueOfClassifier",
]
