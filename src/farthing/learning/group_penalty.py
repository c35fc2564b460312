"""What the features of a linear pair cost, relaxed to norms of blocks of coefficients."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.projection import Floats
from farthing.costs import CostSheet


@dataclass(frozen=True, eq=False)
class BlockPenalty:
    """gamma * (sum_k own_k |block_k| + sum_g shared_g |block_g|).

    block_k holds all coefficients of column k, those of the gate and those of f1; block_g all blocks of the
    columns of group g. So a column that neither uses costs nothing, and a group that none touches neither.

    Parameters
    ----------
    sheet : CostSheet
        The prices.
    gamma : float
        What a unit of price weighs.
    columns : ndarray of int64, shape (n_terms,)
        The column of each row of coefficients.

    Examples
    --------
    >>> penalty = BlockPenalty(CostSheet([2.0, 1.0]), 0.5, np.array([0, 1]))
    >>> penalty.value(np.array([[3.0, 4.0], [0.0, 0.0]]))
    5.0
    >>> penalty.prox(np.array([[3.0, 4.0], [0.1, 0.1]]), step=1.0)
    array([[2.4, 3.2],
           [0. , 0. ]])
    """

    sheet: CostSheet
    gamma: float
    columns: NDArray[np.int64]

    @property
    def free(self) -> bool:
        """Whether no column costs anything."""
        return self.gamma * self.sheet.total(self.sheet.features) == 0

    def value(self, coef: Floats) -> float:
        """Return the penalty of coefficients, shape (n_terms, n_outputs)."""
        own = self._squares(coef)
        norms = np.sqrt(own) @ self.sheet.own
        return float(self.gamma * (norms + np.sqrt(self._by_group(own)) @ self.sheet.shared))

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w).

        The blocks are nested, so shrinking those of columns first and those of groups next is exact (Jenatton
        et al. 2011).
        """
        own = self._squares(coef)
        keep = _shrink(own, step * self.gamma * self.sheet.own)
        places = self.sheet.group_of
        if len(self.sheet.shared):
            of_group = _shrink(self._by_group(own * keep**2), step * self.gamma * self.sheet.shared)
            keep = keep * np.where(places >= 0, of_group[places], 1.0)
        return np.asarray(coef * keep[self.columns][:, np.newaxis])

    def _squares(self, coef: Floats) -> Floats:
        """Return the squared norm of each column's block, shape (n_features,)."""
        squares = (coef**2).sum(axis=1)
        return np.bincount(self.columns, squares, len(self.sheet.own)).astype(np.float64)

    def _by_group(self, own: Floats) -> Floats:
        inside = self.sheet.group_of >= 0
        places, n_groups = self.sheet.group_of[inside], len(self.sheet.shared)
        return np.bincount(places, own[inside], n_groups)[:n_groups].astype(np.float64)


def _shrink(squares: Floats, threshold: Floats) -> Floats:
    """Return the factor that takes each norm down by the threshold, to zero at least."""
    norms = np.sqrt(squares)
    return np.where(norms > threshold, 1 - threshold / np.where(norms > 0, norms, 1.0), 0.0)
