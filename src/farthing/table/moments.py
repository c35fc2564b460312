"""Mean and variance of a column with missing values."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def moments(column: NDArray[np.float64], weights: NDArray[np.float64]) -> tuple[float, float]:
    """Return the weighted mean and variance of the finite values; 0 and 0 if there are none.

    Examples
    --------
    >>> moments(np.array([1.0, 3.0, np.nan]), np.array([1.0, 1.0, 9.0]))
    (2.0, 1.0)
    """
    seen = np.isfinite(column)
    if not seen.any():
        return 0.0, 0.0
    # Scaled to [-1, 1] first, since squares of large values would overflow.
    largest = float(np.abs(column[seen]).max()) or 1.0
    parts, shares = column[seen] / largest, weights[seen] / weights[seen].sum()
    mean = float(parts @ shares)
    variance = float((parts - mean) ** 2 @ shares)
    # The variance itself may overflow; it is capped to stay finite.
    with np.errstate(over="ignore"):
        return mean * largest, min(float(np.float64(variance) * largest * largest), 1e300)
