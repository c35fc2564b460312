"""The q step of ADAPT-LSTSQ: the symmetric distance, by the alternating direction method of multipliers."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit, logit

from farthing.adaptive.adapt.projection import project, weighted_mean
from farthing.typing import Floats

# Probabilities are kept this far from 0 and 1, since their log-odds are what the gate is fitted to.
MARGIN: Final = 1e-6

# The initial penalty rho, the number of iterations, how many of them may adapt rho, and the tolerance.
_RHO: Final = 15.0
_MAX_ITER: Final = 100
_TUNING_ITER: Final = 50
_TOLERANCE: Final = 1e-6
# Steps of the bisection, then Newton steps within the bracket that it leaves.
_BISECTIONS: Final = 14
_NEWTON_STEPS: Final = 4


def solve_q(excess: Floats, gate: Floats, shares: Floats, p_full: float) -> Floats:
    """Minimise (OPT5): the mean of (1 - q_i) a_i + (logit(q_i) - g_i)^2, with a mean of q of at most p_full.

    a_i is l(f1) - l(f0), how much more the row loses with the cheap model. The rows are coupled by the mean
    alone, so the method splits q from a copy z that keeps the mean: q is one problem per row, convex in its
    log-odds unless a row loses more than 20 nats, and z is a shift.

    Parameters
    ----------
    excess : ndarray of float64, shape (n_rows,)
        The a_i.
    gate : ndarray of float64, shape (n_rows,)
        The g_i, log-odds of going to the expensive model.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    p_full : float
        Largest mean of q. At 0 no row goes to the expensive model.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        The probability that a row goes to the expensive model.

    Examples
    --------
    >>> solve_q(np.array([0.0, 0.0]), np.array([0.0, 0.0]), np.array([0.5, 0.5]), 0.25).round(4)
    array([0.25, 0.25])
    """
    if p_full <= 0:
        return np.zeros_like(excess)
    # With rho = 0 the rows are independent. If that solution keeps the constraint, it is optimal.
    q = expit(_nearest(excess, gate, np.zeros_like(gate), 0.0))
    if weighted_mean(q, shares) <= p_full:
        return q
    dual = np.zeros_like(q)
    z = _within(q, shares, p_full)
    rho = _RHO
    for number in range(_MAX_ITER):
        q = expit(_nearest(excess, gate, z - dual, rho))
        last, z = z, _within(q + dual, shares, p_full)
        dual += q - z
        primal, moved = float(np.abs(q - z).max()), float(np.abs(z - last).max())
        if max(primal, moved) < _TOLERANCE:
            break
        if number < _TUNING_ITER:
            # Balance the primal and the dual residual (Boyd et al. 2011, 3.4.1).
            change = 2.0 if primal > 10 * moved else 0.5 if moved > 10 * primal else 1.0
            # The dual is in scaled form, y / rho, so it is rescaled along with rho.
            rho, dual = rho * change, dual / change
    # The mean may still exceed p_full by the last digits, or by a row whose problem is not convex.
    return project(logit(q), shares, p_full)[0]


def objective(q: Floats, excess: Floats, gate: Floats, shares: Floats) -> float:
    """Return the objective of (OPT5); probabilities are clipped to `MARGIN` away from 0 and 1."""
    return weighted_mean((1 - q) * excess + (logit(q.clip(MARGIN, 1 - MARGIN)) - gate) ** 2, shares)


def _within(q: Floats, shares: Floats, p_full: float) -> Floats:
    """Return the nearest point of the half-space of means up to p_full."""
    # In the norm weighted by the shares, the projection shifts all rows by the same amount.
    return q - max(0.0, weighted_mean(q, shares) - p_full)


def _nearest(excess: Floats, gate: Floats, near: Floats, rho: float) -> Floats:
    """Minimise -sigma(u) a + (u - g)^2 + rho/2 (sigma(u) - near)^2 over the log-odds u of each row."""
    # p (1 - p) is at most 1/4, which bounds how far u can be from g.
    reach = (np.abs(excess) + rho * (1 + np.abs(near))) / 8 + 1e-3
    # Bisection first: away from the minimum the function may be concave, and Newton steps would diverge. The
    # Newton steps then refine the root inside the bracket, with the curvature bounded away from 0.
    low, high = gate - reach, gate + reach
    for _ in range(_BISECTIONS):
        u = (low + high) / 2
        p = expit(u)
        # The sign of the derivative at u.
        up = 2 * (u - gate) + p * (1 - p) * (rho * (p - near) - excess) < 0
        low, high = np.where(up, u, low), np.where(up, high, u)
    u = (low + high) / 2
    for _ in range(_NEWTON_STEPS):
        p = expit(u)
        pull, bent = rho * (p - near) - excess, p * (1 - p)
        bend = np.maximum(2 + bent * ((1 - 2 * p) * pull + rho * bent), 0.1)
        u = np.clip(u - (2 * (u - gate) + bent * pull) / bend, low, high)
    return np.asarray(u)
