"""A table as a network reads it: what each entry adds to its inputs, once it is known."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.booster import Floats
from farthing.store import register_codec
from farthing.table import Schema
from farthing.table.moments import moments

# Numbers that a network reads lie on this grid and within these bounds, so that its sums are exact.
_GRID: Final = 2.0**8
_MOST: Final = 4.0


@dataclass(frozen=True, eq=False)
class Entries:
    """What the entries of some rows add to the inputs of a network.

    Attributes
    ----------
    place : ndarray of int64, shape (n_rows, n_columns)
        The input that an entry speaks to.
    amount : ndarray of float, shape (n_rows, n_columns)
        What it says there: a standardised number, 1 for a category, 0 if it is missing.
    status : ndarray of float, shape (n_rows, n_columns)
        1, or -1 if it is missing; for an input of its own that says whether the entry is known.
    n_places : int
        Inputs before those of the status.
    """

    place: NDArray[np.int64]
    amount: NDArray[np.floating]
    status: NDArray[np.floating]
    n_places: int

    def inputs(self, known: NDArray[np.bool_]) -> NDArray[np.floating]:
        """Return the inputs of rows of which some entries are known.

        Parameters
        ----------
        known : ndarray of bool, shape (n_rows, n_columns)

        Returns
        -------
        ndarray of float, shape (n_rows, n_places + n_columns)
        """
        rows, columns = np.nonzero(known)
        made = np.zeros((len(known), self.n_places + known.shape[1]), dtype=self.amount.dtype)
        made[rows, self.place[rows, columns]] = self.amount[rows, columns]
        made[rows, self.n_places + columns] = self.status[rows, columns]
        return made

    def take(self, rows: NDArray[np.int64] | NDArray[np.bool_]) -> Entries:
        """Return the entries of some of the rows."""
        return Entries(self.place[rows], self.amount[rows], self.status[rows], self.n_places)


@dataclass(frozen=True, eq=False)
class Reading:
    """How the columns of a table that a network knows become its inputs.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_columns,)
        The columns, ascending.
    mean, scale : ndarray of float64, shape (n_columns,)
        A number is read as (x - mean) * scale, within bounds.
    begin : ndarray of int64, shape (n_columns + 1,)
        The first input of each column: a number has one, a column of categories one for each.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan]])
    >>> reading = Reading.learn(X, np.ones(2), Schema.learn(X))
    >>> reading.entries(X).inputs(np.array([[True, False], [True, True]]))
    array([[-1.,  0.,  1.,  0.],
           [ 1.,  0.,  1., -1.]])
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    begin: NDArray[np.int64]

    def __post_init__(self) -> None:
        for name in ("columns", "mean", "scale", "begin"):
            array, dtype = getattr(self, name), np.float64 if name in {"mean", "scale"} else np.int64
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != 1:
                raise ValueError(f"{name} must be a list of {np.dtype(dtype)}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if not len(self.columns) == len(self.mean) == len(self.scale) == len(self.begin) - 1 > 0:
            raise ValueError("columns, mean, scale and begin must fit together")
        if self.columns[0] < 0 or (np.diff(self.columns) <= 0).any():
            raise ValueError("columns must ascend")
        if self.begin[0] != 0 or (np.diff(self.begin) <= 0).any():
            raise ValueError("begin must ascend from 0")

    @classmethod
    def learn(cls, values: NDArray[np.floating], weights: Floats, schema: Schema) -> Reading:
        """Learn from an encoded table, shape (n_rows, n_features), and the weights of its rows."""
        n_columns = len(schema.columns)
        mean, scale, width = np.zeros(n_columns), np.ones(n_columns), np.ones(n_columns, dtype=np.int64)
        for number, column in enumerate(schema.columns):
            if column.is_categorical:
                width[number] = max(1, len(column.categories))
                continue
            mean[number], variance = moments(np.asarray(values[:, number], dtype=np.float64), weights)
            # A column of one value has the spread of its rounding, and tells nothing.
            least = 1e-24 * max(1.0, mean[number] ** 2)
            scale[number] = 1.0 / np.sqrt(variance) if variance > least else 0.0
        return cls(np.arange(n_columns), mean, scale, np.append(0, np.cumsum(width)))

    @property
    def n_inputs(self) -> int:
        """Inputs of a network: those of values, then one for each column that says whether it is known."""
        return int(self.begin[-1]) + len(self.columns)

    def of(self, kept: NDArray[np.int64]) -> Reading:
        """Return the reading of some of the columns, by their ascending places among these."""
        begin = np.append(0, np.cumsum(np.diff(self.begin)[kept]))
        return Reading(self.columns[kept], self.mean[kept], self.scale[kept], begin)

    def entries(self, values: NDArray[np.floating], dtype: Any = np.float64) -> Entries:
        """Return what the rows of an encoded table say, whatever is known of them.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            All columns of the table.
        dtype : dtype
            Of the amounts; the grid has the same bits in float32.
        """
        own = np.asarray(values[:, self.columns], dtype=np.float64)
        missing = np.isnan(own)
        with np.errstate(invalid="ignore", over="ignore"):
            amount = (own - self.mean) * self.scale
        amount[np.isnan(amount)] = 0.0
        np.clip(amount, -_MOST, _MOST, out=amount)
        amount = (np.rint(amount * _GRID) / _GRID).astype(dtype)
        place = np.broadcast_to(self.begin[:-1], own.shape)
        width = np.diff(self.begin)
        if (several := width > 1).any():
            place = place.copy()
            codes = np.where(missing, 0, own)[:, several].astype(np.int64)
            place[:, several] += np.clip(codes, 0, width[several] - 1)
            amount[:, several] = ~missing[:, several]
        return Entries(place, amount, np.where(missing, -1.0, 1.0).astype(dtype), int(self.begin[-1]))


def _encode(reading: Reading) -> dict[str, object]:
    return {field.name: getattr(reading, field.name) for field in fields(reading)}


def _decode(given: dict[str, Any]) -> Reading:
    return Reading(**given)


register_codec("Reading", Reading, _encode, _decode)
