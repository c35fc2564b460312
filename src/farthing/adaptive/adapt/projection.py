"""The q step: the probability of sending each row to the expensive model, for a given mean."""

from __future__ import annotations

import math
from typing import Final

import numpy as np
from scipy.special import expit

from farthing.typing import Floats

# Relative tolerance of the share.
_TOLERANCE: Final = 1e-12
# Limit of the search; even bisection alone needs fewer steps.
_MAX_ITER: Final = 200


def weighted_mean(values: Floats, shares: Floats) -> float:
    """Return the weighted mean; the shares add up to 1.

    Not ``values @ shares``: BLAS splits a product of long vectors among threads, so that the last bits would
    depend on their number.

    Examples
    --------
    >>> weighted_mean(np.array([1.0, 3.0]), np.array([0.25, 0.75]))
    2.5
    """
    return float((values * shares).sum())


def project(excess: Floats, shares: Floats, p_full: float) -> tuple[Floats, float]:
    """Solve (OPT1) in closed form: q_i = 1 / (1 + exp(B_i - A_i + beta)).

    Parameters
    ----------
    excess : ndarray of float64, shape (n_rows,)
        A_i - B_i: how much more a row loses with the cheap model than with the expensive one.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    p_full : float
        Largest mean of q. At 0 no row goes to the expensive model.

    Returns
    -------
    q : ndarray of float64, shape (n_rows,)
        The probability that a row goes to the expensive model.
    beta : float
        The multiplier of the constraint, by bisection with Newton steps; 0 where the constraint is slack,
        infinite at ``p_full=0``.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> project(np.array([0.0, 0.0]), shares, 0.75)
    (array([0.5, 0.5]), 0.0)
    >>> q, beta = project(np.array([0.0, 0.0]), shares, 0.25)
    >>> q.round(9), round(beta, 9)
    (array([0.25, 0.25]), 1.098612289)
    """
    # No finite multiplier makes q zero.
    if p_full <= 0:
        return np.zeros_like(excess), math.inf
    free = expit(excess)
    if weighted_mean(free, shares) <= p_full:
        return free, 0.0
    # In the middle of the tolerated interval, so that the search can approach it from either side.
    goal = p_full * (1 - _TOLERANCE / 2)
    low, high, beta = 0.0, math.inf, 0.0
    q = free
    for _ in range(_MAX_ITER):
        over = weighted_mean(q, shares) - p_full
        if 0 <= -over <= _TOLERANCE * p_full:
            break
        low, high = (beta, high) if over > 0 else (low, beta)
        # A Newton step for the logarithm of the mean, which is close to linear in large beta; else bisect.
        slope = weighted_mean(q * (1 - q), shares)
        mean = over + p_full
        beta = beta + math.log(mean / goal) * mean / slope if slope > 0 and mean > 0 else math.inf
        if not low < beta < high:
            beta = (low + high) / 2 if math.isfinite(high) else 2 * low + 1
            if beta in (low, high):  # no number is left between them
                return expit(excess - high), high
        q = expit(excess - beta)
    # Out of iterations: ``high`` is the smallest multiplier known to keep the constraint.
    if weighted_mean(q, shares) > p_full:
        return expit(excess - high), high
    return q, beta
