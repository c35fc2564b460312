"""Decision trees and forests that know what features cost."""

from farthing.forests.tree import BudgetTreeClassifier

__all__ = ["BudgetTreeClassifier"]
