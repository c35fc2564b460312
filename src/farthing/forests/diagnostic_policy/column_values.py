"""The few values of each column that a policy tells apart: distinct ones, or intervals of equal weight."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.table import Bins
from farthing.typing import Floats

_NO_THRESHOLDS: Final = np.empty(0)


@dataclass(frozen=True, eq=False)
class ColumnValues:
    """Values as codes, and the thresholds between those of numeric columns.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_features, n_rows)
        The value of each row; the one after the last is that of missing values.
    thresholds : tuple of ndarray of float64
        For each numeric column the ascending upper ends of its values but the last; empty for categories.
    n_present : tuple of int
        Number of values of each column that are not missing.
    category_widths : ndarray of int64, shape (n_features,)
        As in `Bins`; 0 for numeric columns.
    """

    codes: NDArray[np.uint8]
    thresholds: tuple[Floats, ...]
    n_present: tuple[int, ...]
    category_widths: NDArray[np.int64]

    @classmethod
    def of(cls, bins: Bins, weights: Floats, most: int) -> ColumnValues:
        """Join neighbouring bins of numeric columns that have more than ``most``.

        By the weights of the rows, and not by their number, so that a row of weight 2 is two rows.
        """

        def groups_of(column: int, codes: NDArray[np.uint8]) -> NDArray[np.int64]:
            n_bins = bins.n_bins(column)
            counts = np.bincount(codes, weights=weights, minlength=n_bins + 1).astype(np.float64)
            return joined(counts[:n_bins], most)

        return cls._of_groups(bins, groups_of)

    @classmethod
    def cut(cls, bins: Bins, thresholds: Sequence[Floats]) -> ColumnValues:
        """Join neighbouring bins of numeric columns unless a threshold is between them.

        Parameters
        ----------
        bins : Bins
            The table.
        thresholds : sequence of ndarray of float64
            For each column; one within a bin counts as the lower end of it.
        """

        def groups_of(column: int, _: NDArray[np.uint8]) -> NDArray[np.int64]:
            n_bins = bins.n_bins(column)
            ends = np.searchsorted(bins.edges(column)[: n_bins - 1], thresholds[column], side="right")
            starts = np.zeros(n_bins, dtype=np.int64)
            starts[ends[(ends > 0) & (ends < n_bins)]] = 1
            return np.cumsum(starts)

        return cls._of_groups(bins, groups_of)

    @classmethod
    def _of_groups(
        cls, bins: Bins, groups_of: Callable[[int, NDArray[np.uint8]], NDArray[np.int64]]
    ) -> ColumnValues:
        """Join the bins of numeric columns by the group of each, which ascends without gaps."""
        codes = bins.codes()
        thresholds, n_present = [_NO_THRESHOLDS] * bins.n_features, list(bins.bin_counts)
        for column in np.flatnonzero(bins.category_widths == 0).tolist():
            groups = np.append(groups_of(column, codes[column]), 0)
            groups[-1] = groups[:-1].max(initial=-1) + 1  # missing values
            last = np.flatnonzero(np.diff(groups[:-1]))
            thresholds[column] = bins.edges(column)[last]
            n_present[column] = int(groups[-1])
            codes[column] = groups[codes[column]]
        return cls(codes, tuple(thresholds), tuple(n_present), bins.category_widths)

    @property
    def n_values(self) -> tuple[int, ...]:
        """Number of values of each column, that of missing ones included where there are any."""
        seen = (self.codes.max(axis=1).astype(np.int64) + 1).tolist()
        return tuple(max(n_present, n_seen) for n_present, n_seen in zip(self.n_present, seen, strict=True))


def joined(weights: Floats, most: int) -> NDArray[np.int64]:
    """Return the group of each bin: its own if there are few bins, else one of ``most`` of equal weight.

    Examples
    --------
    >>> joined(np.array([1.0, 1.0, 1.0, 3.0]), 2)
    array([0, 0, 0, 1])
    >>> joined(np.array([1.0, 5.0]), 2)
    array([0, 1])
    """
    if len(weights) <= most:
        return np.arange(len(weights))
    middles = np.cumsum(weights) - weights / 2
    groups = np.minimum((middles / weights.sum() * most).astype(np.int64), most - 1)
    # Numbered without gaps: a heavy bin may leave some of them empty.
    return np.asarray(np.unique(groups, return_inverse=True)[1], dtype=np.int64)
