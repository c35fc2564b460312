"""Who pays for what an ensemble's trees test: the whole model once, or each row for itself."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.trees import Forest, Grower, Grown

# A budget may be passed by this part of itself, the rounding of a long sum.
_SLACK = 1e-12


class Ledger(Protocol):
    """What is owned while an ensemble grows.

    Attributes
    ----------
    cap : float or None
        What each row may spend on features in training; None if nothing has to be refused to any row.
    """

    cap: float | None

    def opens(self, n_trees: int) -> bool:
        """Tell whether the budget bears so many trees more; they are then counted against it."""
        ...

    def grow(
        self,
        grower: Grower,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None,
        *,
        l2: float,
        rows: NDArray[np.int64] | None,
    ) -> Grown:
        """Grow a tree at the prices of what is owned, and take what it buys into the books."""
        ...

    def row_cap(self, budget: float, evaluation_cost: float) -> float:
        """Return what is left of a budget for the features of each row at prediction."""
        ...


class ModelLedger:
    """What one tree buys, all rows own in all trees to come.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    budget : float or None
        For all features and trees together.
    tree_cost : float
        What each tree counts against the budget.
    before : Forest
        Trees that have bought what they test.
    """

    def __init__(self, sheet: CostSheet, budget: float | None, tree_cost: float, before: Forest) -> None:
        self.owned: NDArray[np.uint8] = np.zeros(before.n_features, dtype=np.uint8)
        self.owned[before.feature[before.feature >= 0]] = 1
        self.cap: float | None = None
        self._sheet = sheet
        self._budget = budget
        self._tree_cost = tree_cost
        self._n_trees = before.n_trees - before.n_outputs

    def opens(self, n_trees: int) -> bool:
        """Tell whether the budget bears so many trees more; they are then counted against it."""
        if self._budget is not None:
            spent = self._sheet.total(self.owned.astype(np.bool_))
            left = self._budget - self._tree_cost * (self._n_trees + n_trees)
            if left < 0 or spent > left * (1 + _SLACK):
                return False
        self._n_trees += n_trees
        return True

    def grow(
        self,
        grower: Grower,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None,
        *,
        l2: float,
        rows: NDArray[np.int64] | None,
    ) -> Grown:
        """Grow a tree at the prices of what is owned, and take what it buys into the books."""
        cap = None if self._budget is None else self._budget - self._tree_cost * self._n_trees
        grown = grower.gradient(gradients, hessians, l2=l2, rows=rows, owned=self.owned, budget=cap)
        self.owned = grown.owned
        return grown

    def row_cap(self, budget: float, evaluation_cost: float) -> float:
        """Return what is left of a budget for the features of each row at prediction."""
        return max(0.0, budget - evaluation_cost)


def ledger_of(
    charge: str, sheet: CostSheet, budget: float | None, tree_cost: float, before: Forest, n_rounds: int
) -> Ledger:
    """Return the books of a new or resumed ensemble."""
    if charge == "row":
        raise NotImplementedError("charge='row' is on its way")
    return ModelLedger(sheet, budget, tree_cost, before)
