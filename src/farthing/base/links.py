"""Link functions from raw outputs to probabilities, with the same bits for a row alone and in a batch.

NumPy's sum over an axis may add in an order that depends on the layout of the whole array, so these functions
add column by column.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from farthing._core import normalise as core_normalise
from farthing._core import shift


def row_sums(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Add up each row, from the first column to the last.

    Parameters
    ----------
    outputs : ndarray of float64, shape (n_rows, n_columns)

    Returns
    -------
    ndarray of float64, shape (n_rows,)

    Examples
    --------
    >>> row_sums(np.array([[1.0, 2.0], [3.0, 4.0]]))
    array([3., 7.])
    """
    total = np.zeros(len(outputs))
    for column in range(outputs.shape[1]):
        total += outputs[:, column]
    return total


def normalise(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide non-negative counts by their sum; a row of zeros becomes uniform.

    Parameters
    ----------
    outputs : ndarray of float64, shape (n_rows, n_classes)

    Returns
    -------
    ndarray of float64, shape (n_rows, n_classes)

    Examples
    --------
    >>> normalise(np.array([[1.0, 3.0], [0.0, 0.0]]))
    array([[0.25, 0.75],
           [0.5 , 0.5 ]])
    """
    # In the core, since walks normalise a few rows at a time, where ten array operations would take longest.
    return core_normalise(outputs)


def softmax(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn scores, one column per class, into probabilities.

    Parameters
    ----------
    outputs : ndarray of float64, shape (n_rows, n_classes)

    Returns
    -------
    ndarray of float64, shape (n_rows, n_classes)

    Examples
    --------
    >>> softmax(np.array([[7.0, 7.0]]))
    array([[0.5, 0.5]])
    """
    # In C order, since np.exp has vectorised and scalar loops, which may differ in the last bit, and picks
    # one by the strides.
    return normalise(np.exp(shift(outputs)))


def sigmoid(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn one log-odds per row into the probabilities of two classes.

    Parameters
    ----------
    outputs : ndarray of float64, shape (n_rows, 1)

    Returns
    -------
    ndarray of float64, shape (n_rows, 2)

    Examples
    --------
    >>> sigmoid(np.array([[0.0]]))
    array([[0.5, 0.5]])
    """
    score = np.ascontiguousarray(outputs[:, 0])
    # Not 1 - expit(score), which loses all digits of a small probability.
    return np.column_stack([expit(-score), expit(score)])
