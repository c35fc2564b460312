"""An encoded table, together with the entries that are invalid or unseen."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.table.columns import Column
from farthing.table.unseen import Unseen, warn_unseen

# Positions of no entries.
_NOWHERE: Final = np.empty(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Encoded:
    """A table as floats, in the order of the schema's columns.

    An entry that is invalid in its column is encoded as NaN and recorded, and so is a category that no
    training row had. Only acquired entries may raise an error or a warning (blindness), so `check` issues
    them once they are known.

    Parameters
    ----------
    values : ndarray of float32 or float64, shape (n_rows, n_features)
        Numbers and codes of categories; NaN where missing, unseen or invalid. Any strides. It may be the
        user's own array, so never write to it.
    invalid_rows, invalid_columns : ndarray of int64, shape (n_invalid,)
        Positions of the invalid entries.
    invalid_values : tuple of object, length n_invalid
        Their values.
    columns : tuple of Column
        The columns of the schema, for messages.
    unseen : mapping of int to Unseen
        By column, the categories that no training row had.
    lacking : tuple of int
        The columns that the table does not have; their values are NaN.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> schema = Schema.learn(np.array([[1.0, 2.0], [3.0, 4.0]]))
    >>> encoded = schema.encode(np.array([[1.0, "two"]], dtype=object))
    >>> encoded.values
    array([[ 1., nan]])
    >>> encoded.check(np.array([[True, False]]))
    >>> encoded.check(np.array([[True, True]]))
    Traceback (most recent call last):
    ...
    farthing.errors.TableError: column 'x1': got the string 'two' in row 0, expected a number, ...
    """

    values: NDArray[np.floating[Any]]
    invalid_rows: NDArray[np.int64]
    invalid_columns: NDArray[np.int64]
    invalid_values: tuple[object, ...]
    columns: tuple[Column, ...]
    unseen: Mapping[int, Unseen] = field(default_factory=dict)
    lacking: tuple[int, ...] = ()

    @classmethod
    def valid(cls, values: NDArray[np.floating[Any]], columns: tuple[Column, ...]) -> "Encoded":
        """Return a table of floats in which every entry is valid."""
        return cls(values, _NOWHERE, _NOWHERE, (), columns)

    def take(self, rows: NDArray[Any]) -> "Encoded":
        """Return some of the rows, given by index or by mask; unseen categories become plain missing ones."""
        values = self.values[rows]
        if not len(self.invalid_rows):
            return replace(Encoded.valid(values, self.columns), lacking=self.lacking)
        numbers = np.flatnonzero(rows) if rows.dtype == np.bool_ else np.asarray(rows, dtype=np.int64)
        # A row may be taken several times: every copy of an invalid entry is invalid.
        invalid = [
            (place, int(self.invalid_columns[k]), self.invalid_values[k])
            for k in range(len(self.invalid_rows))
            for place in np.flatnonzero(numbers == self.invalid_rows[k]).tolist()
        ]
        return Encoded(
            values,
            np.array([row for row, _, _ in invalid], dtype=np.int64),
            np.array([column for _, column, _ in invalid], dtype=np.int64),
            tuple(value for _, _, value in invalid),
            self.columns,
            lacking=self.lacking,
        )

    def check(self, acquired: NDArray[np.bool_] | None = None) -> None:
        """Raise an error if an acquired entry is invalid, and warn of those that are unseen.

        Parameters
        ----------
        acquired : ndarray of bool, shape (n_rows, n_features), optional
            The features that the prediction of each row acquired; None for all.

        Raises
        ------
        TableError
            Naming the column, the row and the value of the first invalid entry, or an acquired column that
            the table does not have.

        Warns
        -----
        UnseenCategoryWarning
            Once, with the share of unseen categories in each column.
        """
        if acquired is not None and acquired.shape != self.values.shape:
            raise TableError(
                f"got an account of shape {acquired.shape}, expected that of the table, {self.values.shape}"
            )
        self.check_invalid(acquired)
        if self.unseen:
            self.warn_unseen(acquired)

    def check_invalid(self, acquired: NDArray[np.bool_] | None = None) -> None:
        """Raise the errors of `check`, without its warning."""
        for j in self.lacking:
            if acquired is None or acquired[:, j].any():
                raise TableError(f"the table lacks the column {self.columns[j].name!r}, which is needed")
        if not len(self.invalid_rows):
            return
        looked_at = (
            np.ones(len(self.invalid_rows), dtype=bool)
            if acquired is None
            else np.asarray(acquired[self.invalid_rows, self.invalid_columns], dtype=bool)
        )
        for k in np.flatnonzero(looked_at)[:1]:  # the first one; reject() raises
            column = self.columns[self.invalid_columns[k]]
            column.reject(self.invalid_values[k], row=int(self.invalid_rows[k]))

    def warn_unseen(self, acquired: NDArray[np.bool_] | None = None) -> None:
        """Warn of acquired entries that are unseen categories; parameters as in `check`."""
        everywhere = np.ones(len(self.values), dtype=np.bool_)
        described = [
            found.describe(
                self.columns[j].name,
                self.columns[j].categories,
                everywhere if acquired is None else np.asarray(acquired[:, j], dtype=np.bool_),
            )
            for j, found in self.unseen.items()
        ]
        warn_unseen([line for line in described if line is not None])
