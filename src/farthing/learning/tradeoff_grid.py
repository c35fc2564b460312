"""Trade-offs that a sweep tries by default."""

from __future__ import annotations

from typing import Final

from farthing.base import SweepContext
from farthing.costs import per_price

# Fractions of the initial loss per mean price of a feature. At the last one, a feature of the mean price has
# to remove a fifth of the loss in the tree that buys it, so only cheap features are bought.
_TRADEOFFS: Final = (0.0, 0.0006, 0.002, 0.006, 0.02, 0.06, 0.2)


def relative_tradeoffs(context: SweepContext) -> list[float]:
    """Return trade-offs relative to the initial loss, scaled to the prices, whatever their unit.

    Parameters
    ----------
    context : SweepContext
        The table and its prices.

    Returns
    -------
    list of float
        Ascending; the first is 0.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> relative_tradeoffs(SweepContext(100, 2, 2, CostSheet([1.0, 3.0])))[:3]
    [0.0, 0.0003, 0.001]
    """
    mean = context.mean_price
    return [float(per_price(share, mean)) if mean else share for share in _TRADEOFFS]
