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
MOST_LEVELS: Final = 2**8
_DTYPES: Final = {
    "columns": np.int64,
    "mean": np.float64,
    "scale": np.float64,
    "edges": np.float64,
    "begin": np.int64,
    "categorical": np.bool_,
}


@dataclass(frozen=True, eq=False)
class Reading:
    """How the columns of a table that a network knows become its inputs.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_columns,)
        The columns, ascending.
    mean, scale : ndarray of float64, shape (n_columns,)
        Without levels a number is read as (x - mean) * scale, within bounds.
    edges : ndarray of float64, shape (n_columns, n_levels + 1)
        With levels it is read by one input each: from -1 at its lower edge and below to 1 at its upper one
        and above. No levels are edges of shape (n_columns, 0).
    begin : ndarray of int64, shape (n_columns + 1,)
        The first input of each column.
    categorical : ndarray of bool, shape (n_columns,)
        Columns of categories, which have one input each.

    Examples
    --------
    >>> X = np.array([[1.0, 5.0], [3.0, np.nan]])
    >>> reading = Reading.learn(X, np.ones(2), Schema.learn(X), np.arange(2))
    >>> reading.inputs(X, np.array([[True, False], [True, True]]))
    array([[-1.,  0.,  1.,  0.],
           [ 1.,  0.,  1., -1.]])
    >>> X = np.arange(5.0)[:, np.newaxis]
    >>> reading = Reading.learn(X, np.ones(5), Schema.learn(X), np.arange(1), n_levels=2)
    >>> reading.inputs(np.array([[1.0]]), np.array([[True]]))
    array([[ 0., -1.,  1.]])
    """

    columns: NDArray[np.int64]
    mean: Floats
    scale: Floats
    edges: Floats
    begin: NDArray[np.int64]
    categorical: NDArray[np.bool_]

    def __post_init__(self) -> None:
        for field in fields(self):
            array, dtype = getattr(self, field.name), _DTYPES[field.name]
            n_axes = 2 if field.name == "edges" else 1
            if not isinstance(array, np.ndarray) or array.dtype != dtype or array.ndim != n_axes:
                raise ValueError(f"{field.name} must be a list of {np.dtype(dtype)}")
            if not np.isfinite(array).all():
                raise ValueError(f"{field.name} must be finite")
        lengths = {len(getattr(self, name)) for name in _DTYPES if name != "begin"}
        if lengths != {len(self.begin) - 1} or not len(self.columns):
            raise ValueError("columns, mean, scale, edges, categorical and begin must fit together")
        if self.columns[0] < 0 or (np.diff(self.columns) <= 0).any():
            raise ValueError("columns must ascend")
        if self.begin[0] != 0 or (np.diff(self.begin) <= 0).any():
            raise ValueError("begin must ascend from 0")
        widths = np.diff(self.begin)[~self.categorical]
        if (widths != max(1, self.n_levels)).any() or self.edges.shape[1] == 1:
            raise ValueError("a number has one input, or one for each level")
        if (np.diff(self.edges) < 0).any():
            raise ValueError("edges must not fall")

    @classmethod
    def learn(
        cls,
        values: NDArray[np.floating],
        weights: Floats,
        schema: Schema,
        columns: NDArray[np.int64],
        n_levels: int = 1,
    ) -> Reading:
        """Learn from an encoded table and the weights of its rows how some of its columns are read.

        The edges of levels, if there is more than one, part the different values of a column evenly.
        """
        mean, scale = np.zeros(len(columns)), np.ones(len(columns))
        edges = np.zeros((len(columns), n_levels + 1 if n_levels > 1 else 0))
        categorical = np.array([schema.columns[column].is_categorical for column in columns.tolist()])
        for number in np.flatnonzero(~categorical).tolist():
            own = np.asarray(values[:, columns[number]], dtype=np.float64)
            mean[number], variance = moments(own, weights)
            # A column of one value has the spread of its rounding, and tells nothing.
            least = 1e-24 * max(1.0, mean[number] ** 2)
            scale[number] = 1.0 / np.sqrt(variance) if variance > least else 0.0
            if n_levels > 1 and len(seen := np.unique(own[np.isfinite(own)])):
                places = np.linspace(0, len(seen) - 1, n_levels + 1).astype(np.int64)
                edges[number] = seen[places]
        widths = _widths(schema, columns, n_levels)
        return cls(columns, mean, scale, edges, np.append(0, np.cumsum(widths)), categorical)

    def reads(self, schema: Schema) -> bool:
        """Tell whether a table has these columns, with as many categories."""
        if self.columns[-1] >= len(schema.columns):
            return False
        kinds = [schema.columns[column].is_categorical for column in self.columns.tolist()]
        widths = _widths(schema, self.columns, max(1, self.n_levels))
        return np.array_equal(self.categorical, kinds) and np.array_equal(np.diff(self.begin), widths)

    @property
    def n_levels(self) -> int:
        """Inputs of a number that are levels; 0 if it has one input, which is no level."""
        return max(0, int(self.edges.shape[1]) - 1)

    @property
    def n_inputs(self) -> int:
        """Inputs of a network: those of values, then one for each column that says whether it is known."""
        return int(self.begin[-1]) + len(self.columns)

    def inputs(self, values: NDArray[np.floating], known: NDArray[np.bool_], dtype: Any = np.float64) -> Any:
        """Return the inputs of the rows of an encoded table, of which some entries are known.

        A number has its standardised value or its levels, a category 1 at its own place. A last input for
        each column is 1 if it is known, -1 if it is known to be missing. All that is unknown is 0.

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
        n_places = int(self.begin[-1])
        made = np.zeros((len(values), self.n_inputs), dtype=dtype)
        rows, columns = np.nonzero(known[:, self.columns])
        own = np.asarray(values[rows, self.columns[columns]], dtype=np.float64)
        missing = np.isnan(own)
        made[rows, n_places + columns] = np.where(missing, -1.0, 1.0)
        codes = np.flatnonzero(self.categorical[columns] & ~missing)
        most = np.diff(self.begin)[columns[codes]] - 1
        made[rows[codes], self.begin[columns[codes]] + np.clip(own[codes], 0, most).astype(np.int64)] = 1.0
        numbers = np.flatnonzero(~self.categorical[columns] & ~missing)
        read = self._numbers(own[numbers], columns[numbers])
        places = self.begin[columns[numbers]][:, np.newaxis] + np.arange(read.shape[1])
        made[rows[numbers][:, np.newaxis], places] = np.rint(read * _GRID) / _GRID
        return made

    def _numbers(self, own: Floats, columns: NDArray[np.int64]) -> Floats:
        """Return what numbers of some columns are read as, shape (n_numbers, inputs of a number)."""
        with np.errstate(invalid="ignore", over="ignore", divide="ignore"):
            if not self.n_levels:
                amount = (own - self.mean[columns]) * self.scale[columns]
                return np.clip(np.nan_to_num(amount), -_MOST, _MOST)[:, np.newaxis]
            low, high = self.edges[columns, :-1], self.edges[columns, 1:]
            # Between two edges that are one there is nothing: 0 / 0 is the lower end.
            part = np.nan_to_num((own[:, np.newaxis] - low) / (high - low))
            return np.asarray(2 * np.clip(part, 0.0, 1.0) - 1)


def _widths(schema: Schema, columns: NDArray[np.int64], n_levels: int) -> list[int]:
    """Return the inputs of each column."""
    chosen = [schema.columns[column] for column in columns.tolist()]
    return [max(1, len(column.categories)) if column.is_categorical else n_levels for column in chosen]


def _encode(reading: Reading) -> dict[str, object]:
    return {field.name: getattr(reading, field.name) for field in fields(reading)}


def _decode(given: dict[str, Any]) -> Reading:
    return Reading(**given)


register_codec("Reading", Reading, _encode, _decode)
