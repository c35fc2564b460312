"""What a unit of price is worth in units of the cost of errors, where a method is not told."""

from __future__ import annotations

from farthing.base import TrainingSet
from farthing.costs import per_price


def price_of_money(tradeoff: float | None, rows: TrainingSet, errors_per_all: float) -> float:
    """Return a trade-off, in units of error price per unit of price.

    Parameters
    ----------
    tradeoff : float or None
        The one that was asked for. None means 1 if errors have prices, which are then in the same currency.
    rows : TrainingSet
        The rows, with the prices of features and of errors.
    errors_per_all : float
        What all features together are worth, in errors, if errors have no price.

    Examples
    --------
    >>> import numpy as np
    >>> rows = TrainingSet.of([[1.0, 2.0], [2.0, 1.0]], np.array([0, 1]), classes=np.array([0, 1]))
    >>> price_of_money(None, rows, 0.1)
    0.05
    """
    if tradeoff is not None:
        return float(tradeoff)
    if rows.errors is not None:
        return 1.0
    whole = rows.costs.total(rows.costs.features)
    # If all features are free, any divisor will do: every price is zero.
    return float(per_price(errors_per_all, whole if whole > 0 else 1.0))
