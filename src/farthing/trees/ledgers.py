"""Ledgers of the rows of a training table over the trees of an ensemble."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from farthing._core import RowLedgers as CompiledLedgers
from farthing.collective import peers
from farthing.costs import CostSheet
from farthing.table import Bins


class RowLedgers:
    """The ledgers of all rows of a binned table while an ensemble is grown.

    `Grower.gradient` prices its splits by them, and the rows that reach a split buy its feature. Under a
    budget, a row that cannot afford a feature continues as if its value were missing, as it does in a walk.

    Parameters
    ----------
    bins : Bins
        The table.
    sheet : CostSheet
        The prices, in the order of the columns.
    budget : float or None
        Total budget of each row; None means no limit.
    weights : ndarray of float64, shape (n_rows,), optional
        Weight of each row in the price of a split; None means 1 each.
    owned : ndarray of uint64, shape (n_rows, n_words), optional
        What each row owns already, 64 features per word; None means nothing.
    n_threads : int
        Threads to use; any number gives the same ledgers.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> bins = Bins(X, Schema.learn(X))
    >>> ledgers = RowLedgers(bins, CostSheet([1.0]))
    >>> ledgers.owned().ravel()
    array([0, 0, 0, 0], dtype=uint64)
    >>> from farthing.trees import Grower
    >>> grower = Grower(bins, CostSheet([1.0]), max_depth=1)
    >>> _ = grower.gradient(np.array([-1.0, -1.0, 1.0, 1.0]), ledgers=ledgers)
    >>> ledgers.owned().ravel()
    array([1, 1, 1, 1], dtype=uint64)
    """

    def __init__(
        self,
        bins: Bins,
        sheet: CostSheet,
        *,
        budget: float | None = None,
        weights: NDArray[np.float64] | None = None,
        owned: NDArray[np.uint64] | None = None,
        n_threads: int = 1,
    ) -> None:
        self.core = CompiledLedgers(
            bins.core,
            sheet.own,
            sheet.shared,
            sheet.group_of,
            budget=math.inf if budget is None else budget,
            weights=weights,
            owned=owned,
            n_threads=n_threads,
            peers=peers(),
        )

    def owned(self) -> NDArray[np.uint64]:
        """Return a copy of what each row owns, shape (n_rows, n_words), 64 features per word."""
        return self.core.owned()
