"""BudgetRF, chapter 3 of Nan (2018): trees and forests whose splits weigh impurity against price."""

from farthing.forests.budget_rf.forest import BudgetForestClassifier
from farthing.forests.budget_rf.ranker import BudgetForestRanker
from farthing.forests.budget_rf.tree import BudgetTreeClassifier

__all__ = ["BudgetForestClassifier", "BudgetForestRanker", "BudgetTreeClassifier"]
