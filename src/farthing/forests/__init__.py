"""Trees and forests on a budget: BudgetRF, BudgetPrune, policies, optimal trees, imported tree models."""

from farthing.forests.budget_prune import (
    PrunedForestClassifier,
    PruningPath,
    cost_complexity_path,
    greedy_feature_path,
    prune_path,
)
from farthing.forests.budget_rf import BudgetForestClassifier, BudgetForestRanker, BudgetTreeClassifier
from farthing.forests.diagnostic_policy import DiagnosticPolicyClassifier
from farthing.forests.imported import (
    ImportedClassifier,
    ImportedLinearClassifier,
    ImportedLinearRegressor,
    ImportedRegressor,
    from_model,
)
from farthing.forests.optimal_tree import OptimalTreeClassifier

__all__ = [
    "BudgetForestClassifier",
    "BudgetForestRanker",
    "BudgetTreeClassifier",
    "DiagnosticPolicyClassifier",
    "ImportedClassifier",
    "ImportedLinearClassifier",
    "ImportedLinearRegressor",
    "ImportedRegressor",
    "OptimalTreeClassifier",
    "PrunedForestClassifier",
    "PruningPath",
    "cost_complexity_path",
    "from_model",
    "greedy_feature_path",
    "prune_path",
]
