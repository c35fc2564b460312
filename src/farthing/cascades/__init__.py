"""Cascades: easy rows stop early, the others buy more features."""

from farthing.cascades.astc import ASTCClassifier, ASTCRegressor
from farthing.cascades.branching import BranchingCascadeClassifier, SubsetTreeClassifier
from farthing.cascades.cronus import CronusClassifier, CronusRanker
from farthing.cascades.cstc import CSTCClassifier, CSTCRanker, CSTCRegressor
from farthing.cascades.dag import DAGClassifier, WeightedGateClassifier
from farthing.cascades.early_exit import EarlyExitClassifier, EarlyExitRanker, QueryAsk, QueryWalk
from farthing.cascades.miser_cascade import MiserCascadeClassifier, MiserCascadeRegressor

__all__ = [
    "ASTCClassifier",
    "ASTCRegressor",
    "BranchingCascadeClassifier",
    "CSTCClassifier",
    "CSTCRanker",
    "CSTCRegressor",
    "CronusClassifier",
    "CronusRanker",
    "DAGClassifier",
    "EarlyExitClassifier",
    "EarlyExitRanker",
    "MiserCascadeClassifier",
    "MiserCascadeRegressor",
    "QueryAsk",
    "QueryWalk",
    "SubsetTreeClassifier",
    "WeightedGateClassifier",
]
