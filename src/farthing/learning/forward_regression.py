"""Forward selection of columns for least squares: the triangular factor of QR, one column at a time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

DEPENDENT: Final = 1e-10
"""A term with less than this share of its squared norm outside the span of those taken is dependent."""
# Digits of a gain, as a share of the variance. The rest is rounding error: where one residual is left, every
# column explains all of it, and which is taken must not depend on the order of the sums.
_DIGITS: Final = 10
# A variance below this share of the squared target is rounding error: the target is constant.
_CONSTANT: Final = 1e-24


class ForwardRegression:
    """The state of a forward selection: what each column would add to the explained variance.

    Kept are the products of the terms with each other and with the target, of which the parts along the terms
    taken are removed: what modified Gram-Schmidt (QR) would leave, without the rows. So a gain is a quotient
    and not a fit, the table is read once, and a purchase takes time proportional to the square of the number
    of terms. An intercept is taken first. Several outputs share the decomposition; their explained variances
    add up.

    Parameters
    ----------
    terms : ndarray of float64, shape (n_rows, n_terms)
        The candidates.
    columns : ndarray of int64, shape (n_terms,)
        The column of each term; the terms of one column, such as the categories of a feature, are taken
        together.
    target : ndarray of float64, shape (n_rows, n_outputs)
        What is explained.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows, above zero.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> terms = np.column_stack([x, x**2])
    >>> selection = ForwardRegression(terms, np.array([0, 1]), 3 * x[:, np.newaxis], np.ones(4))
    >>> selection.take(0)
    >>> bool(selection.explained > 1 - 1e-12), selection.gains().round(12).tolist()
    (True, [0.0, 0.0])
    """

    def __init__(self, terms: Floats, columns: NDArray[np.int64], target: Floats, weights: Floats) -> None:
        share = weights / weights.sum()
        means = share @ terms
        offsets, around = terms - means, target - share @ target
        weighed = offsets * weights[:, np.newaxis]
        # Orthogonal to the intercept already, and more exact than products of terms far from zero.
        self._products = weighed.T @ offsets
        self._along = weighed.T @ around
        self._left = float(weights @ (around**2).sum(axis=1))
        self._starts = np.diag(self._products) + weights.sum() * means**2
        whole = float(weights @ (target**2).sum(axis=1))
        self._variance = self._left if self._left > _CONSTANT * whole else 0.0
        self._places = [
            np.flatnonzero(columns == column) for column in range(int(columns.max(initial=-1)) + 1)
        ]

    @property
    def explained(self) -> float:
        """The explained share of the variance, R squared over all outputs; 0 if there is no variance."""
        return 1 - self._left / self._variance if self._variance > 0 else 0.0

    def gains(self) -> Floats:
        """Return what each column would add to the explained share of the variance, shape (n_columns,)."""
        if self._variance <= 0:
            return np.zeros(len(self._places))
        norms = np.diag(self._products)
        along = self._along**2
        free = norms > DEPENDENT * self._starts
        gains = np.zeros(len(self._places))
        for column, places in enumerate(self._places):
            if len(places) == 1 and free[places[0]]:
                gains[column] = along[places[0]].sum() / norms[places[0]]
            elif len(places) > 1 and free[places].any():
                gains[column] = self._joint_gain(places[free[places]])
        return np.round(gains / self._variance, _DIGITS)

    def take(self, column: int) -> None:
        """Add a column to those that explain the target."""
        for place in self._places[column].tolist():
            if self._products[place, place] > DEPENDENT * self._starts[place]:
                self._remove(place)

    def _joint_gain(self, places: NDArray[np.int64]) -> float:
        """Return the variance that several terms explain together."""
        sizes, vectors = np.linalg.eigh(self._products[np.ix_(places, places)])
        kept = sizes > DEPENDENT * sizes[-1]
        return float((((vectors.T @ self._along[places])[kept] ** 2) / sizes[kept, np.newaxis]).sum())

    def _remove(self, place: int) -> None:
        """Remove the direction of a term from the others and from the target."""
        length = np.sqrt(self._products[place, place])
        row, explained = self._products[place] / length, self._along[place] / length
        self._products -= np.outer(row, row)
        self._along -= np.outer(row, explained)
        self._left -= float(explained @ explained)
