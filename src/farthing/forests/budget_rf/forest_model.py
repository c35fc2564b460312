"""The fitted models of BudgetRF: trees whose nodes hold class weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import NDArray

from farthing.base import RegressorModel, TreeModel, normalise, row_sums
from farthing.costs import CostSheet
from farthing.forests.budget_rf.aggregation import AGGREGATIONS, Aggregation, class_scores
from farthing.forests.budget_rf.tree import ClassCountModel
from farthing.trees import Forest, NodeValues
from farthing.walks.plans import Link, LinkStep


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetForestModel(ClassCountModel):
    """A forest whose trees hold class weights; the raw output is the sum of their shares, votes or weights.

    Parameters
    ----------
    aggregation : {"distribution", "vote", "count"}
        What a tree adds: the class shares of its leaf, a vote for its largest class, or its class weights.
    n_trees : int
        Number of trees; 0 if the forest is empty, when ``forest`` is one leaf with the prior.
    alpha : float
        The threshold of the pairs impurity.
    validation_cost : float or None
        Mean cost of the validation rows; None without a budget.
    """

    aggregation: str
    n_trees: int
    alpha: float
    validation_cost: float | None

    def node_scores(self) -> NodeValues:
        """Return what each node adds to the output, shape (n_nodes, n_classes)."""
        return class_scores(self.forest, cast(Aggregation, self.aggregation))

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the share of each class in the sum over the trees, shape (n_rows, n_classes)."""
        return normalise(outputs)

    def link_steps(self) -> Link:
        """Return the step to shares."""
        return (LinkStep("normalise"),)

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        if self.aggregation not in AGGREGATIONS:
            raise ValueError(f"aggregation must be one of {AGGREGATIONS}; got {self.aggregation!r}")

    @cached_property
    def max_cost(self) -> NDArray[np.float64]:
        """What the most expensive path of each tree costs, shape (n_trees,); see `BudgetForestClassifier`."""
        return max_costs(self.forest, self.n_trees, self.costs)


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetForestRankerModel(TreeModel, RegressorModel):
    """A forest that scores documents; the raw output is the weight of each grade, summed over the trees.

    Parameters
    ----------
    grades : ndarray of float64, shape (n_grades,)
        The grades, ascending; one output each.
    n_trees, alpha, validation_cost
        As in `BudgetForestModel`.
    """

    takes_sparse_values = True

    grades: NDArray[np.float64]
    n_trees: int
    alpha: float
    validation_cost: float | None

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean grade by these weights, shape (n_rows,); of grades 0 and 1, the share of 1."""
        return mean_grade(outputs, self.grades)

    def link_steps(self) -> Link:
        """Return the steps to the mean grade."""
        return (LinkStep("normalise"), LinkStep("mean_grade", grades=tuple(self.grades.tolist())))

    @cached_property
    def max_cost(self) -> NDArray[np.float64]:
        """What the most expensive path of each tree costs, shape (n_trees,); see `BudgetForestClassifier`."""
        return max_costs(self.forest, self.n_trees, self.costs)

    def check(self) -> None:
        """Raise ValueError if the fields do not fit together."""
        super().check()
        grades = self.grades
        if grades.dtype != np.float64 or grades.shape != self.prior.shape or not np.isfinite(grades).all():
            raise ValueError(f"grades must be {len(self.prior)} finite floats")


def mean_grade(outputs: NDArray[np.float64], grades: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the grades by their weights, shape (n_rows,)."""
    return row_sums(normalise(outputs) * grades)


def max_costs(forest: Forest, n_trees: int, costs: CostSheet) -> NDArray[np.float64]:
    """Return what the most expensive path of each tree costs, shape (n_trees,)."""
    # Of an empty forest, the leaf with the prior is no tree.
    trees = [forest.trees(t, t + 1) for t in range(n_trees)]
    return np.array([max_cost(tree, costs) for tree in trees], dtype=np.float64)


def max_cost(tree: Forest, costs: CostSheet) -> float:
    """Return the cost of the most expensive path from the root of a tree to a leaf.

    Parameters
    ----------
    tree : Forest
        One tree.
    costs : CostSheet
        The prices, in the order of the columns.
    """
    # One row per leaf: what is tested on its path. A second test of a feature costs nothing.
    owned = tree.tests()[tree.feature < 0] > 0
    return float(costs.total_rows(owned).max())
