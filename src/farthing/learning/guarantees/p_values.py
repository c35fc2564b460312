"""P-values of "the mean is above a level", for independent draws of a bounded variable.

A p-value is valid if, whenever the mean is at least the level, it is at most ``delta`` with probability at
most ``delta``, for every ``delta`` and every number of rows.

- `binomial`: exact, for draws of 0 or 1.
- `betting`: for draws from 0 to 1, of any distribution, from the capital of a bettor who bets against the
  mean being as high as the level (Waudby-Smith and Ramdas 2024). The number of draws and the capital that he
  needs are known, so his bets aim at that capital at the last draw, given what he has by now (Voracek and
  Orabona 2025). They grow as the variance seen so far falls, so that rows which spend similar amounts certify
  more. On draws of 0 or 1 he rejects about as often as the exact binomial test.

References
----------
Angelopoulos, Bates, Candes, Jordan, Lei: Learn then test. Annals of Applied Statistics 2025.
Voracek, Orabona: STaR-Bets: sequential target-recalculating bets for tighter confidence intervals. 2025.
Waudby-Smith, Ramdas: Estimating means of bounded random variables by betting. JRSS B 2024.
"""

from __future__ import annotations

import math
from typing import Final

from scipy.special import bdtr, ndtri_exp

from farthing.typing import Floats

# Coins of the level that the bettor imagines before the first draw, and the least variance that he assumes.
_UNDRAWN: Final = 4
_LEAST: Final = 1e-12
# Of the largest bet that cannot lose more than all; and how many different bets there are.
_LARGEST: Final = 0.999
_MOST_BETS: Final = 1000


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
    >>> import numpy as np
    >>> round(binomial(np.zeros(20), 0.1), 4)
    0.1216
    """
    return float(bdtr(round(float(draws.sum())), len(draws), level))


def betting(draws: Floats, level: float, error: float = 0.1) -> float:
    """Return the p-value of the bettor, for draws from 0 to 1 in an order that does not depend on them.

    Before each draw he stakes a share of his capital ``W``, which becomes ``1 + bet * (level - draw)`` times
    as large. If the mean is at least the level, the capital does not grow on average, whatever the bets, so
    it ever reaches 1 / error with probability at most ``error`` (Ville's inequality). He stops there.

    Which bets are best follows from the limit of many small draws: there is a bet for each ``W`` that ends
    with 1 / error or with nothing, that of a hedged digital option,

        bet = phi(d) / (Phi(d) * sigma * sqrt(draws left)),    Phi(d) = error * W,

    and it reaches 1 / error exactly where a test of the mean with known variance rejects.

    Parameters
    ----------
    draws : ndarray of float64, shape (n_rows,)
        From 0 to 1.
    level : float
        The mean under the hypothesis, from 0 to 1.
    error : float
        The p-value that is hoped for, at which he stops. Any other is valid, too.

    Examples
    --------
    >>> import numpy as np
    >>> round(betting(np.full(50, 0.2), 0.3, 0.01), 4)
    0.01
    """
    # A larger p-value stays valid: rows whose own mean is above the level shall certify nothing, even if the
    # first of them did.
    if level <= 0 or draws.mean() > level:
        return 1.0
    n_rows, goal = len(draws), -math.log(error)
    # A bet may depend on earlier draws only. Before any, there are a few that were not drawn.
    seen, total, squares = _UNDRAWN, _UNDRAWN * level, _UNDRAWN * level * (1 - level)
    # Below 1 / (1 - level) the capital stays positive whatever the draw.
    largest = _LARGEST / max(1 - level, 1e-12)
    capital = best = bet = 0.0
    # Of many draws, several have the same bet, which is still known before them.
    step = max(1, n_rows // _MOST_BETS)
    for place, draw in enumerate(draws.tolist()):
        if place % step == 0:
            deviation = math.sqrt(max(squares / seen, _LEAST) * (n_rows - place))
            bet = min(_hedge(capital - goal) / deviation, largest)
        capital += math.log1p(bet * (level - draw))
        best = max(best, capital)
        if best >= goal - 1e-12:
            return error
        seen += 1
        total += draw
        squares += (draw - total / seen) ** 2
    return math.exp(-best)


def _hedge(log_chance: float) -> float:
    """Return phi(d) / Phi(d) for the logarithm of Phi(d)."""
    d = float(ndtri_exp(min(log_chance, -1e-12)))
    return math.exp(-0.5 * d * d - log_chance) / math.sqrt(2 * math.pi)
