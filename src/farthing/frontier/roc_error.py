"""The area under a ROC curve and its standard error, without resampling."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata


def roc_area(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the area under the ROC curve, to the last bit as scikit-learn's ``roc_auc_score`` does.

    Parameters
    ----------
    truth : ndarray of bool, shape (n_rows,)
        Which rows are positive; both kinds must be there.
    scores : ndarray of float64, shape (n_rows,)
        Higher for rows that are more likely positive.

    Examples
    --------
    >>> roc_area(np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1]))
    0.75
    """
    order = np.argsort(-scores, kind="stable")
    # The curve has a point at the last of each run of equal scores.
    ends = np.flatnonzero(np.append(np.diff(scores[order]) != 0, True))
    hits = np.cumsum(truth[order], dtype=np.float64)[ends]
    alarms = 1 + ends - hits
    if len(hits) > 2:
        # Points on a straight line add nothing to the area but rounding, which must be scikit-learn's.
        corners = np.concatenate([[True], (np.diff(alarms, 2) != 0) | (np.diff(hits, 2) != 0), [True]])
        hits, alarms = hits[corners], alarms[corners]
    rises, widths = (np.append(0.0, counts) / counts[-1] for counts in (hits, alarms))
    return float(np.sum(np.diff(widths) * (rises[1:] + rises[:-1]) / 2.0))


def roc_error(truth: NDArray[np.bool_], scores: NDArray[np.float64]) -> float:
    """Return the standard error of the area under the ROC curve, by the method of DeLong.

    The area is the mean, over all pairs of a positive and a negative row, of how often the positive one has
    the higher score, a tie counting half. Its variance is that of the mean share won by a positive row, plus
    that of the mean share won by a negative row. The shares come from ranks, so it takes one sort.

    Parameters
    ----------
    truth : ndarray of bool, shape (n_rows,)
        Which rows are positive.
    scores : ndarray of float64, shape (n_rows,)
        Higher for rows that are more likely positive.

    Returns
    -------
    float
        NaN with fewer than two rows of either kind.

    References
    ----------
    DeLong, DeLong, Clarke-Pearson: Comparing the areas under two or more correlated receiver operating
    characteristic curves. Biometrics 44, 1988.

    Examples
    --------
    >>> round(roc_error(np.array([True, True, False, False]), np.array([0.9, 0.4, 0.5, 0.1])), 4)
    0.3536
    """
    positive, negative = scores[truth], scores[~truth]
    if min(len(positive), len(negative)) < 2:
        return math.nan
    # A row's rank among all rows minus its rank within its class counts the rows of the other class below it,
    # ties as one half.
    ranks = rankdata(scores)
    won = (ranks[truth] - rankdata(positive)) / len(negative)
    kept = (ranks[~truth] - rankdata(negative)) / len(positive)
    return math.sqrt(_of_mean(won) + _of_mean(kept))


def _of_mean(shares: NDArray[Any]) -> float:
    """Return the variance of the mean of independent values."""
    return float(np.var(shares, ddof=1)) / len(shares)
