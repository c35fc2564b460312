"""Probabilities of some classes as probabilities of all of them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats


def spread_classes(probabilities: Floats, known: NDArray[Any], classes: NDArray[Any]) -> Floats:
    """Return probabilities of some classes as probabilities of all of them, zero for the others.

    Parameters
    ----------
    probabilities : ndarray of float64, shape (n_rows, n_known)
    known : ndarray, shape (n_known,)
        Their labels.
    classes : ndarray, shape (n_classes,)
        All labels, sorted.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_classes)

    Examples
    --------
    >>> spread_classes(np.array([[0.2, 0.8]]), np.array(["a", "c"]), np.array(["a", "b", "c"]))
    array([[0.2, 0. , 0.8]])
    """
    if len(known) == len(classes):
        return probabilities
    everyone = np.zeros((len(probabilities), len(classes)))
    everyone[:, np.searchsorted(classes, known)] = probabilities
    return everyone
