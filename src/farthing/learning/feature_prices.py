"""Columns by price: the free ones, and the order from cheap to expensive."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet


def free_columns(costs: CostSheet) -> NDArray[np.int64]:
    """Return the columns that cost nothing when bought alone, ascending.

    Examples
    --------
    >>> free_columns(CostSheet([3.0, 0.0, 2.0]))
    array([1])
    """
    return np.flatnonzero([costs.price(name) == 0 for name in costs.features]).astype(np.int64)


def by_price(costs: CostSheet, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return columns in the order of their prices when bought alone, the cheapest first.

    Examples
    --------
    >>> by_price(CostSheet([3.0, 1.0, 2.0]), np.array([0, 1]))
    array([1, 0])
    """
    prices = np.array([costs.price(costs.features[column]) for column in columns])
    # Ties go to the earlier column, whatever the order of the argument.
    return columns[np.lexsort((columns, prices))]
