"""The Pareto filter: the points that no other point beats in both spend and score."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pareto(spend: NDArray[np.float64], score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the indices of the Pareto-efficient points, by ascending spend.

    Parameters
    ----------
    spend : ndarray of float64, shape (n_points,)
    score : ndarray of float64, shape (n_points,)
        Larger is better; points whose score is NaN are left out.

    Returns
    -------
    ndarray of int64, shape (n_efficient,)
        Spend and score both rise strictly along them. Of equal points the first is kept.

    Examples
    --------
    >>> pareto(np.array([3.0, 1.0, 2.0, 2.0]), np.array([0.9, 0.5, 0.4, 0.8]))
    array([1, 3, 0])
    """
    # Sweep by ascending spend, best score first among equal spends: a point is efficient if its score is
    # above the running maximum of those before it.
    order = np.lexsort((-score, spend))
    order = order[~np.isnan(score[order])]
    before = np.append(-np.inf, np.maximum.accumulate(score[order])[:-1]) if len(order) else score[order]
    better = score[order] > before
    better[:1] = True  # the cheapest is kept even at a score of minus infinity
    return order[better]
