"""Decision trees and forests that know what features cost."""

from farthing.forests.audit import Audit, audit
from farthing.forests.forest import BudgetForestClassifier
from farthing.forests.imported import ImportedClassifier, ImportedRegressor, from_model
from farthing.forests.pruned_forest import PrunedForestClassifier
from farthing.forests.pruning import cost_complexity_path, greedy_feature_path, prune_path
from farthing.forests.pruning_path import PruningPath
from farthing.forests.tree import BudgetTreeClassifier

__all__ = [
    "Audit",
    "BudgetForestClassifier",
    "BudgetTreeClassifier",
    "ImportedClassifier",
    "ImportedRegressor",
    "PrunedForestClassifier",
    "PruningPath",
    "audit",
    "cost_complexity_path",
    "from_model",
    "greedy_feature_path",
    "prune_path",
]
