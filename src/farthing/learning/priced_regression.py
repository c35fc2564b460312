"""Least squares at a price: a squared loss under a mixed norm, by one linear system after another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from farthing.learning.mixed_norm import MixedNorm
from farthing.learning.scaled_descent import weighted_gram
from farthing.typing import Floats

# Added to the diagonal of a Gram matrix, as a share of its mean: learners may depend on each other linearly.
_JITTER: Final = 1e-10
# Most linear systems.
_SYSTEMS: Final = 100


def priced_regression(
    learners: Floats,
    target: Floats,
    weights: Floats,
    norm: MixedNorm,
    *,
    tradeoff: float,
    sparsity: float,
    before: Floats,
    factor: float = 1.0,
    start: Floats | None = None,
) -> Floats:
    """Return the coefficients of least squared error under the price of their learners, the intercept last.

    What is minimised is half of the weighted squared error + sparsity * the L1 norm of the coefficients +
    tradeoff * the mixed norm of before + factor * the squared coefficients; the norms are smoothed.

    Parameters
    ----------
    learners : ndarray of float64, shape (n_rows, n_learners)
    target, weights : ndarray of float64, shape (n_rows,)
    norm : MixedNorm
        The price.
    tradeoff, sparsity : float
        Weights of the price and of the L1 norm.
    before : ndarray of float64, shape (n_learners,)
        Squared coefficients of other models that share the price, such as earlier stages.
    factor : float
        Factor of the squared coefficients among these.
    start : ndarray of float64, shape (n_learners + 1,), optional
        Where to start; None means the solution without a price.

    Returns
    -------
    ndarray of float64, shape (n_learners + 1,)

    Examples
    --------
    >>> norm = MixedNorm(np.eye(2), np.array([0.0, 1.0]), eps=1e-6)
    >>> X = np.array([[1.0, 0.1], [-1.0, 0.0], [2.0, 0.3], [-2.0, 0.2]])
    >>> priced_regression(
    ...     X, 3 * X[:, 0], np.full(4, 0.25), norm, tradeoff=1.0, sparsity=0.0, before=np.zeros(2)
    ... ).round(3) + 0.0
    array([3., 0., 0.])
    """
    gram = weighted_gram(learners, weights)
    moment = np.append((weights * target) @ learners, weights @ target)

    def value(coef: Floats) -> float:
        absolute = float(np.sqrt(coef**2 + norm.eps**2).sum())
        return sparsity * absolute + tradeoff * norm.value(before + factor * coef**2)

    def curvature(coef: Floats) -> Floats:
        price = norm.bound(before + factor * coef**2).curvature
        return np.asarray(sparsity / np.sqrt(coef**2 + norm.eps**2) + tradeoff * factor * price)

    first = ridge(gram, moment, np.zeros(len(moment))) if start is None else start
    return reweighted_ridge(gram, moment, first, value, curvature, tol=1e-9, max_iter=_SYSTEMS)


def reweighted_ridge(
    gram: Floats,
    moment: Floats,
    start: Floats,
    value: Callable[[Floats], float],
    curvature: Callable[[Floats], Floats],
    *,
    tol: float,
    max_iter: int,
) -> Floats:
    """Minimise a squared loss under norms, each bounded by a quadratic: one linear system after another.

    The loss is w' G w / 2 - m' w, where the last of the coefficients w is the intercept, which has no price.
    The quadratic bounds touch the norms at the present coefficients, so no step raises the objective.

    Parameters
    ----------
    gram : ndarray of float64, shape (n_learners + 1, n_learners + 1)
        The weighted products G of the learners and the constant 1.
    moment : ndarray of float64, shape (n_learners + 1,)
        Their weighted products m with the target.
    start : ndarray of float64, shape (n_learners + 1,)
        Where to start; a learner whose coefficient is 0 hardly ever gets another.
    value : callable
        From the coefficients without the intercept to the value of the norms.
    curvature : callable
        From these coefficients to the second derivative of the bounds for each learner, shape (n_learners,).
    tol : float
        A step that lowers the objective by less than this share of the first value is the last.
    max_iter : int
        Most steps.

    Returns
    -------
    ndarray of float64, shape (n_learners + 1,)

    Examples
    --------
    >>> gram, moment = np.diag([2.0, 1.0]), np.array([3.0, 0.5])
    >>> free = reweighted_ridge(
    ...     gram, moment, np.zeros(2), lambda w: 0.0, np.zeros_like, tol=1e-9, max_iter=9
    ... )
    >>> free.round(6)
    array([1.5, 0.5])
    """

    def objective(w: Floats) -> float:
        return float(w @ (gram @ w)) / 2 - float(moment @ w) + value(w[:-1])

    w, least = start, objective(start)
    unit = float(np.sqrt(np.square(moment).sum())) or 1.0
    for _ in range(max_iter):
        moved = ridge(gram, moment, np.append(curvature(w[:-1]), 0.0))
        reached = objective(moved)
        if not reached < least:
            break
        fell, w, least = least - reached, moved, reached
        if fell <= tol * unit:
            break
    return w


def ridge(gram: Floats, moment: Floats, curvature: Floats) -> Floats:
    """Return the minimum of w' G w / 2 - m' w + the sum of curvature w^2 / 2, by a Cholesky factorisation.

    Examples
    --------
    >>> ridge(np.eye(2), np.array([2.0, 3.0]), np.array([1.0, 0.0])).round(6)
    array([1., 3.])
    """
    jitter = _JITTER * max(float(np.diagonal(gram).mean()), np.finfo(np.float64).tiny)
    return np.asarray(cho_solve(cho_factor(gram + np.diag(curvature + jitter), lower=True), moment))
