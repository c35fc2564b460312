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
        The multiplier of the constraint, 0 where it is slack, infinite at ``p_full=0``.

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
    if free @ shares <= p_full:
        return free, 0.0
    low, high = 0.0, 1.0
    while expit(excess - high) @ shares > p_full:
        low, high = high, 2 * high
    while high - low > _TOLERANCE * high:
        beta = (low + high) / 2
        if not low < beta < high:
            break
        if expit(excess - beta) @ shares > p_full:
            low = beta
        else:
            high = beta
    return expit(excess - high), high
