"""Bounds on the error of a boosted vote: on training rows, by its margins, and of a sample of it.

The vote of T learners with weights alpha_t and edges gamma_t has the exponential loss of the product of

    Z_t = (1 + gamma_t) / 2 exp(-alpha_t) + (1 - gamma_t) / 2 exp(alpha_t),

which is sqrt(1 - gamma_t^2), or 2 sqrt(eps_t (1 - eps_t)) with the error eps_t = (1 - gamma_t) / 2, for the
alpha_t of AdaBoost (Huang, Powers and Reyzin 2015, section 3). On K > 2 classes the weights are those of
`farthing.learning.voting.vote_targets`. A row of weight w whose class y is not ahead of some class k by more
than 2 theta times the sum of the weights then has at least the loss

    w / 2 exp(-f_y) + w / (2 (K - 1)) exp(f_k) >= w exp((f_k - f_y) / 2) / sqrt(K - 1),

since an arithmetic mean is never below the geometric one. So the bounds of two classes hold with the factor
sqrt(K - 1), which is 1 for two.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


def loss_factors(alphas: NDArray[np.float64], edges: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the factor Z_t by which each round lowers the exponential loss, shape (n_rounds,).

    Parameters
    ----------
    alphas, edges : ndarray of float64, shape (n_rounds,)
        The voting weight and the edge of each learner.

    Examples
    --------
    >>> edges = np.array([0.6, 0.8])
    >>> loss_factors(np.arctanh(edges), edges)
    array([0.8, 0.6])
    """
    # Not sqrt(1 - edges^2): the weight of a learner without error is finite, and so is its loss.
    return (1 + edges) / 2 * np.exp(-alphas) + (1 - edges) / 2 * np.exp(alphas)


def low_margin_bound(
    alphas: NDArray[np.float64], edges: NDArray[np.float64], theta: float = 0.0, n_classes: int = 2
) -> float:
    """Bound the share of the training weight whose margin is at most theta; 0 bounds the training error.

    exp(theta sum of alphas) times the product of Z_t (section 5 of Huang et al.; Schapire and Freund 2012),
    times sqrt(K - 1).

    Parameters
    ----------
    alphas, edges : ndarray of float64, shape (n_rounds,)
        The voting weight and the edge of each learner.
    theta : float
        The margin, between 0 and 1.
    n_classes : int
        K.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> edges = np.array([0.6, 0.8])
    >>> round(low_margin_bound(np.arctanh(edges), edges), 4)
    0.48
    """
    if not 0 <= theta <= 1:
        raise ValueError(f"theta must lie between 0 and 1; got {theta!r}")
    # In logarithms: the product of a thousand factors may be too small for a float.
    with np.errstate(divide="ignore"):
        logs = np.log(loss_factors(alphas, edges))
    exponent = theta * math.fsum(alphas.tolist()) + math.fsum(logs.tolist())
    return math.exp(min(exponent + math.log(max(n_classes - 1, 1)) / 2, 0.0))


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
        exp(-n theta^2 / 8), the part due to sampling; on K classes K - 1 times that, for each of the others.
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
    *,
    n_classes: int = 2,
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
    n_classes : int
        K.

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
    sampling = max(n_classes - 1, 1) * math.exp(-n_samples * theta * theta / 8)
    return MarginBound(low, spread, min(sampling, 1.0))


def disagreement_bound(margins: NDArray[np.float64], n_samples: int) -> float:
    """Bound the share of rows whose sampled label differs from the label of the full vote.

    By Hoeffding's inequality, the sum of n independent votes in [-1, 1] with mean m has the wrong sign with
    probability at most exp(-n m^2 / 2).

    Parameters
    ----------
    margins : ndarray of float64, shape (n_rows,) or (n_rows, n_others)
        The mean of one draw over its range, for each row; the sign does not matter. On more than two classes
        there is one for each class but the winner, and the bounds of all are added up.
    n_samples : int
        Number of draws.

    Examples
    --------
    >>> disagreement_bound(np.array([0.0, 0.2]), 50)
    0.6839397205857212
    """
    _check_draws(n_samples)
    bounds = np.exp(-n_samples * margins**2 / 2)
    return float((bounds if bounds.ndim == 1 else np.minimum(bounds.sum(axis=1), 1.0)).mean())


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
