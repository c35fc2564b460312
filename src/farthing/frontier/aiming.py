"""Aiming at a mean budget: the nominal budget of a model at which rows spend just that."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Final

from farthing.costs import spending_limit

# Models tried between the two nominal budgets that enclose the aim; the spend is off by at most their
# distance over two to this power, in a method whose spend rises with its nominal budget.
_STEPS: Final = 5
# A spend within the aim by at most this part of it is a hit.
_NEAR: Final = 0.01


def aim_at(aim: float, known: Iterable[tuple[float, float]], spend_of: Callable[[float], float]) -> float:
    """Return the nominal budget whose mean spend is nearest below an aim.

    A model that was moved to a nominal budget spends more or less than that on other rows than those that set
    its thresholds. The largest nominal budget known to be within the aim and the least known to be above it
    enclose the one that hits it, which is found by bisection.

    Parameters
    ----------
    aim : float
        The mean spend to hit, from below.
    known : iterable of pairs
        Nominal budgets, and what rows spend at them; at least one.
    spend_of : callable
        From a nominal budget to what rows spend.

    Examples
    --------
    >>> found = aim_at(10.0, [(5.0, 4.0), (20.0, 16.0)], lambda budget: 0.8 * budget)
    >>> round(0.8 * found, 1)
    10.0
    """
    limit = spending_limit(aim)
    pairs = sorted(known)
    within = [pair for pair in pairs if pair[1] <= limit]
    low, spent = max(within, key=lambda pair: (pair[1], pair[0])) if within else (0.0, 0.0)
    above = [budget for budget, spend in pairs if spend > limit and budget > low]
    if not above:
        return low
    high = min(above)
    for _ in range(_STEPS):
        if aim - spent <= _NEAR * aim:
            break
        middle = (low + high) / 2
        spend = spend_of(middle)
        if spend <= limit:
            low, spent = middle, max(spend, spent)
        else:
            high = middle
    return low
