"""Gain per price, which for tiny prices may be more than a float holds."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from farthing.typing import Floats


def per_price(gain: ArrayLike, price: ArrayLike) -> Floats:
    """Return gain over price: bounded for a price above zero, infinite for a gain for free.

    The bound is 2**-64 of the largest float, so that a ratio times a number of rows is finite, too.

    Parameters
    ----------
    gain : float or ndarray
        What a feature gains.
    price : float or ndarray
        What it costs, zero or more.

    Returns
    -------
    ndarray of float64
        Of the shape of the arguments together; NaN where both are zero.

    Examples
    --------
    >>> per_price([1.0, 1.0, 1.0], [2.0, 5e-324, 0.0])
    array([5.00000000e-001, 9.74531401e+288,             inf])
    """
    price = np.asarray(price, dtype=np.float64)
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        ratio = np.asarray(np.asarray(gain, dtype=np.float64) / price)
    most = np.finfo(np.float64).max * 2.0**-64
    return np.where(price > 0, np.clip(ratio, -most, most), ratio)
