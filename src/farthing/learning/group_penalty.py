"""Feature prices as a group-lasso penalty of linear models, over nested groups of coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class GroupPenalty:
    """tradeoff * (sum_k own_k |w_k| + sum_g shared_g |w_g|), the convex relaxation of the cost of features.

    w_k holds all coefficients of column k, over all outputs and categories; w_g holds those of all columns of
    cost group g. Norms are Euclidean. A column that no output uses costs nothing, nor does a group without a
    column in use.

    Parameters
    ----------
    costs : CostSheet
        The prices.
    tradeoff : float
        Weight of a unit of price against the loss.
    columns : ndarray of int64, shape (n_terms,)
        The column of each row of coefficients.

    Examples
    --------
    >>> penalty = GroupPenalty(CostSheet([2.0, 1.0]), 0.5, np.array([0, 1]))
    >>> penalty.value(np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    >>> penalty.prox(np.array([[3.0, 4.0], [0.1, 0.1]]), step=1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    costs: CostSheet
    tradeoff: float
    columns: NDArray[np.int64]

    @property
    def is_zero(self) -> bool:
        """Whether no column is penalised."""
        return self.tradeoff * self.costs.total(self.costs.features) == 0

    def value(self, coef: Floats) -> float:
        """Return the penalty of coefficients, shape (n_terms, n_outputs)."""
        own = self._squares(coef)
        norms = np.sqrt(own) @ self.costs.own
        return float(self.tradeoff * (norms + np.sqrt(self._by_group(own)) @ self.costs.shared))

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w).

        The groups are nested, so shrinking those of columns first and those of cost groups next is exact
        (Jenatton et al. 2011).
        """
        own = self._squares(coef)
        factors = _shrinkage(own, step * self.tradeoff * self.costs.own)
        places = self.costs.group_of
        if len(self.costs.shared):
            # Group norms are those after the columns were shrunk. For columns without a group, the index -1
            # picks some factor that np.where discards.
            of_group = _shrinkage(self._by_group(own * factors**2), step * self.tradeoff * self.costs.shared)
            factors = factors * np.where(places >= 0, of_group[places], 1.0)
        return np.asarray(coef * factors[self.columns][:, np.newaxis])

    def _squares(self, coef: Floats) -> Floats:
        """Return the squared norm of each column's coefficients, shape (n_features,)."""
        squares = (coef**2).sum(axis=1)
        return np.bincount(self.columns, squares, len(self.costs.own)).astype(np.float64)

    def _by_group(self, own: Floats) -> Floats:
        """Add up squared norms of columns by cost group, shape (n_groups,)."""
        inside = self.costs.group_of >= 0
        places, n_groups = self.costs.group_of[inside], len(self.costs.shared)
        return np.bincount(places, own[inside], n_groups)[:n_groups].astype(np.float64)


def _shrinkage(squares: Floats, threshold: Floats) -> Floats:
    """Return the factor that soft-thresholds each norm."""
    norms = np.sqrt(squares)
    return np.where(norms > threshold, 1 - threshold / np.where(norms > 0, norms, 1.0), 0.0)
