"""The mixed norm: the convex relaxation of what learners cost that are evaluated one after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from farthing.costs import CostSheet
from farthing.typing import Floats

# Learners with less than this share of the largest coefficient are zero: smooth norms only come near it.
_ZERO: Final = 1e-2
# So are coefficients below this, where all of them are small; learners have a scale of about 1.
_LEAST: Final = 1e-3


@dataclass(frozen=True, eq=False)
class QuadraticBound:
    """A quadratic in the coefficients: constant + the sum of curvature * square / 2.

    Parameters
    ----------
    curvature : ndarray of float64, shape (n_learners,)
        The second derivative by the coefficient of each learner.
    constant : float
        The value at coefficients of zero.
    """

    curvature: Floats
    constant: float

    def __call__(self, squares: Floats) -> float:
        """Return the bound for squared coefficients, shape (n_learners,)."""
        return self.constant + float(self.curvature @ squares) / 2


@dataclass(frozen=True, eq=False)
class MixedNorm:
    """Sum over blocks of price times the Euclidean norm of the block's coefficients.

    A block is a learner (with the price of its evaluation), a feature (with its own price, and all learners
    that read it) or a cost group (with its shared price, and all learners that read a member). A block of
    zeros costs nothing, as in the exact price.

    The norm of a block is sqrt(g + eps^2), which is smooth, where g is the sum of the squares. It is the
    least over z of ((g + eps^2) / z + z) / 2, so for fixed z there is a quadratic bound that touches it.

    Parameters
    ----------
    members : sparse or dense array of float64, shape (n_blocks, n_learners)
        1 where a learner belongs to a block.
    prices : ndarray of float64, shape (n_blocks,)
        Price of each block.
    eps : float
        The smoothing, in units of a coefficient.

    Examples
    --------
    >>> norm = MixedNorm(np.array([[1.0, 1.0]]), np.array([2.0]), eps=0.0)
    >>> norm.value(np.array([9.0, 16.0]))
    10.0
    """

    members: Any
    prices: Floats
    eps: float

    @classmethod
    def of(
        cls, reads: NDArray[np.bool_], costs: CostSheet, evaluation: Floats, eps: float = 1e-4
    ) -> MixedNorm:
        """Build the norm of learners from what they read.

        Parameters
        ----------
        reads : ndarray of bool, shape (n_learners, n_features)
            The features that each learner reads.
        costs : CostSheet
            The prices.
        evaluation : ndarray of float64, shape (n_learners,)
            The price of evaluating each learner.
        eps : float
            The smoothing.
        """
        groups = [
            np.asarray(reads[:, costs.group_of == group].any(axis=1)) for group in range(len(costs.shared))
        ]
        members = np.vstack([np.eye(len(reads)), reads.T, *groups])
        prices = np.concatenate([evaluation, costs.own, costs.shared])
        kept = (prices > 0) & members.any(axis=1)
        return cls(csr_array(members[kept].astype(np.float64)), prices[kept], eps)

    def value(self, squares: Floats) -> float:
        """Return the norm of learners whose squared coefficients sum up to these, shape (n_learners,)."""
        return float(self.prices @ self.roots(squares))

    def roots(self, squares: Floats) -> Floats:
        """Return the norm of each block, which is also the best z: the papers' kappa and eta, (n_blocks,)."""
        return np.asarray(np.sqrt(self.members @ squares + self.eps**2))

    def bound(self, squares: Floats) -> QuadraticBound:
        """Return the quadratic that touches the norm at squared coefficients, and is above it elsewhere."""
        z = self.roots(squares)
        return QuadraticBound(
            np.asarray((self.prices / z) @ self.members), float(self.prices @ (self.eps**2 / z + z)) / 2
        )


def without_small(coef: Floats) -> Floats:
    """Return coefficients, shape (n_learners, ...), without those of learners that are all but zero.

    Examples
    --------
    >>> without_small(np.array([1.0, 0.005]))
    array([1., 0.])
    """
    sizes = np.sqrt(np.square(coef.reshape(len(coef), -1)).sum(axis=1))
    kept = sizes > np.maximum(_ZERO * sizes.max(initial=0.0), _LEAST)
    return np.asarray(coef * kept.reshape(-1, *[1] * (coef.ndim - 1)))
