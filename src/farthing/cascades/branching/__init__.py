"""Cascades that branch: a routing tree, and at each leaf a booster with purchases of its own."""

from farthing.cascades.branching.classifier import BranchingCascadeClassifier
from farthing.cascades.branching.subset_classifier import SubsetTreeClassifier

__all__ = ["BranchingCascadeClassifier", "SubsetTreeClassifier"]
