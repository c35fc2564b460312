"""Cascades: easy rows leave early, the others go on and pay."""

from farthing.cascades.cascade_classifier import MiserCascadeClassifier
from farthing.cascades.documents import EarlyExitRanker
from farthing.cascades.early_exit import EarlyExit
from farthing.cascades.query import QueryAsk, QueryWalk

__all__ = ["EarlyExit", "EarlyExitRanker", "MiserCascadeClassifier", "QueryAsk", "QueryWalk"]
