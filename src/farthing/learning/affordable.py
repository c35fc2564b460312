"""Which rows can afford a set of features."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, within_budget
from farthing.typing import Floats


def affordable(costs: CostSheet, acquired: NDArray[np.bool_], budget: Floats) -> NDArray[np.bool_]:
    """Return whether the total price of a set of features is within the budget, for each row.

    The rule is that of `RowLedger`, for many rows at once.

    Parameters
    ----------
    costs : CostSheet
        The prices.
    acquired : ndarray of bool, shape (n_rows, n_features)
        The features that each row would own.
    budget : ndarray of float64, shape (n_rows,)
        Budget of each row.

    Returns
    -------
    ndarray of bool, shape (n_rows,)

    Examples
    --------
    >>> affordable(CostSheet([1.0, 2.0]), np.array([[True, True], [True, False]]), np.array([2.5, 2.5]))
    array([False,  True])
    """
    # The total of the whole set, not spent + price, which could round to the other side of the budget.
    return np.asarray(within_budget(costs.total_rows(acquired), budget))
