"""The mixed norm: the convex relaxation of what the learners on a path cost together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.typing import Floats


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
    members : ndarray of float64, shape (n_blocks, n_learners)
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

    members: Floats
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
        return cls(members[kept].astype(np.float64), prices[kept], eps)

    def value(self, squares: Floats) -> float:
        """Return the norm of learners whose squared coefficients add up to these, shape (n_learners,)."""
        return float(self.prices @ self.roots(squares))

    def roots(self, squares: Floats) -> Floats:
        """Return the norm of each block, which is also the best z, shape (n_blocks,)."""
        return np.sqrt(self.members @ squares + self.eps**2)

    def bound(self, squares: Floats, z: Floats) -> float:
        """Return the quadratic bound for fixed z; it is at least `value`, and equal at the best z."""
        return float(self.prices @ ((self.members @ squares + self.eps**2) / z + z)) / 2

    def curvature(self, z: Floats) -> Floats:
        """Return the factor of each learner's square in twice the bound, shape (n_learners,)."""
        return np.asarray((self.prices / z) @ self.members)
