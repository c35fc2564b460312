"""The table that branches share: each learns from other rows of it, with other weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.boosting.booster import Floats
from farthing.boosting.losses import Loss
from farthing.cascades.nursery import Fold, Nursery, Settings
from farthing.costs import CostSheet
from farthing.forests.folds import deal
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
    bins : Bins
        The same in bins.
    coarse : ndarray of uint8, shape (n_features, n_rows)
        The same in few bins.
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
    bins: Bins
    coarse: NDArray[np.uint8]
    loss: Loss
    target: NDArray[Any]
    weights: Floats
    sheet: CostSheet
    settings: Settings
    seed: int

    def nursery(self, rows: NDArray[np.int64], counts: Floats) -> Nursery:
        """Return a nursery that learns from some rows, weighed by how much each row of the table counts."""
        return Nursery(
            self.bins,
            self.loss,
            self.target,
            self.weights * counts,
            sheet=self.sheet,
            folds=[Fold(rows, rows)],
            settings=self.settings,
        )

    def cut_out(self, rows: NDArray[np.int64], counts: Floats) -> Nursery:
        """Return a nursery of these rows alone, in two folds that hold out each other."""
        values, target, numbers = self.values[rows], self.target[rows], np.arange(len(rows))
        dealt = deal(values, target, 2, check_random_state(self.seed))
        if dealt is None:
            folds = [Fold(numbers, numbers)]  # one row, or copies of it
        else:
            folds = [Fold(numbers[dealt != part], numbers[dealt == part]) for part in range(2)]
        return Nursery(
            Bins(values, self.schema, max_bins=self.max_bins, n_threads=self.settings.n_threads),
            self.loss,
            target,
            (self.weights * counts)[rows],
            sheet=self.sheet,
            folds=folds,
            settings=self.settings,
        )
