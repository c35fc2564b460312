"""The definition of spending within a budget."""

from __future__ import annotations

import math
from typing import Final, overload

from farthing.typing import Flags, Floats

SLACK: Final = 1e-12
"""Relative tolerance of a budget: the rounding error of a long sum of costs."""


@overload
def spending_limit(budget: float | None) -> float: ...
@overload
def spending_limit(budget: Floats) -> Floats: ...
def spending_limit(budget: float | Floats | None) -> float | Floats:
    """Return the largest spend that is within a budget: the budget with its slack.

    Parameters
    ----------
    budget : float, ndarray of float64 or None
        None means no limit.

    Examples
    --------
    >>> spending_limit(None), spending_limit(2.0) > 2
    (inf, True)
    """
    # Relative, so that costs and budget times a power of two give the same decisions. The compiled core has
    # the same expression, and a budget of 0 stays 0.
    return math.inf if budget is None else budget * (1 + SLACK)


@overload
def within_budget(spent: float, budget: float | None) -> bool: ...
@overload
def within_budget(spent: Floats, budget: float | Floats | None) -> Flags: ...
def within_budget(spent: float | Floats, budget: float | Floats | None) -> bool | Flags:
    """Return whether a spend is within a budget, up to the rounding of a sum.

    Parameters
    ----------
    spent : float or ndarray of float64
        The amount paid.
    budget : float, ndarray of float64 or None
        The budget, one number or one for each of ``spent``; None means no limit.

    Returns
    -------
    bool or ndarray of bool

    Examples
    --------
    >>> within_budget(0.1 + 0.2, 0.3), within_budget(0.31, 0.3)
    (True, False)
    >>> import numpy as np
    >>> within_budget(np.array([1.0, 3.0]), 2.0)
    array([ True, False])
    """
    return spent <= spending_limit(budget)
