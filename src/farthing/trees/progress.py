"""State of rows that pass through the trees of a model in several steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.table.bins import plain


class Progress:
    """Outputs, purchases and refusals of rows after some of the trees of a model.

    `Predictor.advance` sends the rows on. A row that has passed all trees of a model in order, in any number
    of steps, has the same bits as `Predictor.predict` gives in one pass. Which trees come next may depend on
    the state of the rows, so both early exits and boosting use it.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_features)
        An encoded table, in any memory order.
    n_outputs : int
        Columns of the raw output.
    sheet : CostSheet
        The prices, in the order of the columns; calls, if it has any, are bought by `Predictor.advance_paid`.
    budget : ndarray of float64, shape (n_rows,), optional
        Hard budget of each row: a feature that would exceed it is refused for good and counts as missing.
    n_threads : int
        Threads to use; any number gives the same bits.

    Attributes
    ----------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        The sums of the trees so far.
    touched, refused : ndarray of uint64, shape (n_rows, n_words)
        Sets of features, 64 per word.

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
        n_rows, n_features = len(values), len(sheet.features)
        # The compiled core accounts for columns. A call is one that no tree tests.
        unread = np.full((n_rows, len(sheet.calls)), np.nan, dtype=values.dtype)
        self.values = plain(np.concatenate([values, unread], axis=1) if sheet.calls else values)
        self.sheet = sheet
        self.budget = budget
        self.n_threads = n_threads
        self.outputs: NDArray[np.float64] = np.zeros((n_rows, n_outputs))
        self.touched: NDArray[np.uint64] = np.zeros((n_rows, -(-n_features // 64)), dtype=np.uint64)
        self.refused: NDArray[np.uint64] = np.zeros_like(self.touched)

    @property
    def acquired(self) -> NDArray[np.bool_]:
        """What each row has paid for so far, calls included, shape (n_rows, n_features)."""
        return unpack(self.touched, self.values.shape[1])

    def mark(self, feature: int, rows: NDArray[np.int64], *, owned: bool) -> None:
        """Enter that rows have a feature or a call, or that they do not."""
        word, bit = divmod(feature, 64)
        flag = np.uint64(1) << np.uint64(bit)
        self.touched[rows, word] = self.touched[rows, word] & ~flag | (flag if owned else np.uint64(0))

    def acquired_by(self, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the features that some rows have paid for so far, shape (len(rows), n_features)."""
        return unpack(self.touched[rows], self.values.shape[1])


def unpack(words: NDArray[np.uint64], n_features: int) -> NDArray[np.bool_]:
    """Unpack sets of 64 features per word into bools, shape (n_rows, n_features)."""
    # Feature j is bit j % 64 of word j // 64. In little-endian bytes, read from the low bit up, the bits of
    # consecutive words are in the order of the features.
    octets = words.astype("<u8", copy=False).view(np.uint8)
    return np.unpackbits(octets, axis=1, count=n_features, bitorder="little").view(np.bool_)
