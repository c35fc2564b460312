"""P-values of "the mean is above a level", for independent draws of a bounded variable.

A p-value is valid if, whenever the mean is at least the level, it is at most ``delta`` with probability at
most ``delta``, for every ``delta`` and every number of rows.

- `binomial`: exact, for draws of 0 or 1.
- `betting`: for draws from 0 to 1, of any distribution, from the capital of a bettor who bets against the
  mean being as high as the level (Waudby-Smith and Ramdas 2024). His bets grow as the variance seen so far
  falls, so that rows which spend similar amounts certify more.

References
----------
Angelopoulos, Bates, Candes, Jordan, Lei: Learn then test. Annals of Applied Statistics 2025.
Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B 2024.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import bdtr

from farthing.typing import Floats


def binomial(draws: Floats, level: float) -> float:
    """Return the exact p-value for draws of 0 or 1: the chance of no more ones at the level.

    Parameters
    ----------
    draws : ndarray of float64, shape (n_rows,)
        Zeros and ones.
    level : float
        The mean under the hypothesis, from 0 to 1.

    Examples
    --------
    >>> round(binomial(np.zeros(20), 0.1), 4)
    0.1216
    """
    return float(bdtr(round(float(draws.sum())), len(draws), level))


def betting(draws: Floats, level: float, error: float = 0.1) -> float:
    """Return the p-value of the bettor, for draws from 0 to 1 in an order that does not depend on them.

    Before each draw he stakes a share ``bet`` of his capital, which becomes ``1 + bet * (level - draw)``
    times as large. If the mean is at least the level, the capital does not grow on average, whatever the
    bets, so it ever exceeds 1 / delta with probability at most delta (Ville's inequality).

    Parameters
    ----------
    draws : ndarray of float64, shape (n_rows,)
        From 0 to 1.
    level : float
        The mean under the hypothesis, from 0 to 1.
    error : float
        The p-value that is hoped for; bets are of the best size for it. Any other is valid, too.

    Examples
    --------
    >>> round(betting(np.full(50, 0.2), 0.3), 4)
    0.0026
    """
    # A larger p-value stays valid: rows whose own mean is above the level shall certify nothing, even if the
    # first of them did.
    if level <= 0 or draws.mean() > level:
        return 1.0
    n_rows = len(draws)
    counts = np.arange(1, n_rows + 1)
    # Means and variances of the draws up to each one; one draw more, of the level, begins both.
    prior = level * (1 - level)
    means = (level + np.cumsum(draws)) / (counts + 1)
    variances = (prior + np.cumsum((draws - means) ** 2)) / (counts + 1)
    # A bet may depend on earlier draws only. Its size is the best one for their variance. Below 1 / (1 -
    # level) the capital stays positive whatever the draw.
    before = np.concatenate([[prior], variances[:-1]])
    bets = np.sqrt(2 * math.log(1 / error) / (n_rows * np.maximum(before, 1e-12)))
    bets = np.minimum(bets, 0.9 / max(1 - level, 1e-12))
    capital = np.cumsum(np.log1p(bets * (level - draws)))
    return float(min(1.0, math.exp(-float(capital.max(initial=0.0)))))
