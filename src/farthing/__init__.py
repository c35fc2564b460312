"""Farthing: prediction on a budget.

Every feature has a price. Farthing learns models that know the prices, accounts for what each prediction
spends, and asks for one feature at a time.
"""

from importlib.metadata import PackageNotFoundError, version

from farthing import adaptive, boosting, cascades, forests, multiclass, neighbors, pipelines
from farthing.base import load
from farthing.costs import CostSheet, Group
from farthing.frontier import BudgetedClassifier, BudgetedRegressor, ErrorCosts, Frontier, sweep
from farthing.pipelines import pipeline
from farthing.table import PreparedTable
from farthing.walks import REFUSED, Ask, Decision, Walk, aconsult, consult

try:
    __version__ = version("farthing")
except PackageNotFoundError:  # imported from a source tree that is not installed
    __version__ = "0"

__all__ = [
    "REFUSED",
    "Ask",
    "BudgetedClassifier",
    "BudgetedRegressor",
    "CostSheet",
    "Decision",
    "ErrorCosts",
    "Frontier",
    "Group",
    "PreparedTable",
    "Walk",
    "aconsult",
    "adaptive",
    "boosting",
    "cascades",
    "consult",
    "forests",
    "load",
    "multiclass",
    "neighbors",
    "pipeline",
    "pipelines",
    "sweep",
]
