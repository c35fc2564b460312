"""Descent in coordinates in which the curvature of an objective is about the same in all directions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import minimize

from farthing.typing import Floats

# From a vector of parameters to the objective and its gradient.
Objective: TypeAlias = Callable[[Floats], tuple[float, Floats]]

# Rows that a metric is estimated from; more would make it hardly better.
MOST_ROWS: Final = 4096
# Added to the diagonal of a curvature, as a share of its mean, so that it can be factorised.
_JITTER: Final = 1e-9


@dataclass(frozen=True, eq=False)
class Metric:
    """Estimated second derivatives of an objective, block by block.

    Norms that are bounded by quadratics are very steep where coefficients are near zero. Without a metric, a
    descent spends its steps on these.

    Parameters
    ----------
    blocks : tuple of pairs (places, scale)
        The places of a block in the vector of parameters, shape (n,), and the matrix W, shape (n, n), for
        which the curvature of W u is the identity. Other places are left as they are.
    """

    blocks: tuple[tuple[NDArray[np.int64], Floats], ...]

    @classmethod
    def of(cls, blocks: Sequence[tuple[NDArray[np.int64], Floats]]) -> Self:
        """Build it from places and curvatures, which are symmetric and positive semidefinite.

        Examples
        --------
        >>> metric = Metric.of([(np.array([0]), np.array([[4.0]]))])
        >>> metric.step(np.array([1.0, 1.0])).round(6)
        array([0.5, 1. ])
        """
        scales = []
        for places, curvature in blocks:
            mean = max(float(np.diagonal(curvature).mean()), np.finfo(np.float64).tiny)
            lower = cholesky(curvature + _JITTER * mean * np.eye(len(places)), lower=True)
            inverse = solve_triangular(lower, np.eye(len(places)), lower=True)
            scales.append((places, np.ascontiguousarray(inverse.T)))
        return cls(tuple(scales))

    def step(self, scaled: Floats) -> Floats:
        """Return the change of the parameters for a change in the coordinates of the metric."""
        change = scaled.copy()
        for places, scale in self.blocks:
            change[places] = scale @ scaled[places]
        return change

    def slope(self, gradient: Floats) -> Floats:
        """Return the gradient in the coordinates of the metric."""
        slope = gradient.copy()
        for places, scale in self.blocks:
            slope[places] = gradient[places] @ scale
        return slope


def weighted_gram(learners: Floats, weights: Floats) -> Floats:
    """Return the weighted products of learners and the constant 1, which comes last.

    Parameters
    ----------
    learners : ndarray of float64, shape (n_rows, n_learners)
    weights : ndarray of float64, shape (n_rows,)

    Returns
    -------
    ndarray of float64, shape (n_learners + 1, n_learners + 1)

    Examples
    --------
    >>> weighted_gram(np.array([[2.0], [1.0]]), np.array([1.0, 3.0]))
    array([[7., 5.],
           [5., 4.]])
    """
    n_learners = learners.shape[1]
    gram = np.empty((n_learners + 1, n_learners + 1))
    weighed = learners * weights[:, np.newaxis]
    gram[:-1, :-1] = weighed.T @ learners
    gram[:-1, -1] = gram[-1, :-1] = weighed.sum(axis=0)
    gram[-1, -1] = weights.sum()
    return gram


def sampled_gram(learners: Floats, weights: Floats) -> Floats:
    """Return an estimate of `weighted_gram` from evenly spaced rows; exact for up to `MOST_ROWS`."""
    stride = -(-len(weights) // MOST_ROWS)
    part = weights[::stride]
    total = float(part.sum())
    scale = float(weights.sum()) / total if total > 0 else 1.0
    return weighted_gram(learners[::stride], part * scale)


def descend(
    objective: Objective, start: Floats, metric: Metric, *, max_steps: int, tol: float = 1e-9
) -> Floats:
    """Return parameters of a lower objective, by L-BFGS in the coordinates of a metric; the start if none.

    Parameters
    ----------
    objective : callable
        Returns the objective and its gradient.
    start : ndarray of float64, shape (n_parameters,)
        Where to start.
    metric : Metric
        The curvature near the start.
    max_steps : int
        Most steps.
    tol : float
        A step that lowers the objective by less than this share of it is the last.

    Examples
    --------
    >>> metric = Metric.of([(np.array([0]), np.array([[2.0]]))])
    >>> descend(lambda v: (float((v[0] - 3) ** 2), 2 * (v - 3)), np.zeros(1), metric, max_steps=9)
    array([3.])
    """

    def scaled(change: Floats) -> tuple[float, Floats]:
        value, gradient = objective(start + metric.step(change))
        return value, metric.slope(gradient)

    found = minimize(
        scaled,
        np.zeros(len(start)),
        jac=True,
        method="L-BFGS-B",
        options={"maxiter": max_steps, "ftol": tol, "gtol": 1e-10},
    )
    moved = start + metric.step(found.x)
    return moved if objective(moved)[0] < objective(start)[0] else start
