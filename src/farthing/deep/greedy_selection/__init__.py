"""GDFS: a policy network says what to buy next."""

from farthing.deep.greedy_selection.classifier import GreedySelectionClassifier

__all__ = ["GreedySelectionClassifier"]
