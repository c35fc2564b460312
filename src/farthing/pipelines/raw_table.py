"""Encoded values as the table that transformers take."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.table import Schema


def raw_table(schema: Schema, values: NDArray[np.floating]) -> Any:
    """Return encoded values as a table again: numbers as float64, categories by name, NaN where missing.

    Transformers are fitted on such tables and see nothing else, so that a value has one form only, whether it
    comes from an array, a frame, or a walk.

    Parameters
    ----------
    schema : Schema
        Names and types of the columns.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.

    Returns
    -------
    DataFrame or ndarray, shape (n_rows, n_features)
        A pandas frame if the columns have names.

    Examples
    --------
    >>> schema = Schema.learn(np.array([["ash", 1.0], ["oak", 2.0]], dtype=object))
    >>> raw_table(schema, np.array([[1.0, 5.0]]))
    array([['oak', 5.0]], dtype=object)
    """
    columns = [_decoded(column, values[:, place]) for place, column in enumerate(schema.columns)]
    if schema.named:
        return _pandas().DataFrame(dict(zip(schema.names, columns, strict=True)), copy=False)
    if not any(column.is_categorical for column in schema.columns):
        return np.ascontiguousarray(values, dtype=np.float64)
    table = np.empty(values.shape, dtype=object)
    for place, column in enumerate(columns):
        table[:, place] = column
    return table


def _decoded(column: Any, codes: NDArray[np.floating]) -> NDArray[Any]:
    if not column.is_categorical:
        return np.array(codes, dtype=np.float64)
    # One more entry at the end, where the code -1, for missing, finds NaN.
    labels = np.empty(len(column.categories) + 1, dtype=object)
    labels[:-1] = column.categories
    labels[-1] = np.nan
    return np.asarray(labels[np.where(np.isnan(codes), -1, codes).astype(np.int64)])


def _pandas() -> Any:
    try:
        return import_module("pandas")
    except ImportError as error:
        raise ImportError(
            "a pipeline over a table with column names needs pandas: pip install pandas"
        ) from error
