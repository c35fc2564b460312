"""Rows on their way through trees, some trees at a time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.table.bins import plain


class Progress:
    """What rows have been told, have bought and were refused, after some trees and before others.

    `Predictor.advance` sends the rows on. A row that has met all trees of a model, in order and in however
    many legs, has the bits that `Predictor.predict` gives in one pass. Which trees come next may depend on
    where the rows stand, so early exits and boosting itself both run on it.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_features)
        An encoded table, in any memory order.
    n_outputs : int
        Columns of the raw output.
    sheet : CostSheet
        The prices, in the order of the columns.
    budget : ndarray of float64, shape (n_rows,), optional
        A hard cap for each row: a feature that would exceed it is refused for good, and counts as missing.
    n_threads : int
        Threads to use; any number gives the same bits.

    Attributes
    ----------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        The sums of the trees so far.
    touched, refused : ndarray of uint64, shape (n_rows, n_words)
        Sets of features, 64 a word.

    Examples
    --------
    >>> from farthing.trees import Forest, Predictor
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> progress = Progress(np.array([[9.0, 0.2], [9.0, 0.7]]), 1, CostSheet([3, 5]))
    >>> predictor = Predictor(Forest.concat([stump, stump]))
    >>> predictor.advance(progress, 0, 1)
    >>> progress.outputs.ravel()
    array([-1.,  1.])
    >>> predictor.advance(progress, 1, 2, rows=np.array([1]))
    >>> progress.outputs.ravel()
    array([-1.,  2.])
    """

    def __init__(
        self,
        values: NDArray[np.floating],
        n_outputs: int,
        sheet: CostSheet,
        *,
        budget: NDArray[np.float64] | None = None,
        n_threads: int = 1,
    ) -> None:
        n_rows, n_features = values.shape
        self.values = plain(values)
        self.sheet = sheet
        self.budget = budget
        self.n_threads = n_threads
        self.outputs: NDArray[np.float64] = np.zeros((n_rows, n_outputs))
        self.touched: NDArray[np.uint64] = np.zeros((n_rows, -(-n_features // 64)), dtype=np.uint64)
        self.refused: NDArray[np.uint64] = np.zeros_like(self.touched)

    @property
    def acquired(self) -> NDArray[np.bool_]:
        """What each row has paid for so far, shape (n_rows, n_features)."""
        return unpack(self.touched, self.values.shape[1])

    def acquired_by(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return what some rows have paid for so far, shape (len(rows), n_features)."""
        return unpack(self.touched[rows], self.values.shape[1])


def unpack(words: NDArray[np.uint64], n_features: int) -> NDArray[np.bool_]:
    """Unpack sets of 64 features a word into bools, shape (n_rows, n_features)."""
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_features, bitorder="little").view(np.bool_)
