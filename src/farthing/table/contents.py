"""A hash of the values of each row, by which rows are told apart and put in order."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def content_keys(values: NDArray[np.floating]) -> NDArray[np.uint64]:
    """Return a hash of each row; rows with the same values have the same hash.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_features)

    Returns
    -------
    ndarray of uint64, shape (n_rows,)

    Examples
    --------
    >>> first, second, third = content_keys(np.array([[1.0, 2.0], [2.0, 1.0], [1.0, 2.0]]))
    >>> bool(first == third), bool(first == second)
    (True, False)
    """
    keys = np.zeros(len(values), dtype=np.uint64)
    for column in range(values.shape[1]):
        numbers = values[:, column].astype(np.float64) + 0.0  # -0.0 becomes 0.0
        numbers[np.isnan(numbers)] = np.nan  # NaNs of any payload become one
        keys += numbers.view(np.uint64) + np.uint64(0x9E3779B97F4A7C15)
        # The finalizer of SplitMix64; after each column, so that the order of the columns matters.
        keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        keys ^= keys >> np.uint64(31)
    return keys
