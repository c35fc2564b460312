"""Which columns a node buys, in which order: the largest gain per price first."""

from __future__ import annotations

import numpy as np

from farthing.costs import RowLedger
from farthing.learning.forward_regression import ForwardRegression
from farthing.typing import Floats


def select_columns(selection: ForwardRegression, ledger: RowLedger, min_gain: float) -> list[int]:
    """Buy columns until the ledger's budget ends or none gains enough.

    Columns that cost nothing come first, the largest gain before the others; then the largest gain per price.
    The lists of a larger budget begin like those of a smaller one, but for columns that it cannot afford.

    Parameters
    ----------
    selection : ForwardRegression
        The rows of the node; changed by what is taken.
    ledger : RowLedger
        What the node owns, and the budget of its rows; changed by what is bought.
    min_gain : float
        The least gain of a purchase, as a share of the variance.

    Returns
    -------
    list of int
        The columns in the order of purchase.

    Examples
    --------
    >>> from farthing.costs import CostSheet
    >>> x = np.array([[-1.0, 1.0], [0.0, -2.0], [1.0, 1.0]])
    >>> y = np.array([[-1.0], [0.1], [1.0]])
    >>> selection = ForwardRegression(x, np.array([0, 1]), y, np.ones(3))
    >>> select_columns(selection, RowLedger(CostSheet([1.0, 1.0]), 1.0), min_gain=0.0)
    [0]
    """
    bought: list[int] = []
    while (column := _best(selection.gains(), ledger, min_gain)) is not None:
        selection.take(column)
        ledger.buy(column)
        bought.append(column)
    return bought


def _best(gains: Floats, ledger: RowLedger, min_gain: float) -> int | None:
    """Return the affordable column of the largest gain per price; the first of equals."""
    best: tuple[int, float, float] | None = None
    for column in np.flatnonzero((gains > 0) & ~ledger.owned).tolist():
        gain, price = float(gains[column]), ledger.price(column)
        if gain < min_gain or not ledger.affords(column):
            continue
        # Products and not quotients, since a price may be zero.
        if best is None or _is_better(gain, price, best[1], best[2]):
            best = column, gain, price
    return None if best is None else best[0]


def _is_better(gain: float, price: float, other_gain: float, other_price: float) -> bool:
    if price == 0 or other_price == 0:
        return other_price > 0 or (price == 0 and gain > other_gain)
    return gain * other_price > other_gain * price
