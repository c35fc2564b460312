"""How columns enter a network: standardised numbers, categories, and a mask of what has been bought."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.table import Schema
from farthing.typing import Floats

#: Standardised numbers beyond this count as this; the compiled core has the same bound.
MOST_UNITS: Final = 10.0
# Rows of the first layer for a number: if it has a value, per unit of it, and if it is missing.
_ROWS_OF_NUMBER: Final = 3


@dataclass(frozen=True)
class ColumnInputs:
    """The inputs of a table's columns.

    Each column has a mask, 1 if it is bought, and terms, which are 0 if it is not: a number and whether it is
    missing, or an indicator for each category and for a missing value. So a measured gap is not the same as
    what was not bought.

    Attributes
    ----------
    n_terms : ndarray of int64, shape (n_features,)
        How many terms each column has.
    mean, scale : ndarray of float64, shape (n_features,)
        A number enters as (value - mean) / scale.

    Examples
    --------
    >>> rows = TrainingSet.of([[1.0], [3.0], [np.nan]], np.zeros(3))
    >>> ColumnInputs.of(rows).terms(rows.values)
    array([[-1.,  0.],
           [ 1.,  0.],
           [ 0.,  1.]], dtype=float32)
    """

    n_terms: NDArray[np.int64]
    categorical: NDArray[np.bool_]
    mean: Floats
    scale: Floats

    @classmethod
    def of(cls, rows: TrainingSet) -> ColumnInputs:
        """Standardise the columns of training rows by their weighted moments."""
        values = np.asarray(rows.values, dtype=np.float64)
        finite = np.isfinite(values)
        shares = np.where(finite, rows.weights[:, np.newaxis], 0.0)
        totals = np.maximum(shares.sum(axis=0), np.finfo(np.float64).tiny)
        known = np.where(finite, values, 0.0)
        with np.errstate(over="ignore", invalid="ignore"):
            mean = (shares * known).sum(axis=0) / totals
            scale = np.sqrt((shares * np.where(finite, known - mean, 0.0) ** 2).sum(axis=0) / totals)
        categorical = categorical_columns(rows.schema)
        plain = categorical | ~np.isfinite(mean) | ~np.isfinite(scale)
        mean[plain] = 0.0
        scale[plain | ~(scale > 0)] = 1.0
        return cls(first_rows(rows.schema)[1], categorical, mean, scale)

    @property
    def column_of(self) -> NDArray[np.int64]:
        """The column of each term, shape (n_terms,)."""
        return np.repeat(np.arange(len(self.n_terms)), self.n_terms)

    @property
    def first_terms(self) -> NDArray[np.int64]:
        """The first term of each column, shape (n_features,)."""
        return np.asarray(np.cumsum(self.n_terms) - self.n_terms)

    def terms(self, values: NDArray[np.floating]) -> NDArray[np.float32]:
        """Return the terms of rows of which everything is bought, shape (n_rows, n_terms)."""
        terms = np.zeros((len(values), int(self.n_terms.sum())), dtype=np.float32)
        begin = 0
        for column, width in enumerate(self.n_terms.tolist()):
            entries = np.asarray(values[:, column], dtype=np.float64)
            missing = np.isnan(entries)
            if self.categorical[column]:
                codes = np.where(missing, width - 1, entries).astype(np.int64)
                terms[np.arange(len(values)), begin + codes] = 1.0
            else:
                with np.errstate(over="ignore"):
                    units = (entries - self.mean[column]) / self.scale[column]
                terms[:, begin] = np.where(missing, 0.0, np.clip(units, -MOST_UNITS, MOST_UNITS))
                terms[:, begin + 1] = missing
            begin += width
        return terms

    def first_layer(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the rows of the first layer from the weights of masks and terms.

        Parameters
        ----------
        weights : ndarray of float32, shape (n_features + n_terms, n_hidden)
            A row for each mask, then for each term.

        Returns
        -------
        ndarray of float32, shape (n_rows, n_hidden)
            As the compiled core takes them: a purchase adds one row, that of its mask included.
        """
        n_features = len(self.n_terms)
        rows, begin = [], n_features
        for column, width in enumerate(self.n_terms.tolist()):
            mask, terms = weights[column], weights[begin : begin + width]
            rows.append(mask + terms if self.categorical[column] else [mask, terms[0], mask + terms[1]])
            begin += width
        return np.concatenate(rows).astype(np.float32)


def categorical_columns(schema: Schema) -> NDArray[np.bool_]:
    """Return which columns are categorical, shape (n_features,)."""
    return np.array([column.is_categorical for column in schema.columns], dtype=np.bool_)


def first_rows(schema: Schema) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return where the rows of each column begin in the first layer, and the number of terms of each.

    Returns
    -------
    first : ndarray of int64, shape (n_features + 1,)
    n_terms : ndarray of int64, shape (n_features,)
    """
    categories = [len(each.categories) + 1 if each.is_categorical else 0 for each in schema.columns]
    n_rows = [width or _ROWS_OF_NUMBER for width in categories]
    first = np.concatenate([[0], np.cumsum(n_rows)]).astype(np.int64)
    return first, np.array([width or 2 for width in categories], dtype=np.int64)
