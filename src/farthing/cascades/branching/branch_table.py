"""The table that branches share: each learns from other rows of it, with other weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.cascades.branching.feature_selection import coarse_codes
from farthing.costs import CostSheet
from farthing.learning.booster import Floats
from farthing.learning.folds import stratified_folds
from farthing.learning.losses import Loss
from farthing.learning.out_of_fold import Fold, OutOfFoldTrainer, Settings
from farthing.table import Bins, Schema


@dataclass(frozen=True, eq=False)
class Ground:
    """All training rows, and how trees are grown on them.

    Attributes
    ----------
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    schema : Schema
        Its columns.
    max_bins : int
        Most bins of a column.
    loss : Loss
        What is minimised.
    target, weights : ndarray, shape (n_rows,)
        Of all rows.
    sheet : CostSheet
        The prices, in the order of the columns.
    settings : Settings
        How trees are grown.
    seed : int
        Of the rows that are held out in choosing.
    """

    values: NDArray[np.floating]
    schema: Schema
    max_bins: int
    loss: Loss
    target: NDArray[Any]
    weights: Floats
    sheet: CostSheet
    settings: Settings
    seed: int

    @cached_property
    def bins(self) -> Bins:
        """The same in bins."""
        return Bins(self.values, self.schema, max_bins=self.max_bins, n_threads=self.settings.n_threads)

    @cached_property
    def coarse(self) -> NDArray[np.uint8]:
        """The same in fewer bins, shape (n_features, n_rows)."""
        return coarse_codes(self.bins, self.weights)

    def nursery(self, rows: NDArray[np.int64], counts: Floats, n_folds: int = 1) -> OutOfFoldTrainer:
        """Return a nursery of some rows alone.

        Parameters
        ----------
        rows : ndarray of int64
            Ascending numbers of the rows.
        counts : ndarray of float64, shape (n_rows,)
            What the weight of each row of the table is multiplied by.
        n_folds : int
            1 learns from all of these rows and holds out none; with 2, each half is held out by the other.
        """
        whole = len(rows) == len(self.target)
        values = self.values if whole else self.values[rows]
        target, numbers = self.target[rows], np.arange(len(rows))
        dealt = (
            None if n_folds == 1 else stratified_folds(values, target, n_folds, check_random_state(self.seed))
        )
        if dealt is None:  # or too few rows: one row, or copies of it
            folds = [Fold(numbers, numbers)]
        else:
            folds = [Fold(numbers[dealt != part], numbers[dealt == part]) for part in range(n_folds)]
        n_threads = self.settings.n_threads
        return OutOfFoldTrainer(
            self.bins if whole else Bins(values, self.schema, max_bins=self.max_bins, n_threads=n_threads),
            self.loss,
            target,
            (self.weights * counts)[rows],
            sheet=self.sheet,
            folds=folds,
            final=numbers,
            settings=self.settings,
        )
