"""Rows as codes of few values a column, with the prices of errors: what policies are searched on."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import normalise
from farthing.typing import Floats

# Rows of the column's own distribution that are added to each class, so that no value is impossible.
_PRIOR_ROWS: Final = 1.0


@dataclass(frozen=True, eq=False)
class CodedRows:
    """Rows whose columns have a few values each; a missing value is the last one, if the column has any.

    Parameters
    ----------
    codes : ndarray of int64, shape (n_features, n_rows)
        The value of each row in each column.
    n_values : tuple of int
        Number of values of each column.
    target : ndarray of int64, shape (n_rows,)
        Class codes.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    prices : ndarray of float64, shape (n_rows, n_classes)
        The price of predicting each class for each row.
    table : ndarray of float64, shape (n_classes, n_classes)
        Mean price by true and predicted class.
    """

    codes: NDArray[np.int64]
    n_values: tuple[int, ...]
    target: NDArray[np.int64]
    weights: Floats
    prices: Floats
    table: Floats

    @property
    def n_classes(self) -> int:
        """Number of classes."""
        return len(self.table)

    @cached_property
    def prior(self) -> Floats:
        """Share of each class, shape (n_classes,)."""
        return self.shares(np.arange(len(self.target)))

    @cached_property
    def likelihoods(self) -> list[Floats]:
        """Logarithm of the likelihood of each value, shape (n_values, n_classes), by column."""
        found = []
        for values, n_values in zip(self.codes, self.n_values, strict=True):
            counts = np.zeros((n_values, self.n_classes))
            np.add.at(counts, (values, self.target), self.weights)
            # A value that no row has, such as that of an empty bin, is as likely in every class.
            overall = (counts.sum(axis=1) + 1.0 / n_values) / (counts.sum() + 1.0)
            smoothed = counts + _PRIOR_ROWS * overall[:, np.newaxis]
            found.append(np.log(smoothed / (counts.sum(axis=0) + _PRIOR_ROWS)))
        return found

    def shares(self, rows: NDArray[np.int64]) -> Floats:
        """Return the share of each class among some rows, shape (n_classes,)."""
        return np.asarray(normalise(self.counts(rows)[np.newaxis])[0])

    def counts(self, rows: NDArray[np.int64]) -> Floats:
        """Return the weight of each class among some rows, shape (n_classes,)."""
        counts = np.zeros(self.n_classes)
        np.add.at(counts, self.target[rows], self.weights[rows])
        return counts

    def naive_bayes(self, columns: tuple[int, ...], rows: NDArray[np.int64]) -> Floats:
        """Return the class probabilities of rows by the product of likelihoods, shape (n_rows, n_classes).

        Parameters
        ----------
        columns : tuple of int
            The columns that are known.
        rows : ndarray of int64, shape (n_rows,)
            The rows.
        """
        with np.errstate(divide="ignore"):
            logs = np.tile(np.log(self.prior), (len(rows), 1))
        for column in columns:
            logs += self.likelihoods[column][self.codes[column, rows]]
        return normalise(np.exp(logs - logs.max(axis=1, keepdims=True)))
