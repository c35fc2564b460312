"""Binned tables, one byte per entry: the input of the compiled tree growers."""

from __future__ import annotations

from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import bin_table, empty_table
from farthing.table.schema import Schema

# A code is one byte, and one of its 256 values is for missing entries.
MAX_BINS: Final = 255
# Edges of longer tables are learned from a sample of this many rows, some 250 per bin.
SAMPLE_ROWS: Final = 65_536

_WORD_BITS: Final = 64


class Bins:
    """A table with every column cut into at most 255 bins, and one more for missing values.

    A column with few distinct values gets one bin for each; others get quantile bins, learned from a sample
    of the rows if there are many. Each category has a bin of its own, but the rarest share one if there are
    more than 255.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_features)
        An encoded table, in any memory order; it is not copied.
    schema : Schema
        Kinds of the columns.
    max_bins : int
        Maximum number of bins per column, not counting the one for missing values; 2 to 255.
    n_threads : int
        Threads to use; any number gives the same bins.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[1.0], [2.0], [np.nan], [2.0]])
    >>> bins = Bins(X, Schema.learn(X))
    >>> bins.codes()
    array([[0, 1, 2, 1]], dtype=uint8)
    >>> bins.edges(0)
    array([1.5])
    """

    def __init__(
        self,
        values: NDArray[np.floating],
        schema: Schema,
        *,
        max_bins: int = MAX_BINS,
        n_threads: int = 1,
    ) -> None:
        if not 2 <= max_bins <= MAX_BINS:
            raise ValueError(f"max_bins must lie between 2 and {MAX_BINS}; got {max_bins!r}")
        n_categories = _category_counts(schema)
        self.core = bin_table(plain(values), n_categories, max_bins, SAMPLE_ROWS, n_threads)
        #: 64-bit words of a set of each column's categories, 0 for numeric columns; shape (n_features,).
        self.category_widths: NDArray[np.int64] = -(-n_categories // _WORD_BITS)

    @classmethod
    def empty(
        cls,
        n_rows: int,
        schema: Schema,
        edges: list[NDArray[np.float64]],
        bins_of_codes: list[NDArray[np.uint8]],
    ) -> Bins:
        """Return room for rows that are binned already, for `set_rows`; see `farthing.table.bin_rules`."""
        made = cls.__new__(cls)
        made.core = empty_table(n_rows, edges, bins_of_codes)
        made.category_widths = -(-_category_counts(schema) // _WORD_BITS)
        return made

    def set_rows(self, first: int, codes: NDArray[np.uint8]) -> None:
        """Set the rows from ``first`` on to codes of shape (n, n_features)."""
        self.core.set_rows(first, codes)

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.core.n_rows

    @property
    def n_features(self) -> int:
        """Number of columns."""
        return self.core.n_columns

    def codes(self, begin: int = 0, end: int | None = None) -> NDArray[np.uint8]:
        """Return a copy of the codes of some rows, or of all, shape (n_features, n_rows).

        Missing is the code after the last bin.
        """
        return self.core.codes(begin, self.n_rows if end is None else end)

    def n_bins(self, column: int) -> int:
        """Return the number of bins of a column, not counting that of missing values."""
        return self.core.n_bins(column)

    @cached_property
    def bin_counts(self) -> tuple[int, ...]:
        """The number of bins of each column, as `n_bins`."""
        return tuple(self.core.n_bins(column) for column in range(self.n_features))

    def edges(self, column: int) -> NDArray[np.float64]:
        """Return the edges of a numeric column: bin b holds the values in (edge b - 1, edge b]."""
        return self.core.edges(column)


def _category_counts(schema: Schema) -> NDArray[np.int64]:
    return np.array([len(column.categories) for column in schema.columns], dtype=np.int64)


def plain(values: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return a table that the core can read in place: itself, unless byte-swapped or unaligned."""
    dtype, flags = values.dtype, values.flags
    # The core steps in whole elements, so an array whose strides are not multiples of them is copied, too.
    steps = flags.c_contiguous or not any(stride % values.itemsize for stride in values.strides)
    if dtype.char in "fd" and dtype.isnative and flags.aligned and steps:
        return values
    return values.astype(np.float64)
