"""FMCC, chapter 2 of Nan (2018): feature acquisition by margins on the nearest training rows."""

from farthing.neighbors.margin_neighbors.classifier import MarginNeighborsClassifier

__all__ = ["MarginNeighborsClassifier"]
