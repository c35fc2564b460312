"""Links from raw sums to predictions in float32, with the rounding steps of XGBoost.

Arguments and results are float64 arrays that hold float32 numbers. Exponentials are correctly rounded to
float32; those of the C library, which XGBoost calls, are occasionally off by one bit.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base.links import row_sums

_LARGEST: Final = np.float32(88.7)  # exponents beyond it overflow


def exponential(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the exponential of each sum, in float32.

    Examples
    --------
    >>> exponential(np.array([0.0]))
    array([1.])
    """
    with np.errstate(over="ignore"):
        return np.exp(outputs).astype(np.float32).astype(np.float64)


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
    raised = exponential(np.minimum(-outputs[:, 0], _LARGEST)).astype(np.float32)
    # Every operation is rounded to float32, in XGBoost's order.
    second = np.float32(1) / (raised + np.float32(1))
    return np.column_stack([np.float32(1) - second, second]).astype(np.float64)


def softmax(outputs: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turn scores, one column per class, into probabilities; only their sum is in float64.

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
    shifted = (outputs - outputs.max(axis=1, keepdims=True)).astype(np.float32)
    raised = exponential(shifted.astype(np.float64))
    total = row_sums(raised).astype(np.float32)
    return (raised.astype(np.float32) / total[:, np.newaxis]).astype(np.float64)
