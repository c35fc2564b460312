"""Nearest training rows, by what is measured so far, say which feature to buy next."""

from farthing.neighbors.acquisition.training_rows import Kept
from farthing.neighbors.margin_neighbors.classifier import MarginNeighborsClassifier
from farthing.neighbors.acquisition.margins import Margins
from farthing.neighbors.random_order.classifier import RandomOrderClassifier
from farthing.neighbors.value_of_classifier.classifier import ValueOfClassifier

__all__ = [
    "Kept",
    "MarginNeighborsClassifier",
    "Margins",
    "RandomOrderClassifier",
    "ValueOfClassifier",
]
