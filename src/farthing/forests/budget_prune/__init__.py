"""BudgetPrune, chapter 4 of Nan (2018): exact pruning of a forest for every trade-off at once."""

from farthing.forests.budget_prune.paths import cost_complexity_path, greedy_feature_path, prune_path
from farthing.forests.budget_prune.pruned_forest import PrunedForestClassifier
from farthing.forests.budget_prune.pruning_path import PruningPath

__all__ = [
    "PrunedForestClassifier",
    "PruningPath",
    "cost_complexity_path",
    "greedy_feature_path",
    "prune_path",
]
