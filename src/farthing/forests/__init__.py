"""Decision trees and forests that know what features cost."""

from farthing.report.audit import Audit, audit
from farthing.forests.budget_rf.forest import BudgetForestClassifier
from farthing.forests.imported.estimators import ImportedClassifier, ImportedRegressor, from_model
from farthing.forests.budget_prune.pruned_forest import PrunedForestClassifier
from farthing.forests.budget_prune.paths import cost_complexity_path, greedy_feature_path, prune_path
from farthing.forests.budget_prune.pruning_path import PruningPath
from farthing.forests.budget_rf.tree import BudgetTreeClassifier

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
