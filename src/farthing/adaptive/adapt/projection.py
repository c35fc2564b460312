"""The q step: how likely each row should go to the expensive model, when it may take a share of them only."""

from __future__ import annotations

import math
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Floats: TypeAlias = NDArray[np.float64]

# The share is met to this part of itself.
_TOLERANCE = 1e-12
# Steps of the search; halving alone would need fewer.
_MOST = 200


def mean_of(values: Floats, shares: Floats) -> float:
    """Return the weighted mean.

    Not ``values @ shares``: a product of long vectors is parted among threads, whose number would then decide
    on the last bits.

    Examples
    --------
    >>> mean_of(np.array([1.0, 3.0]), np.array([0.25, 0.75]))
    2.5
    """
    return float((values * shares).sum())


def project(excess: Floats, shares: Floats, p_full: float) -> tuple[Floats, float]:
    """Solve (OPT1) in closed form: q_i = 1 / (1 + exp(B_i - A_i + beta)).

    Parameters
    ----------
    excess : ndarray of float64, shape (n_rows,)
        A_i - B_i: what a row loses by staying, more than by going on.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    p_full : float
        Largest mean of q. At 0 no row goes on.

    Returns
    -------
    q : ndarray of float64, shape (n_rows,)
        The probability that a row goes on.
    beta : float
        The multiplier of the constraint, by bisection with Newton's steps; 0 where it is slack, infinite at
        ``p_full=0``.

    Examples
    --------
    >>> shares = np.array([0.5, 0.5])
    >>> project(np.array([0.0, 0.0]), shares, 0.75)
    (array([0.5, 0.5]), 0.0)
    >>> q, beta = project(np.array([0.0, 0.0]), shares, 0.25)
    >>> q.round(9), round(beta, 9)
    (array([0.25, 0.25]), 1.098612289)
    """
    if p_full <= 0:
        return np.zeros_like(excess), math.inf
    free = expit(excess)
    if mean_of(free, shares) <= p_full:
        return free, 0.0
    # Between the share and what is too little, so that the search can come from either side.
    goal = p_full * (1 - _TOLERANCE / 2)
    low, high, beta = 0.0, math.inf, 0.0
    q = free
    for _ in range(_MOST):
        over = mean_of(q, shares) - p_full
        if 0 <= -over <= _TOLERANCE * p_full:
            break
        low, high = (beta, high) if over > 0 else (low, beta)
        # Newton's step for the mean's logarithm, which is all but a line in beta far out; else half way.
        slope = mean_of(q * (1 - q), shares)
        mean = over + p_full
        beta = beta + math.log(mean / goal) * mean / slope if slope > 0 and mean > 0 else math.inf
        if not low < beta < high:
            beta = (low + high) / 2 if math.isfinite(high) else 2 * low + 1
            if beta in (low, high):  # no number is left between them
                return expit(excess - high), high
        q = expit(excess - beta)
    if mean_of(q, shares) > p_full:
        return expit(excess - high), high
    return q, beta
