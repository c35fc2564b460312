"""Forward selection of columns for least squares: the triangular factor of QR, one column at a time."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing._core import ForwardRegression as CompiledRegression
from farthing.costs import CostSheet
from farthing.learning.moments import Moments
from farthing.typing import Floats

# A variance below this share of the squared target is rounding error: the target is constant.
_CONSTANT: Final = 1e-24


class ForwardSelection:
    """The state of a forward selection: what each column would add to the explained variance.

    Kept are the products of the terms with each other and with the target, of which the parts along the terms
    taken are removed: what modified Gram-Schmidt (QR) would leave, without the rows. So a gain is a quotient
    and not a fit, and a purchase takes time proportional to the square of the number of terms. An intercept
    is taken first. Several outputs share the decomposition; their explained variances add up.

    Parameters
    ----------
    moments : Moments
        Of the candidates as terms, and of the target as outputs.
    columns : ndarray of int64, shape (n_terms,)
        The column of each term; the terms of one column, such as the categories of a feature, are taken
        together.

    Examples
    --------
    >>> entries = np.array([[-1.0, 0.0, 1.0], [1.0, -2.0, 1.0], [-1.0, 0.1, 1.0]])
    >>> selection = ForwardSelection(Moments.of(entries, n_terms=2), np.array([0, 1]))
    >>> selection.select(CostSheet([1.0, 1.0]), [], budget=1.0, min_gain=0.0)
    [0]
    """

    def __init__(self, moments: Moments, columns: NDArray[np.int64]) -> None:
        squares, outputs = moments.squares, slice(moments.n_terms, None)
        variance = float(moments.products.diagonal()[outputs].sum())
        self._core = CompiledRegression(
            np.ascontiguousarray(moments.terms),
            np.ascontiguousarray(moments.along),
            squares[: moments.n_terms],
            columns,
            variance if variance > _CONSTANT * squares[outputs].sum() else 0.0,
        )

    @property
    def explained(self) -> float:
        """The explained share of the variance, R squared over all outputs; 0 if there is no variance."""
        return self._core.explained

    def gains(self) -> Floats:
        """Return what each column would add to the explained share of the variance, shape (n_columns,)."""
        return self._core.gains()

    def take(self, column: int) -> None:
        """Add a column to those that explain the target."""
        self._core.take(column)

    def select(self, costs: CostSheet, owned: list[int], budget: float, min_gain: float) -> list[int]:
        """Take columns until the budget ends or none gains enough: the largest gain per price first.

        Columns that cost nothing come before the others, the largest gain first. The columns of a larger
        budget begin like those of a smaller one, but for columns that it cannot afford.

        Parameters
        ----------
        costs : CostSheet
            The prices.
        owned : list of int
            The columns that are paid already; they count against the budget.
        budget : float
            What all columns may cost together.
        min_gain : float
            The least gain of a purchase, as a share of the variance.

        Returns
        -------
        list of int
            The columns in the order of purchase.
        """
        return self._core.select(costs.own, costs.shared, costs.group_of, owned, budget, min_gain)


class ForwardRegression(ForwardSelection):
    """A forward selection that begins with rows.

    Parameters
    ----------
    terms : ndarray of float64, shape (n_rows, n_terms)
        The candidates.
    columns : ndarray of int64, shape (n_terms,)
        The column of each term.
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
        super().__init__(Moments.of(np.vstack([terms.T, target.T]), terms.shape[1], weights), columns)
