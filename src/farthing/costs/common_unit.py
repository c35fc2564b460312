"""Costs in a unit in which ratios neither overflow nor vanish."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

# Costs count as at least this part of the largest: a quotient of moderate numbers by it is finite.
_LEAST: Final = 2.0**-900


def unit_of(costs: NDArray[np.float64]) -> int:
    """Return the exponent of the power of two just above the largest cost; 0 if all are free.

    Examples
    --------
    >>> unit_of(np.array([3.0, 0.5]))
    2
    """
    return int(np.frexp(np.max(costs, initial=0.0))[1])


def in_unit(costs: NDArray[np.float64], unit: int) -> NDArray[np.float64]:
    """Return costs divided by a power of two; those above zero are at least 2**-900.

    A change of the unit by a power of two changes no mantissa, so costs in another such unit give the same
    bits. Whatever depends on ratios of costs alone can then divide by subnormal prices, too.

    Parameters
    ----------
    costs : ndarray of float64
        Zero or more.
    unit : int
        The exponent of the power of two, such as that of `unit_of`.

    Examples
    --------
    >>> in_unit(np.array([3.0, 0.5, 0.0]), 2)
    array([0.75 , 0.125, 0.   ])
    >>> bool(np.isfinite(1 / in_unit(np.array([1e-310, 5e-324]), 0)).all())
    True
    """
    return np.where(costs > 0, np.maximum(np.ldexp(costs, -unit), _LEAST), 0.0)
