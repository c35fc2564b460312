"""Cascades: easy rows leave early, the others go on and pay."""

from farthing.cascades.branching import BranchingCascadeClassifier
from farthing.cascades.cascade_classifier import MiserCascadeClassifier
from farthing.cascades.cascade_regressor import MiserCascadeRegressor
from farthing.cascades.documents import EarlyExitRanker
from farthing.cascades.early_exit import EarlyExit
from farthing.cascades.miser_cascade import CascadePoint
from farthing.cascades.query import QueryAsk, QueryWalk
from farthing.cascades.reader import NetworkReader

__all__ = [
    "BranchingCascadeClassifier",
    "CascadePoint",
    "EarlyExit",
    "EarlyExitRanker",
    "MiserCascadeClassifier",
    "MiserCascadeRegressor",
    "NetworkReader",
    "QueryAsk",
    "QueryWalk",
]
