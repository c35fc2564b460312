"""The forest of one alpha, and the error by which the best of several alphas is chosen."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.forests.budget_rf.aggregation import Aggregation, sum_of_trees
from farthing.forests.budget_rf.out_of_bag import Bags, OutOfBag
from farthing.trees import Forest

#: From the summed outputs of rows, shape (n_rows, n_classes), and the rows to an error.
Judge: TypeAlias = Callable[[NDArray[np.float64], TrainingSet], float]


@dataclass(frozen=True, eq=False)
class Candidate:
    """The forest of one alpha.

    Parameters
    ----------
    alpha : float
        The threshold of the pairs impurity.
    trees : list of Forest
        Its trees; none if the first one is over the budget.
    cost : float or None
        Mean cost of the validation rows; None without a budget.
    aggregation : {"distribution", "vote", "count"}
        What the leaves of the trees add up.
    n_threads : int
        Threads of prediction.
    """

    alpha: float
    trees: list[Forest]
    cost: float | None
    aggregation: Aggregation
    n_threads: int

    def forest(self, prior: NDArray[np.float64], n_features: int) -> Forest:
        """Return the trees as one forest; if there are none, a leaf with the prior."""
        return Forest.concat(self.trees) if self.trees else Forest.constant(prior, n_features)

    def out_of_bag(self, rows: TrainingSet, bags: Bags) -> OutOfBag:
        """Return the out-of-bag predictions of the training rows."""
        return OutOfBag.of(self.trees, rows, bags, aggregation=self.aggregation, n_threads=self.n_threads)

    def error(
        self,
        rows: TrainingSet,
        validation: TrainingSet | None,
        bags: Bags,
        *,
        prior: NDArray[np.float64],
        judge: Judge,
    ) -> float:
        """Return the error on the validation rows, or the out-of-bag error without them.

        Parameters
        ----------
        rows : TrainingSet
            The training rows; those held out have a weight of zero.
        validation : TrainingSet or None
            The validation rows.
        bags : Bags
            The rows that each tree learned from.
        prior : ndarray of float64, shape (n_classes,)
            What a forest without trees predicts.
        judge : callable
            Measures the error.
        """
        if validation is None:
            out_of_bag = self.out_of_bag(rows, bags)
            return judge(out_of_bag.sums[out_of_bag.covered], rows.take(out_of_bag.covered))
        forest = self.forest(prior, validation.table.shape[1])
        # An empty forest is scored as well: it predicts the prior, and may be the best that the budget
        # allows.
        outputs = sum_of_trees(
            forest, validation.table, aggregation=self.aggregation, n_threads=self.n_threads
        )
        return judge(outputs, validation)
