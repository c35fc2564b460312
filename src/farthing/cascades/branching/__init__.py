"""The branching cascade: a routing tree, and at each leaf a booster with purchases of its own."""

from farthing.cascades.branching.classifier import BranchingCascadeClassifier

__all__ = ["BranchingCascadeClassifier"]
