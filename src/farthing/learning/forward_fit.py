"""Forward selection that also gives the fit of every row."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing._core import DEPENDENT
from farthing.learning.forward_regression import ForwardRegression
from farthing.typing import Floats


class ForwardFit(ForwardRegression):
    """A forward selection that keeps the rows: terms and residuals outside the span of the terms taken.

    A purchase takes time proportional to the size of the table, where `ForwardRegression` needs the products
    of the terms alone. Parameters as there.

    Examples
    --------
    >>> x = np.array([-1.0, 0.0, 1.0, 2.0])
    >>> terms = np.column_stack([x, x**2])
    >>> selection = ForwardFit(terms, np.array([0, 1]), (x + x**2)[:, np.newaxis], np.ones(4))
    >>> selection.take(0)
    >>> selection.fitted_with(1)[:, 0].round(12).tolist()
    [0.0, 0.0, 2.0, 6.0]
    """

    def __init__(self, terms: Floats, columns: NDArray[np.int64], target: Floats, weights: Floats) -> None:
        super().__init__(terms, columns, target, weights)
        roots, share = np.sqrt(weights)[:, np.newaxis], weights / weights.sum()
        self._target, self._roots, self._columns = target, roots, columns
        self._squares = weights @ terms**2
        # Column by column in memory: terms are read and written as wholes.
        self._terms = np.asfortranarray((terms - share @ terms) * roots)
        self._residuals = np.asfortranarray((target - share @ target) * roots)

    def fitted(self) -> Floats:
        """Return the least-squares fit of the target on the columns taken, shape (n_rows, n_outputs)."""
        return np.asarray(self._target - self._residuals / self._roots)

    def fitted_with(self, column: int) -> Floats:
        """Return the fit if one more column were taken, shape (n_rows, n_outputs); nothing is changed."""
        places = np.flatnonzero(self._columns == column)
        block = self._terms[:, places]
        block = block[:, _squares(block) > DEPENDENT * self._squares[places]]
        if not block.shape[1]:
            return self.fitted()
        sizes, vectors = np.linalg.eigh(block.T @ block)
        kept = sizes > DEPENDENT * sizes[-1]
        basis = block @ (vectors[:, kept] / np.sqrt(sizes[kept]))
        left = self._residuals - basis @ (basis.T @ self._residuals)
        return np.asarray(self._target - left / self._roots)

    def take(self, column: int) -> None:
        """Add a column to those that explain the target."""
        for place in self._core.take(column):
            direction = self._terms[:, place] / np.sqrt(_squares(self._terms[:, [place]])[0])
            self._terms -= np.outer(direction, direction @ self._terms)
            self._residuals -= np.outer(direction, direction @ self._residuals)


def _squares(terms: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->j", terms, terms))
