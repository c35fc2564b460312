"""Forward selection of columns for least squares, by an incremental QR decomposition."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

# A term whose part outside the span of those taken has less than this share of its squared norm is dependent.
_DEPENDENT: Final = 1e-10
# Digits of a gain, as a share of the variance. The rest is rounding error: where one residual is left, every
# column explains all of it, and which is taken must not depend on the order of the sums.
_DIGITS: Final = 10


class ForwardRegression:
    """The state of a forward selection: what each column would add to the explained variance.

    The terms of the columns not yet taken, and the residuals, are kept orthogonal to those taken (modified
    Gram-Schmidt), so a gain is a projection and not a fit, and one purchase takes time proportional to the
    size of the table. An intercept is taken first. Several outputs share the decomposition; their explained
    variances add up.

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
        roots = np.sqrt(weights)[:, np.newaxis]
        self._target, self._roots = target, roots
        # Column by column in memory: terms are read and written as wholes.
        self._terms = np.asfortranarray(terms * roots)
        self._residuals = np.asfortranarray(target * roots)
        self._columns = columns
        self._starts = _squares(self._terms)
        self._project(roots[:, 0])
        self._variance = float(_squares(self._residuals).sum())
        self._places = [
            np.flatnonzero(columns == column) for column in range(int(columns.max(initial=-1)) + 1)
        ]

    @property
    def explained(self) -> float:
        """The explained share of the variance, R squared over all outputs; 0 if there is no variance."""
        left = float(_squares(self._residuals).sum())
        return 1 - left / self._variance if self._variance > 0 else 0.0

    def gains(self) -> Floats:
        """Return what each column would add to the explained share of the variance, shape (n_columns,)."""
        if self._variance <= 0:
            return np.zeros(len(self._places))
        norms = _squares(self._terms)
        along = (self._terms.T @ self._residuals) ** 2
        free = norms > _DEPENDENT * self._starts
        gains = np.zeros(len(self._places))
        for column, places in enumerate(self._places):
            if len(places) == 1 and free[places[0]]:
                gains[column] = along[places[0]].sum() / norms[places[0]]
            elif len(places) > 1 and free[places].any():
                gains[column] = self._joint_gain(places[free[places]])
        return np.round(gains / self._variance, _DIGITS)

    def fitted(self) -> Floats:
        """Return the least-squares fit of the target on the columns taken, shape (n_rows, n_outputs)."""
        return np.asarray(self._target - self._residuals / self._roots)

    def fitted_with(self, column: int) -> Floats:
        """Return the fit if one more column were taken, shape (n_rows, n_outputs); nothing is changed."""
        places = self._places[column]
        block = self._terms[:, places]
        block = block[:, _squares(block) > _DEPENDENT * self._starts[places]]
        if not block.shape[1]:
            return self.fitted()
        sizes, vectors = np.linalg.eigh(block.T @ block)
        kept = sizes > _DEPENDENT * sizes[-1]
        basis = block @ (vectors[:, kept] / np.sqrt(sizes[kept]))
        left = self._residuals - basis @ (basis.T @ self._residuals)
        return np.asarray(self._target - left / self._roots)

    def take(self, column: int) -> None:
        """Add a column to those that explain the target."""
        for place in self._places[column].tolist():
            vector = self._terms[:, place]
            if vector @ vector > _DEPENDENT * self._starts[place]:
                self._project(vector.copy())

    def _joint_gain(self, places: NDArray[np.int64]) -> float:
        """Return the variance that several terms explain together."""
        block = self._terms[:, places]
        along = block.T @ self._residuals
        sizes, vectors = np.linalg.eigh(block.T @ block)
        kept = sizes > _DEPENDENT * sizes[-1]
        return float((((vectors.T @ along)[kept] ** 2) / sizes[kept, np.newaxis]).sum())

    def _project(self, vector: Floats) -> None:
        """Remove the direction of a vector from the terms and the residuals."""
        unit = vector / np.sqrt(vector @ vector)
        self._terms -= np.outer(unit, unit @ self._terms)
        self._residuals -= np.outer(unit, unit @ self._residuals)


def _squares(columns: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->j", columns, columns))
