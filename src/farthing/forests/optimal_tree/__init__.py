"""Optimal trees: the least cost of tests and errors over all trees of a depth."""

from farthing.forests.optimal_tree.classifier import OptimalTreeClassifier

__all__ = ["OptimalTreeClassifier"]
