"""Matrices of which most entries are zero, such as the class weights of the nodes of deep trees."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import SparseScores
from farthing.typing import Floats, Integers

# Fewer columns than this are not worth the indices; the compiled grower has the same bound.
_MIN_COLUMNS: Final = 32
_MAX_DENSE_SHARE: Final = 0.5
_DTYPES: Final[dict[str, type[np.generic]]] = {"starts": np.int64, "columns": np.int32, "entries": np.float64}


@dataclass(frozen=True, eq=False)
class SparseRows:
    """A matrix without negative entries, stored without its zeros. No row is empty.

    Parameters
    ----------
    n_columns : int
        Number of columns.
    starts : ndarray of int64, shape (n_rows + 1,)
        Entries of row ``i`` are ``starts[i]`` to ``starts[i + 1]``.
    columns : ndarray of int32, shape (n_entries,)
        The column of each entry, ascending in each row.
    entries : ndarray of float64, shape (n_entries,)
        Positive numbers.

    Examples
    --------
    >>> rows = SparseRows.of(np.array([[0.0, 3.0, 1.0], [2.0, 0.0, 0.0]]))
    >>> rows.entries
    array([3., 1., 2.])
    >>> rows[1:].dense()
    array([[2., 0., 0.]])
    """

    n_columns: int
    starts: Integers
    columns: NDArray[np.int32]
    entries: Floats

    def __post_init__(self) -> None:
        if type(self.n_columns) is not int or not 1 <= self.n_columns < 2**31:
            raise ValueError(f"n_columns must lie between 1 and {2**31 - 1}; got {self.n_columns!r}")
        for name, dtype in _DTYPES.items():
            array = getattr(self, name)
            if not isinstance(array, np.ndarray) or array.dtype != np.dtype(dtype) or array.ndim != 1:
                raise ValueError(f"{name} must be an array of {np.dtype(dtype)} with 1 dimension")
            view = np.ascontiguousarray(array).view()
            view.flags.writeable = False
            object.__setattr__(self, name, view)

    @classmethod
    def of(cls, values: Floats) -> Self:
        """Return a dense matrix without its zeros."""
        rows, columns = np.nonzero(values)
        starts = np.zeros(len(values) + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=len(values)), out=starts[1:])
        return cls(values.shape[1], starts, columns.astype(np.int32), values[rows, columns])

    @classmethod
    def concat(cls, parts: list[SparseRows]) -> Self:
        """Return matrices of the same columns below one another."""
        before = np.cumsum([0, *(len(part.entries) for part in parts)])
        starts = [part.starts[1:] + first for part, first in zip(parts, before[:-1], strict=True)]
        return cls(
            parts[0].n_columns,
            np.concatenate([np.zeros(1, dtype=np.int64), *starts]),
            np.concatenate([part.columns for part in parts]),
            np.concatenate([part.entries for part in parts]),
        )

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns."""
        return len(self), self.n_columns

    @property
    def nbytes(self) -> int:
        """Memory of the arrays."""
        return sum(getattr(self, name).nbytes for name in _DTYPES)

    @cached_property
    def compiled(self) -> SparseScores:
        """The arrays for the compiled core, which shares their memory."""
        return SparseScores(self.starts, self.columns, self.entries, self.n_columns)

    @property
    def row_of_entry(self) -> Integers:
        """The row of each entry, shape (n_entries,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.starts))

    def __len__(self) -> int:
        return len(self.starts) - 1

    def __getitem__(self, rows: slice | NDArray[np.bool_] | Integers) -> SparseRows:
        """Return some of the rows: a slice of them, those of a mask, or by their numbers."""
        chosen = np.arange(len(self))[rows]
        lengths = np.diff(self.starts)[chosen]
        starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(lengths)])
        # The old place of every entry that is kept: each row is a run from its start on.
        places = np.repeat(self.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
        return SparseRows(self.n_columns, starts, self.columns[places], self.entries[places])

    def dense(self) -> Floats:
        """Return the matrix with its zeros, shape (n_rows, n_columns)."""
        size = 8 * len(self) * self.n_columns
        # A file of some megabytes may stand for more zeros than any machine holds.
        if size > _MAX_DENSE_SHARE * _memory():
            raise MemoryError(
                f"the values of {len(self)} nodes for {self.n_columns} classes take {size / 2**30:.1f} GiB "
                "with their zeros, more than half of the memory; use fewer trees, or limit their depth"
            )
        values = np.zeros(self.shape)
        values[self.row_of_entry, self.columns] = self.entries
        return values

    def with_entries(self, entries: Floats) -> SparseRows:
        """Return other positive numbers at the same places."""
        return SparseRows(self.n_columns, self.starts, self.columns, entries)

    def sums(self) -> Floats:
        """Return the sum of each row, added from the first column to the last, shape (n_rows,)."""
        # Not np.add.reduceat, whose order of additions depends on the length of a row.
        return np.bincount(self.row_of_entry, weights=self.entries, minlength=len(self)).astype(np.float64)

    def normalised(self) -> SparseRows:
        """Return each row divided by its sum."""
        return self.with_entries(self.entries / np.repeat(self.sums(), np.diff(self.starts)))

    def argmax(self) -> Integers:
        """Return the first column of the largest entry of each row, shape (n_rows,)."""
        largest = np.maximum.reduceat(self.entries, self.starts[:-1])
        is_largest = np.flatnonzero(self.entries == np.repeat(largest, np.diff(self.starts)))
        first = is_largest[np.searchsorted(is_largest, self.starts[:-1])]
        return self.columns[first].astype(np.int64)

    def validate(self) -> None:
        """Raise ValueError if the arrays do not describe such a matrix; they may come from a hostile file."""
        starts, columns = self.starts, self.columns
        if not len(starts) or starts[0] != 0 or starts[-1] != len(self.entries):
            raise ValueError(f"starts must run from 0 to the number of entries, {len(self.entries)}")
        if len(columns) != len(self.entries):
            raise ValueError(f"there are {len(columns)} columns for {len(self.entries)} entries")
        if (starts[1:] <= starts[:-1]).any():
            raise ValueError("every row must have an entry")
        if len(columns) and (columns.min() < 0 or columns.max() >= self.n_columns):
            raise ValueError(f"columns must lie between 0 and {self.n_columns - 1}")
        follows = np.ones(len(columns), dtype=np.bool_)
        follows[starts[:-1]] = False
        if (columns[1:] <= columns[:-1])[follows[1:]].any():
            raise ValueError("the columns of a row must ascend")
        if not (np.isfinite(self.entries) & (self.entries > 0)).all():
            raise ValueError("entries must be positive and finite")

    def __reduce__(self) -> tuple[Any, ...]:
        # The compiled object does not pickle; it is made again from the arrays.
        return SparseRows, (self.n_columns, self.starts, self.columns, self.entries)


#: Values of nodes: a matrix of shape (n_nodes, width), or one without its zeros.
NodeValues: TypeAlias = Floats | SparseRows


def compact(values: NodeValues) -> NodeValues:
    """Return the values of nodes without zeros where that at least halves their memory, with zeros elsewhere.

    Examples
    --------
    >>> compact(np.eye(100)).nbytes, np.eye(100).nbytes
    (2008, 80000)
    >>> type(compact(np.ones((100, 100)))).__name__
    'ndarray'
    """
    if isinstance(values, np.ndarray):
        if values.shape[1] < _MIN_COLUMNS or 2 * _sparse_bytes(values) > values.nbytes:
            return values
        # Entries must be positive, and a row must have one. -0.0 is not positive, but not an entry either.
        if (values < 0).any() or np.signbit(values).any() or not values.any(axis=1).all():
            return values
        return SparseRows.of(values)
    return values if 2 * values.nbytes <= 8 * len(values) * values.n_columns else values.dense()


def _memory() -> int:
    """Return the bytes of memory of the machine; 2**62 where the system does not say."""
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return 2**62


def _sparse_bytes(values: Floats) -> int:
    return 12 * int(np.count_nonzero(values)) + 8 * (len(values) + 1)


def dense_values(values: NodeValues) -> Floats:
    """Return the values of nodes with their zeros, shape (n_nodes, width)."""
    return values.dense() if isinstance(values, SparseRows) else values


def rows_of(values: NodeValues, nodes: Integers) -> Floats:
    """Return the values of some nodes with their zeros, shape (n_nodes, width).

    Examples
    --------
    >>> rows_of(SparseRows.of(np.eye(3)), np.array([2, 0]))
    array([[0., 0., 1.],
           [1., 0., 0.]])
    """
    return dense_values(values[nodes])


def core_scores(values: NodeValues) -> Floats | SparseScores:
    """Return the values of nodes as the compiled core takes them."""
    return values.compiled if isinstance(values, SparseRows) else values


def join_values(parts: list[NodeValues]) -> NodeValues:
    """Return the values of the nodes of several forests, in this order; sparse if some are and it pays."""
    if not any(isinstance(part, SparseRows) for part in parts):
        return np.concatenate([dense_values(part) for part in parts])
    sparse = [part if isinstance(part, SparseRows) else SparseRows.of(part) for part in parts]
    if all((np.diff(part.starts) > 0).all() and (part.entries > 0).all() for part in sparse):
        return compact(SparseRows.concat(sparse))
    return np.concatenate([dense_values(part) for part in parts])


def same_values(some: NodeValues, others: NodeValues) -> bool:
    """Return whether the values of nodes are the same, bit by bit."""
    if isinstance(some, SparseRows) and isinstance(others, SparseRows):
        return some.n_columns == others.n_columns and all(
            np.array_equal(getattr(some, name), getattr(others, name)) for name in _DTYPES
        )
    mine, theirs = dense_values(some), dense_values(others)
    return mine.shape == theirs.shape and np.array_equal(
        mine.reshape(-1).view(np.uint8), theirs.reshape(-1).view(np.uint8)
    )
