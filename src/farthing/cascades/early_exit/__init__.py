"""Early exit: a boosted model whose rows may leave between rounds."""

from farthing.cascades.early_exit.classifier import EarlyExitClassifier
from farthing.cascades.early_exit.query_walk import QueryAsk, QueryWalk
from farthing.cascades.early_exit.ranker import EarlyExitRanker

__all__ = ["EarlyExitClassifier", "EarlyExitRanker", "QueryAsk", "QueryWalk"]
