"""Thresholds on scores for a budget, or for a fraction of the rows."""

from __future__ import annotations

import numpy as np

from farthing.costs import spending_limit
from farthing.typing import Floats


def lowest_threshold(scores: Floats, prices: Floats, limit: float) -> float:
    """Return the lowest threshold such that everything with a score above it costs at most the limit.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Scores of gates; equal scores pass together.
    prices : ndarray of float64, shape (n,)
        What each adds to the mean spend if it passes.
    limit : float
        Limit on the sum of the prices.

    Returns
    -------
    float
        Minus infinity if all may pass.

    Examples
    --------
    >>> lowest_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 2.5)
    1.0
    >>> lowest_threshold(np.array([3.0, 1.0]), np.ones(2), 2.0)
    -inf
    """
    levels, place = np.unique(-scores, return_inverse=True)  # from the top score down
    fits = np.cumsum(np.bincount(place, weights=prices, minlength=len(levels))) <= limit
    # The first level that no longer fits is itself the threshold, since only scores above it pass.
    return -np.inf if fits.all() else float(-levels[int(np.argmin(fits))])


def share_threshold(scores: Floats, weights: Floats, share: float) -> float:
    """Return the lowest threshold that at most a fraction of the rows exceeds.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Scores of a gate; equal scores pass together.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    share : float
        0 to 1. At 0 no row passes, not even one whose score exceeds all of these.

    Returns
    -------
    float

    Examples
    --------
    >>> share_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 0.6)
    1.0
    >>> share_threshold(np.array([3.0, 1.0]), np.ones(2), 0.0)
    inf
    """
    if share <= 0:
        return np.inf
    return lowest_threshold(scores, weights / weights.sum(), spending_limit(share))
