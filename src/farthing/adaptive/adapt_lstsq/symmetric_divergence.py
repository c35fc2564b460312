"""The q step of ADAPT-LSTSQ: the symmetric distance, by the alternating direction method of multipliers."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.special import expit, logit

from farthing.adaptive.adapt.projection import Floats, mean_of, project

# Probabilities are kept this far from 0 and 1, since their log-odds are what the gate is fitted to.
LEAST: Final = 1e-6

_RHO: Final = 15.0
_ROUNDS: Final = 100
_TUNED: Final = 50
_TOLERANCE: Final = 1e-6
# Halvings of the interval, then Newton's steps within it.
_HALVINGS: Final = 14
_NEWTON: Final = 4


def split(excess: Floats, gate: Floats, shares: Floats, p_full: float) -> Floats:
    """Minimise (OPT5): the mean of (1 - q_i) a_i + (logit(q_i) - g_i)^2, with a mean of q of at most p_full.

    a_i is what the row loses by staying, more than by going on, l(f1) - l(f0). The rows are coupled by the
    mean alone, so the method splits q from a copy z that keeps the mean: q is one problem a row, convex in
    its log-odds unless a row loses more than 20 nats, and z is a shift.

    Parameters
    ----------
    excess : ndarray of float64, shape (n_rows,)
        The a_i.
    gate : ndarray of float64, shape (n_rows,)
        The g_i, log-odds of going on.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, which add up to 1.
    p_full : float
        Largest mean of q. At 0 no row goes on.

    Returns
    -------
    ndarray of float64, shape (n_rows,)
        The probability that a row goes on.

    Examples
    --------
    >>> split(np.array([0.0, 0.0]), np.array([0.0, 0.0]), np.array([0.5, 0.5]), 0.25).round(4)
    array([0.25, 0.25])
    """
    if p_full <= 0:
        return np.zeros_like(excess)
    q = expit(_nearest(excess, gate, np.zeros_like(gate), 0.0))
    if mean_of(q, shares) <= p_full:
        return q
    dual = np.zeros_like(q)
    z = _within(q, shares, p_full)
    rho = _RHO
    for number in range(_ROUNDS):
        q = expit(_nearest(excess, gate, z - dual, rho))
        last, z = z, _within(q + dual, shares, p_full)
        dual += q - z
        apart, moved = float(np.abs(q - z).max()), float(np.abs(z - last).max())
        if max(apart, moved) < _TOLERANCE:
            break
        if number < _TUNED:
            # The pull that brings q and z together as fast as z comes to rest (Boyd et al. 2011, 3.4.1).
            change = 2.0 if apart > 10 * moved else 0.5 if moved > 10 * apart else 1.0
            rho, dual = rho * change, dual / change
    # What is left to the last digits of the mean, or to a row whose problem is not convex.
    return project(logit(q), shares, p_full)[0]


def objective(q: Floats, excess: Floats, gate: Floats, shares: Floats) -> float:
    """Return what (OPT5) minimises; probabilities count as at least `LEAST` away from 0 and 1."""
    return mean_of((1 - q) * excess + (logit(q.clip(LEAST, 1 - LEAST)) - gate) ** 2, shares)


def _within(q: Floats, shares: Floats, p_full: float) -> Floats:
    """Return the nearest point of the half-space of means up to p_full."""
    # In the norm that weighs rows by their shares, the nearest point is a shift by the same for all.
    return q - max(0.0, mean_of(q, shares) - p_full)


def _nearest(excess: Floats, gate: Floats, near: Floats, rho: float) -> Floats:
    """Minimise -sigma(u) a + (u - g)^2 + rho/2 (sigma(u) - near)^2 over the log-odds u of each row."""
    # p (1 - p) is at most 1/4, which bounds how far u can be from g.
    reach = (np.abs(excess) + rho * (1 + np.abs(near))) / 8 + 1e-3
    low, high = gate - reach, gate + reach
    for _ in range(_HALVINGS):
        u = (low + high) / 2
        p = expit(u)
        up = 2 * (u - gate) + p * (1 - p) * (rho * (p - near) - excess) < 0
        low, high = np.where(up, u, low), np.where(up, high, u)
    u = (low + high) / 2
    for _ in range(_NEWTON):
        p = expit(u)
        pull, bent = rho * (p - near) - excess, p * (1 - p)
        bend = np.maximum(2 + bent * ((1 - 2 * p) * pull + rho * bent), 0.1)
        u = np.clip(u - (2 * (u - gate) + bent * pull) / bend, low, high)
    return np.asarray(u)
