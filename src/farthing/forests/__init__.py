"""Decision trees and forests that know what features cost."""

from farthing.forests.forest import BudgetForestClassifier
from farthing.forests.tree import BudgetTreeClassifier

__all__ = ["BudgetForestClassifier", "BudgetTreeClassifier"]
