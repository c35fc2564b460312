"""The input column that each output of a transformer depends on, found by changing one entry at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.table import Schema
from farthing.typing import Flags, Floats, Integers

# Rows to change entries of, and the most values of a numeric column that are tried in each.
_N_ROWS: Final = 8
_N_VALUES: Final = 32

Transform = Callable[[NDArray[np.floating]], NDArray[Any]]


def source_columns(transform: Transform, values: NDArray[np.floating], schema: Schema) -> Integers:
    """Return the input of each output, -1 for an output that is constant.

    Parameters
    ----------
    transform : callable
        From an encoded table (n_rows, n_features) to outputs (n_rows, n_outputs).
    values : ndarray, shape (n_rows, n_features)
        The training rows; entries are replaced by others of their column.
    schema : Schema
        Names and types of the columns.

    Returns
    -------
    ndarray of int64, shape (n_outputs,)

    Raises
    ------
    TableError
        If an output depends on several inputs; their names are in the message.

    Examples
    --------
    >>> table = np.array([[1.0, 5.0], [2.0, 6.0], [3.0, 8.0]])
    >>> source_columns(lambda X: np.column_stack([X[:, 1] ** 2, -X[:, 0], X[:, 0] > 2]), table,
    ...                Schema.learn(table))
    array([1, 0, 0])
    >>> source_columns(lambda X: X @ X.T[:, :1], table, Schema.learn(table))
    Traceback (most recent call last):
    ...
    farthing.errors.TableError: the preprocessing mixes columns: its output 0 depends on 'x0' and 'x1'...
    """
    depends: Flags | None = None
    for row in _probe_rows(values):
        probes, changed = _changed_entries(values, row)
        outputs = transform(np.concatenate([values[row : row + 1], probes]))
        differs = _differs(outputs[1:], outputs[:1])
        if depends is None:
            depends = np.zeros((values.shape[1], differs.shape[1]), dtype=np.bool_)
        for column in range(values.shape[1]):
            depends[column] |= differs[changed == column].any(axis=0)
    assert depends is not None
    _refuse_mixed(depends, schema)
    return np.where(depends.any(axis=0), depends.argmax(axis=0), -1).astype(np.int64)


def _probe_rows(values: NDArray[np.floating]) -> list[int]:
    """Return rows spread over the table, and some with missing entries, which imputers fill from others."""
    spread = np.linspace(0, len(values) - 1, _N_ROWS).astype(np.int64)
    missing = np.isnan(values)
    first = missing.argmax(axis=0)[missing.any(axis=0)]
    return sorted({*spread.tolist(), *first[:_N_ROWS].tolist()})


def _changed_entries(values: NDArray[np.floating], row: int) -> tuple[Floats, Integers]:
    """Return copies of a row with one entry replaced each, and which entry that is."""
    entries = [(column, value) for column in range(values.shape[1]) for value in _tried(values[:, column])]
    probes = np.repeat(values[row : row + 1].astype(np.float64), len(entries), axis=0)
    changed = np.array([column for column, _ in entries], dtype=np.int64)
    probes[np.arange(len(entries)), changed] = [value for _, value in entries]
    return probes, changed


def _tried(column: NDArray[np.floating]) -> list[float]:
    """Return values of a column from its least to its largest, and NaN if some are missing."""
    seen = np.unique(column[np.isfinite(column)])
    # Codes of categories are few; each may have an output of its own.
    codes = len(seen) <= 4 * _N_VALUES
    places = np.arange(len(seen)) if codes else np.linspace(0, len(seen) - 1, _N_VALUES).astype(np.int64)
    missing = [float("nan")] if np.isnan(column).any() else []
    return [*seen[places].tolist(), *missing]


def _differs(outputs: NDArray[Any], base: NDArray[Any]) -> Flags:
    if outputs.dtype == object:
        both_missing = (outputs != outputs) & (base != base)  # noqa: PLR0124 - NaN differs from itself
        return np.asarray((outputs != base) & ~both_missing, dtype=np.bool_)
    # Not in the last bits, which may depend on the place of a row in the table.
    return np.asarray(~np.isclose(outputs, base, rtol=1e-9, atol=0.0, equal_nan=True), dtype=np.bool_)


def _refuse_mixed(depends: Flags, schema: Schema) -> None:
    mixed = np.flatnonzero(depends.sum(axis=0) > 1)
    if len(mixed):
        names = [repr(schema.names[column]) for column in np.flatnonzero(depends[:, mixed[0]])[:4]]
        raise TableError(
            f"the preprocessing mixes columns: its output {mixed[0]} depends on {' and '.join(names)}, so no "
            "column could be bought alone. Use steps that treat each column by itself, such as "
            "StandardScaler, SimpleImputer, OrdinalEncoder or OneHotEncoder, and leave out those that "
            "combine columns, such as PCA"
        )
