"""Bootstrap samples and out-of-bag predictions of a forest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.base import ErrorCosts, TrainingSet, normalise
from farthing.collective import count, mean
from farthing.forests.budget_rf.aggregation import Aggregation, sum_of_trees
from farthing.learning.bootstrap import SamplingUnits
from farthing.trees import Forest


@dataclass(frozen=True, eq=False)
class Bags:
    """The rows that each tree of a forest learns from; a pure function of the tree's number.

    Parameters
    ----------
    units : SamplingUnits
        The units to draw from.
    seed : int
        Seed of the draws.
    bootstrap : bool
        Whether trees learn from bootstrap samples; otherwise each learns from all rows.
    """

    units: SamplingUnits
    seed: int
    bootstrap: bool

    def weights(self, tree: int) -> NDArray[np.float64]:
        """Return the weight of each row for a tree, shape (n_rows,); 0 is out of the bag."""
        # Drawn again from the seed on each call: stored bags would take n_trees * n_rows floats.
        return self.units.bootstrap(self.seed, tree) if self.bootstrap else self.units.row_weights()


@dataclass(frozen=True, eq=False)
class OutOfBag:
    """Out-of-bag predictions: for each row, those of the trees that were not trained on it.

    Parameters
    ----------
    sums : ndarray of float64, shape (n_rows, n_classes)
        Summed class scores of those trees.
    n_trees : ndarray of int64, shape (n_rows,)
        Number of those trees.
    """

    sums: NDArray[np.float64]
    n_trees: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        trees: Sequence[Forest],
        rows: TrainingSet,
        bags: Bags,
        *,
        aggregation: Aggregation,
        n_threads: int,
    ) -> OutOfBag:
        """Predict the rows of a fit; rows of weight zero were held out and get no predictions."""
        sums = np.zeros((len(rows), rows.n_classes))
        n_trees = np.zeros(len(rows), dtype=np.int64)
        for number, tree in enumerate(trees):
            # Rows held out are in no bag, but they are no training rows either.
            out = np.flatnonzero((bags.weights(number) == 0) & (rows.weights > 0))
            if len(out):
                sums[out] += sum_of_trees(
                    tree, rows.table.part(out), aggregation=aggregation, n_threads=n_threads
                )
                n_trees[out] += 1
        return cls(sums, n_trees)

    @property
    def covered(self) -> NDArray[np.bool_]:
        """Whether a row is out of bag for some tree, shape (n_rows,)."""
        return self.n_trees > 0

    def accuracy(self, rows: TrainingSet) -> float:
        """Return the weighted share of the covered rows that are right; NaN if no row is covered."""
        covered = self.covered
        if not covered.any():
            return float("nan")
        right = self.sums[covered].argmax(axis=1) == rows.target[covered]
        return float(np.average(right, weights=rows.weights[covered]))

    def probabilities(self) -> NDArray[np.float64]:
        """Return the class probabilities, shape (n_rows, n_classes); NaN for rows that are not covered."""
        shares = np.full(self.sums.shape, np.nan)
        shares[self.covered] = normalise(self.sums[self.covered])
        return shares


def weighted_error(outputs: NDArray[np.float64], rows: TrainingSet) -> float:
    """Return the weighted share of rows whose largest output is not their class; 0 without rows.

    If errors have prices, it is their mean price for the labels of the least expected cost.
    """
    if not count(len(outputs)):
        return 0.0
    if rows.errors is not None:
        labels = ErrorCosts(rows.errors.table).decide(outputs)
        return mean(rows.errors.rows[np.arange(len(labels)), labels], rows.weights)
    return mean(outputs.argmax(axis=1) != rows.target, rows.weights)
