"""Checks of the training rows of a model, which may come from a hostile file."""

from __future__ import annotations

from typing import Any

import numpy as np

from farthing.typing import Floats


def check_floats(name: str, array: Any, ndim: int) -> Floats:
    """Return the array if it has float64 values and this many dimensions; else raise ValueError.

    Examples
    --------
    >>> check_floats("gap", np.zeros(2), 1)
    array([0., 0.])
    """
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != ndim:
        raise ValueError(f"{name} must be an array of floats in {ndim} dimensions")
    return array


def check_rows(values: Any, signs: Any, weights: Any) -> None:
    """Raise ValueError unless there are rows, each with a label of -1 or 1 and a weight above zero."""
    n_rows = len(check_floats("values", values, 2))
    if not values.size:
        raise ValueError("there must be a row and a feature")
    if check_floats("signs", signs, 1).shape != (n_rows,) or not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError("signs must be -1 or 1, one per row")
    positive = np.isfinite(check_floats("weights", weights, 1)) & (weights > 0)
    if weights.shape != (n_rows,) or not positive.all():
        raise ValueError("weights must be above zero, one per row")
