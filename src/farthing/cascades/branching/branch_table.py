"""The table that branches share; each learns from its own selection of rows, with its own weights."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import TrainingSet
from farthing.cascades.branching.feature_selection import coarse_codes
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold, folds_of
from farthing.learning.losses import Loss
from farthing.learning.out_of_fold import OutOfFoldTrainer
from farthing.table import Bins
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class BranchTable:
    """All training rows, and how trees are grown on them.

    Parameters
    ----------
    rows : TrainingSet
        The rows, with their weights and the prices.
    loss : Loss
        The loss to minimise.
    settings : TreeSettings
        How trees are grown.
    max_bins : int
        Maximum number of bins per column.
    seed : int
        Seed of the rows that are held out while features are chosen.
    """

    rows: TrainingSet
    loss: Loss
    settings: TreeSettings
    max_bins: int
    seed: int

    @property
    def bins(self) -> Bins:
        """The table in bins."""
        return self.rows.bins(self.max_bins, self.settings.n_threads)

    @cached_property
    def coarse(self) -> NDArray[np.uint8]:
        """The table in fewer bins, shape (n_features, n_rows); see `coarse_codes`."""
        return coarse_codes(self.bins, self.rows.weights)

    def trainer(self, numbers: NDArray[np.int64], factors: Floats, n_folds: int = 1) -> OutOfFoldTrainer:
        """Return a trainer of some rows alone.

        Parameters
        ----------
        numbers : ndarray of int64
            Ascending numbers of the rows.
        factors : ndarray of float64, shape (n_rows,)
            Factor for the weight of each row of the table.
        n_folds : int
            1 learns from all of these rows and holds out none; with 2, each half is held out by the other.
        """
        rows = replace(self.rows, weights=self.rows.weights * factors)
        if len(numbers) < len(rows):  # the whole table is binned already
            rows = rows.take(numbers)
        every = np.arange(len(rows))
        if n_folds == 1:
            folds = [Fold(every, every)]
        else:
            folds = folds_of(rows.values, rows.target, n_folds, check_random_state(self.seed))
        return OutOfFoldTrainer(
            rows, self.loss, folds=folds, final=every, settings=self.settings, max_bins=self.max_bins
        )
