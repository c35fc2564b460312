"""What linear scores are sums of: standardised columns, or the outputs of trees."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats
from farthing.walks.plans import LinearSum, TreeSum


class Scorer(Protocol):
    """Linear scores of terms."""

    def __call__(self, values: NDArray[np.floating], refused: frozenset[int] = frozenset()) -> Floats:
        """Return the scores of rows.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            An encoded table. Only columns that an active term reads count; NaN is missing.
        refused : frozenset of int
            Columns that all of these rows refuse; their values must be NaN.

        Returns
        -------
        ndarray of float64, shape (n_rows, n_outputs)
            The same bits for a row alone and in a batch.
        """
        ...


class Terms(Protocol):
    """Functions of a row, phi(x); `LinearScores` has those of columns, `TreeTerms` those of trees."""

    @property
    def n_terms(self) -> int:
        """Number of functions."""
        ...

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        ...

    @property
    def reads(self) -> NDArray[np.bool_]:
        """Which columns each term may read, shape (n_terms, n_features); the papers' F, transposed."""
        ...

    def terms(self, values: NDArray[np.floating]) -> Floats:
        """Return all terms of an encoded table, shape (n_rows, n_terms)."""
        ...

    def sum_plan(self, coef: Floats, intercept: Floats) -> TreeSum | LinearSum:
        """Return `scorer` as tables, for an export."""
        ...

    def scorer(self, coef: Floats, intercept: Floats) -> Scorer:
        """Return the scores with these coefficients; terms whose coefficients are 0 read nothing.

        Parameters
        ----------
        coef : ndarray of float64, shape (n_terms, n_outputs)
        intercept : ndarray of float64, shape (n_outputs,)
        """
        ...
