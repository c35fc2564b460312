"""Who pays for what an ensemble's trees test: the whole model once, or each row for itself."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.learning.booster import Floats
from farthing.trees import Forest, Grower, Grown, RowLedgers

# A budget may be passed by this part of itself, the rounding of a long sum.
_SLACK = 1e-12


class Ledger(Protocol):
    """The books of an ensemble in the making.

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
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what is owned, and enter what it buys in the books.

        Every row gets a leaf, whether the tree is grown on it or not.
        """
        ...

    def left(self, budget: float, evaluation_cost: float) -> float:
        """Return what is left of the budget for the features of each row at prediction."""
        ...


class ModelLedger:
    """What one tree buys, all rows own in all trees to come.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    before : Forest
        Trees that have bought what they test.
    budget : float or None
        For all features and trees together.
    tree_cost : float
        What each tree counts against the budget.
    """

    def __init__(self, sheet: CostSheet, before: Forest, budget: float | None, tree_cost: float) -> None:
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
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what is owned, and enter what it buys in the books."""
        cap = None if self._budget is None else self._budget - self._tree_cost * self._n_trees
        grown = grower.gradient(
            gradients,
            hessians,
            rows=rows,
            owned=self.owned,
            budget=cap,
            send_others=True,
            l2_regularization=l2_regularization,
            min_hessian=min_hessian,
            step=step,
        )
        self.owned = grown.owned
        return grown

    def left(self, budget: float, evaluation_cost: float) -> float:
        """Return what is left of the budget for the features of each row at prediction."""
        return max(0.0, budget - evaluation_cost)


class PerRowLedger:
    """Each row owns what lies on its own ways through the trees.

    Parameters
    ----------
    ledgers : RowLedgers or None
        The rows' accounts; None if neither a price nor a budget asks for them.
    cap : float or None
        What each row may spend on features.
    most_trees : int or None
        Trees that the rest of the budget bears; None if they are free.
    n_trees : int
        Trees that there are already.
    """

    def __init__(
        self, ledgers: RowLedgers | None, *, cap: float | None, most_trees: int | None, n_trees: int
    ) -> None:
        self.cap = cap
        self._ledgers = ledgers
        self._most_trees = most_trees
        self._n_trees = n_trees

    def opens(self, n_trees: int) -> bool:
        """Tell whether the budget bears so many trees more; they are then counted against it."""
        if self._most_trees is not None and self._n_trees + n_trees > self._most_trees:
            return False
        self._n_trees += n_trees
        return True

    def grow(
        self,
        grower: Grower,
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what is owned, and enter what it sells in the rows' accounts."""
        return grower.gradient(
            gradients,
            hessians,
            rows=rows,
            ledgers=self._ledgers,
            send_others=True,
            l2_regularization=l2_regularization,
            min_hessian=min_hessian,
            step=step,
        )

    def left(self, budget: float, evaluation_cost: float) -> float:  # noqa: ARG002
        """Return what is left of the budget for the features of each row at prediction: that of training."""
        return budget if self.cap is None else self.cap


def trees_within(budget: float | None, tree_cost: float, most: int, at_once: int) -> int:
    """Return how many trees a budget bears, of at most so many, grown so many at once.

    Examples
    --------
    >>> trees_within(10.0, 3.0, 100, 1), trees_within(10.0, 0.0, 100, 1), trees_within(10.0, 3.0, 100, 2)
    (3, 100, 2)
    """
    if budget is None or tree_cost * most <= budget:
        return most
    return int(budget / (tree_cost * at_once) * (1 + _SLACK)) * at_once
