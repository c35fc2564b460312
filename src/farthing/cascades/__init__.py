"""Cascades: easy rows leave early, the others go on and pay."""

from farthing.cascades.branching.classifier import BranchingCascadeClassifier
from farthing.cascades.miser_cascade.classifier import MiserCascadeClassifier
from farthing.cascades.miser_cascade.regressor import MiserCascadeRegressor
from farthing.cascades.early_exit.ranker import EarlyExitRanker
from farthing.cascades.early_exit.classifier import EarlyExitClassifier
from farthing.cascades.miser_cascade.base import CascadePoint
from farthing.cascades.early_exit.query_walk import QueryAsk, QueryWalk
from farthing.cascades.reader import NetworkReader

__all__ = [
    "BranchingCascadeClassifier",
    "CascadePoint",
    "EarlyExitClassifier",
    "EarlyExitRanker",
    "MiserCascadeClassifier",
    "MiserCascadeRegressor",
    "NetworkReader",
    "QueryAsk",
    "QueryWalk",
]
