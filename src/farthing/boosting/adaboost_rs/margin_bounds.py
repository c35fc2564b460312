"""The bounds of Reyzin (2011) on the error of a sampled vote."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class MarginBound:
    """The terms of Corollary 3; up to the constant of the second one, their sum bounds the error.

    Attributes
    ----------
    low_margins : float
        The share of the training rows whose margin is at most theta.
    complexity : float
        sqrt(d / (m theta^2)), which the corollary has inside an O-term, without its constant and logarithms.
    sampling : float
        exp(-n theta^2 / 8), the part due to sampling.
    """

    low_margins: float
    complexity: float
    sampling: float


def margin_bound(
    margins: NDArray[np.float64],
    weights: NDArray[np.float64],
    theta: float,
    n_samples: int,
    dimension: float,
) -> MarginBound:
    """Return the terms of Corollary 3.

    Parameters
    ----------
    margins, weights : ndarray of float64, shape (n_rows,)
        Margins of the full vote on the training rows, and the weights of the rows.
    theta : float
        The margin, above zero.
    n_samples : int
        Number of draws.
    dimension : float
        d, the capacity of one learner.

    Examples
    --------
    >>> margin_bound(np.array([0.1, 0.5]), np.ones(2), theta=0.2, n_samples=200, dimension=2.0)
    MarginBound(low_margins=0.5, complexity=5.0, sampling=0.36787944117144...)
    """
    if not 0 < theta <= 1:
        raise ValueError(f"theta must lie above 0 and up to 1; got {theta!r}")
    _check_draws(n_samples)
    if not 0 < dimension < math.inf:
        raise ValueError(f"dimension must be above zero, and finite; got {dimension!r}")
    # m below is the number of rows, not their weight: the bound is about an independent sample.
    low = float(weights[margins <= theta].sum() / weights.sum())
    spread = math.sqrt(dimension / len(margins)) / theta
    # The proof applies Hoeffding's inequality to n votes of -1 or 1 that miss their mean by theta / 2.
    return MarginBound(low, spread, math.exp(-n_samples * theta * theta / 8))


def disagreement_bound(margins: NDArray[np.float64], n_samples: int) -> float:
    """Bound the share of rows whose sampled label differs from the label of the full vote.

    By Hoeffding's inequality, the sum of n independent votes in [-1, 1] with mean m has the wrong sign with
    probability at most exp(-n m^2 / 2).

    Parameters
    ----------
    margins : ndarray of float64, shape (n_rows,)
        The mean of one draw over its range, for each row; the sign does not matter.
    n_samples : int
        Number of draws.

    Examples
    --------
    >>> disagreement_bound(np.array([0.0, 0.2]), 50)
    0.6839397205857212
    """
    _check_draws(n_samples)
    return float(np.exp(-n_samples * margins**2 / 2).mean())


def unsampled_bound(n_features: int, n_samples: int) -> float:
    """Bound the expected number of features that are never drawn: n exp(-k / n), section 3.3.

    This bounds n (1 - 1/n)^k, the expectation if every draw is uniform over the n features. If some features
    are drawn more often than others, the expectation is larger.

    Parameters
    ----------
    n_features : int
        Features that learners use, n.
    n_samples : int
        Number of draws, k.

    Examples
    --------
    >>> round(unsampled_bound(100, 100), 2)
    36.79
    """
    _check_draws(n_samples)
    return n_features * math.exp(-n_samples / n_features) if n_features else 0.0


def _check_draws(n_samples: int) -> None:
    if not n_samples >= 0:
        raise ValueError(f"the number of draws must be zero or more; got {n_samples!r}")
