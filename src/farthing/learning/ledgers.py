"""Ledgers of an ensemble in training: a feature is paid once by the model, or by each row that uses it."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, spending_limit
from farthing.learning.booster import n_splitting_trees
from farthing.trees import Forest, Grower, Grown, RowLedgers
from farthing.typing import Floats


class Ledger(Protocol):
    """The ledger of an ensemble in training.

    Attributes
    ----------
    cap : float or None
        Budget of each row for features in training; None if there is no limit per row.
    """

    cap: float | None

    def reserve_trees(self, n_trees: int) -> bool:
        """Count so many more trees against the budget; return False, and count none, if it is too small."""
        ...

    def release_trees(self, n_trees: int) -> None:
        """Give back so many of the trees that were counted: those that turned out to have no split."""
        ...

    def grow(
        self,
        grower: Grower,
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        number: int,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what is not owned yet, and enter what it buys.

        Every row gets a leaf, whether or not the tree is grown on it; ``number`` is the number of trees
        before it.
        """
        ...

    def prediction_budget(self, budget: float, evaluation_cost: float) -> float:
        """Return the budget of each row at prediction, for its features and the evaluation of the trees."""
        ...


class ModelLedger:
    """The ledger of the whole model: what one tree buys, all rows own in all later trees.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    before : Forest
        Existing trees; the features that they test are owned.
    budget : float or None
        Budget of all features and trees together.
    tree_cost : float
        Cost of evaluating one tree.
    """

    def __init__(self, sheet: CostSheet, before: Forest, budget: float | None, tree_cost: float) -> None:
        self.owned: NDArray[np.uint8] = np.zeros(before.n_features, dtype=np.uint8)
        self.owned[before.feature[before.feature >= 0]] = 1
        self.cap: float | None = None
        self._sheet = sheet
        self._budget = budget
        self._tree_cost = tree_cost
        self._n_trees = n_splitting_trees(before)

    def reserve_trees(self, n_trees: int) -> bool:
        """Count so many more trees against the budget; return False, and count none, if it is too small."""
        if self._budget is not None:
            spent = self._sheet.total(self.owned.astype(np.bool_))
            left = self._budget - self._tree_cost * (self._n_trees + n_trees)
            if left < 0 or spent > spending_limit(left):
                return False
        self._n_trees += n_trees
        return True

    def release_trees(self, n_trees: int) -> None:
        """Give back so many of the trees that were counted: those that turned out to have no split."""
        self._n_trees -= n_trees

    def grow(
        self,
        grower: Grower,
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        number: int,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what no tree has bought yet, and enter what it buys."""
        # `reserve_trees` has counted this tree already, so the rest is for features.
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
            number=number,
        )
        self.owned = grown.owned
        return grown

    def prediction_budget(self, budget: float, evaluation_cost: float) -> float:
        """Return the budget of each row at prediction: that of the model."""
        return budget


class PerRowLedger:
    """One ledger per row, which owns the features tested on its own paths through the trees.

    Parameters
    ----------
    ledgers : RowLedgers or None
        The ledgers of the rows; None if neither a price nor a budget needs them.
    cap : float or None
        Budget of each row for features.
    most_trees : int or None
        Number of trees that fit into the budget; None if they are free.
    n_trees : int
        Number of existing trees that have a split.
    """

    def __init__(
        self, ledgers: RowLedgers | None, *, cap: float | None, most_trees: int | None, n_trees: int
    ) -> None:
        self.cap = cap
        self._ledgers = ledgers
        self._most_trees = most_trees
        self._n_trees = n_trees

    def reserve_trees(self, n_trees: int) -> bool:
        """Count so many more trees against the budget; return False, and count none, if it is too small."""
        if self._most_trees is not None and self._n_trees + n_trees > self._most_trees:
            return False
        self._n_trees += n_trees
        return True

    def release_trees(self, n_trees: int) -> None:
        """Give back so many of the trees that were counted: those that turned out to have no split."""
        self._n_trees -= n_trees

    def grow(
        self,
        grower: Grower,
        gradients: Floats,
        hessians: Floats | None,
        rows: NDArray[np.int64] | None,
        number: int,
        *,
        l2_regularization: float,
        min_hessian: float,
        step: float,
    ) -> Grown:
        """Grow a tree at the prices of what its rows do not own yet, and enter what each of them buys."""
        return grower.gradient(
            gradients,
            hessians,
            rows=rows,
            ledgers=self._ledgers,
            send_others=True,
            l2_regularization=l2_regularization,
            min_hessian=min_hessian,
            step=step,
            number=number,
        )

    def prediction_budget(self, budget: float, evaluation_cost: float) -> float:
        """Return the budget of each row at prediction: that of training for features, and that of trees."""
        # Fewer trees than were reserved leave more for features, but trees learned without it.
        return budget if self.cap is None else self.cap + evaluation_cost


def trees_within(budget: float | None, tree_cost: float, most: int, at_once: int) -> int:
    """Return how many trees fit into a budget: at most ``most``, in multiples of ``at_once``.

    Examples
    --------
    >>> trees_within(10.0, 3.0, 100, 1), trees_within(10.0, 0.0, 100, 1), trees_within(10.0, 3.0, 100, 2)
    (3, 100, 2)
    """
    if budget is None or tree_cost * most <= budget:
        return most
    # With the slack, 0.3 / 0.1 = 2.9999999999999996 counts as 3.
    return int(spending_limit(budget / (tree_cost * at_once))) * at_once
