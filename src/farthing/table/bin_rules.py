"""How the values of each column map to bins: learned from a sample of a table, applied to parts of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing._core import bin_part, sampled_rows
from farthing.table.bins import MAX_BINS, SAMPLE_ROWS, Bins, plain
from farthing.table.schema import Schema


def sample_of(n_rows: int) -> NDArray[np.int64]:
    """Return the rows that the bins of a table are learned from, ascending: a function of its length alone.

    Examples
    --------
    >>> sample_of(3)
    array([0, 1, 2]...)
    """
    return sampled_rows(n_rows, SAMPLE_ROWS)


@dataclass(frozen=True, slots=True)
class BinRules:
    """The bins of the columns of a table, without its rows.

    Parameters
    ----------
    edges : tuple of ndarray of float64
        For each column, where its bins end; empty if it is categorical.
    bins_of_codes : tuple of ndarray of uint8
        For each column, the bin of each category; empty if it is numeric.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [np.nan], [2.0]])
    >>> rules = BinRules.learn(X, Schema.learn(X))
    >>> rules.codes(X).ravel()
    array([0, 1, 2, 1], dtype=uint8)
    >>> rules.values(rules.codes(X)).ravel()  # in the same bins
    array([1.5, inf, nan, inf])
    """

    edges: tuple[NDArray[np.float64], ...]
    bins_of_codes: tuple[NDArray[np.uint8], ...]

    @classmethod
    def learn(
        cls, sample: NDArray[np.floating], schema: Schema, max_bins: int = MAX_BINS, n_threads: int = 1
    ) -> BinRules:
        """Learn the bins from the rows that `sample_of` draws, encoded; the bins of `Bins` for all rows."""
        bins = Bins(sample, schema, max_bins=max_bins, n_threads=n_threads)
        columns = range(bins.n_features)
        return cls(
            tuple(bins.edges(column) for column in columns),
            tuple(bins.core.bins_of_codes(column) for column in columns),
        )

    @classmethod
    def joined(cls, parts: Sequence[BinRules]) -> BinRules:
        """Return the bins of all columns from those of blocks of columns, in order."""
        return cls(
            tuple(edges for part in parts for edges in part.edges),
            tuple(bins for part in parts for bins in part.bins_of_codes),
        )

    def codes(self, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.uint8]:
        """Return the bin of each value, shape (n_rows, n_features)."""
        return bin_part(plain(values), list(self.edges), list(self.bins_of_codes), n_threads)

    def values(self, codes: NDArray[np.uint8]) -> NDArray[np.float64]:
        """Return a value of each bin, shape (n_rows, n_features), which trees on the bins send the same way.

        A split lies at an edge, and the last value of a bin is its edge; categories that share a bin go the
        same way at every split.
        """
        columns = zip(self.edges, self.bins_of_codes, strict=True)
        made = [_value_of_bin(edges, bins)[codes[:, j]] for j, (edges, bins) in enumerate(columns)]
        return np.array(made, order="C").T


def _value_of_bin(edges: NDArray[np.float64], bins_of_codes: NDArray[np.uint8]) -> NDArray[np.float64]:
    """Return a value of each bin of a column; NaN, for missing values, comes last."""
    if not len(bins_of_codes):
        return np.array([*edges, np.inf, np.nan])
    values = np.full(int(bins_of_codes.max()) + 2, np.nan)
    values[bins_of_codes] = np.arange(len(bins_of_codes))
    return values
