"""The fitted model of BudgetRF: trees that vote or add up their class shares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farthing.base import normalise
from farthing.costs import CostSheet
from farthing.forests.budget_rf.tree import ClassCountModel
from farthing.trees import Forest, Predictor


@dataclass(frozen=True, eq=False, kw_only=True)
class BudgetForestModel(ClassCountModel):
    """A forest whose trees hold class weights; the raw output is the sum of their shares or votes.

    Parameters
    ----------
    votes : bool
        Whether each tree votes for its largest class, rather than adding its class shares.
    n_trees : int
        Number of trees; 0 if the forest is empty, when ``forest`` is one leaf with the prior.
    alpha : float
        The threshold of the pairs impurity.
    validation_cost : float or None
        Mean cost of the validation rows; None without a budget.
    """

    votes: bool
    n_trees: int
    alpha: float
    validation_cost: float | None

    def node_scores(self) -> NDArray[np.float64]:
        """Return the class shares of each node, or its vote, shape (n_nodes, n_classes)."""
        return class_scores(self.forest, votes=self.votes)

    def conclude(self, outputs: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the mean over the trees, shape (n_rows, n_classes)."""
        return normalise(outputs)

    @cached_property
    def max_cost(self) -> NDArray[np.float64]:
        """What the most expensive path of each tree costs, shape (n_trees,); see `BudgetForestClassifier`."""
        # Of an empty forest, the leaf with the prior is no tree.
        trees = [self.forest.trees(t, t + 1) for t in range(self.n_trees)]
        return np.array([max_cost(tree, self.costs) for tree in trees], dtype=np.float64)


def class_scores(forest: Forest, *, votes: bool) -> NDArray[np.float64]:
    """Return what each node adds to the raw output: its class shares, or a vote for its largest class.

    Parameters
    ----------
    forest : Forest
        Trees whose values are class weights.
    votes : bool
        Whether trees vote.

    Returns
    -------
    ndarray of float64, shape (n_nodes, n_classes)
    """
    if votes:
        # argmax: of equal classes the first, as for the labels of a prediction.
        return np.asarray(np.eye(forest.n_outputs)[forest.value.argmax(axis=1)])
    return normalise(forest.value)


def sum_of_trees(
    forest: Forest, values: NDArray[np.floating], *, votes: bool, n_threads: int
) -> NDArray[np.float64]:
    """Return the summed class scores of rows, shape (n_rows, n_classes)."""
    return Predictor(forest, class_scores(forest, votes=votes)).predict(values, n_threads=n_threads)[0]


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
