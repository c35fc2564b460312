"""A table as a network reads it: what is known of each row, and what is not."""

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
    >>> reading = Reading.learn(X, np.ones(2), Schema.learn(X), np.arange(2))
    >>> reading.inputs(X, np.array([[True, False], [True, True]]))
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
    def learn(
        cls, values: NDArray[np.floating], weights: Floats, schema: Schema, columns: NDArray[np.int64]
    ) -> Reading:
        """Learn from an encoded table and the weights of its rows how some of its columns are read."""
        mean, scale = np.zeros(len(columns)), np.ones(len(columns))
        for number, column in enumerate(columns.tolist()):
            if schema.columns[column].is_categorical:
                continue
            mean[number], variance = moments(np.asarray(values[:, column], dtype=np.float64), weights)
            # A column of one value has the spread of its rounding, and tells nothing.
            least = 1e-24 * max(1.0, mean[number] ** 2)
            scale[number] = 1.0 / np.sqrt(variance) if variance > least else 0.0
        return cls(columns, mean, scale, np.append(0, np.cumsum(_widths(schema, columns))))

    def reads(self, schema: Schema) -> bool:
        """Tell whether a table has these columns, with as many categories."""
        if self.columns[-1] >= len(schema.columns):
            return False
        return np.array_equal(np.diff(self.begin), _widths(schema, self.columns))

    @property
    def n_inputs(self) -> int:
        """Inputs of a network: those of values, then one for each column that says whether it is known."""
        return int(self.begin[-1]) + len(self.columns)

    def inputs(self, values: NDArray[np.floating], known: NDArray[np.bool_], dtype: Any = np.float64) -> Any:
        """Return the inputs of the rows of an encoded table, of which some entries are known.

        A number has its standardised value, a category 1 at its own place. A last input for each column is 1
        if it is known, -1 if it is known to be missing. All that is unknown is 0.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            All columns of the table. What is unknown is not looked at.
        known : ndarray of bool, shape (n_rows, n_features)
        dtype : dtype
            Of the inputs; they have the same values in float32.

        Returns
        -------
        ndarray of dtype, shape (n_rows, n_inputs)
        """
        n_places, n_columns = int(self.begin[-1]), len(self.columns)
        made = np.zeros((len(values), n_places + n_columns), dtype=dtype)
        rows, columns = np.nonzero(known[:, self.columns])
        own = np.asarray(values[rows, self.columns[columns]], dtype=np.float64)
        missing = np.isnan(own)
        width = np.diff(self.begin)[columns]
        with np.errstate(invalid="ignore", over="ignore"):
            amount = np.nan_to_num((own - self.mean[columns]) * self.scale[columns])
        amount = np.clip(amount, -_MOST, _MOST)
        amount = np.where(width > 1, 1.0, np.rint(amount * _GRID) / _GRID)
        codes = np.clip(np.where(missing | (width == 1), 0, own), 0, width - 1).astype(np.int64)
        made[rows, self.begin[columns] + codes] = np.where(missing, 0.0, amount)
        made[rows, n_places + columns] = np.where(missing, -1.0, 1.0)
        return made


def _widths(schema: Schema, columns: NDArray[np.int64]) -> list[int]:
    """Return the inputs of each column."""
    return [max(1, len(schema.columns[column].categories)) for column in columns.tolist()]


def _encode(reading: Reading) -> dict[str, object]:
    return {field.name: getattr(reading, field.name) for field in fields(reading)}


def _decode(given: dict[str, Any]) -> Reading:
    return Reading(**given)


register_codec("Reading", Reading, _encode, _decode)
