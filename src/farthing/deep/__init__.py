"""Networks that choose what to buy next: GDFS and DIME; training needs PyTorch, fitted models do not."""

from farthing.deep.greedy_selection import GreedySelectionClassifier
from farthing.deep.information_gain import InformationGainClassifier

__all__ = ["GreedySelectionClassifier", "InformationGainClassifier"]
