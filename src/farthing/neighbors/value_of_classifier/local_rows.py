"""Training rows as a local regression reads them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.neighbors.acquisition.by_column import Floats
from farthing.store import register_codec


@dataclass(frozen=True, eq=False)
class Local:
    """Training rows, standardised and without missing values.

    Parameters
    ----------
    values : ndarray of float64, shape (n_rows, n_features)
        Standardised.
    signs, weights : ndarray of float64, shape (n_rows,)
        Labels, -1 or 1; weights above zero.
    """

    values: Floats
    signs: Floats
    weights: Floats

    def __post_init__(self) -> None:
        check_rows(self.values, self.signs, self.weights)
        if not np.isfinite(self.values).all():
            raise ValueError("values must be finite")


def check_floats(name: str, array: Any, ndim: int) -> Floats:
    """Return an array that may come from a hostile file, if it is one of floats."""
    if not isinstance(array, np.ndarray) or array.dtype != np.float64 or array.ndim != ndim:
        raise ValueError(f"{name} must be an array of floats in {ndim} dimensions")
    return array


def check_rows(values: Any, signs: Any, weights: Any) -> None:
    """Raise ValueError unless there are rows, each with a label of -1 or 1 and a weight above zero."""
    n_rows = len(check_floats("values", values, 2))
    if not values.size:
        raise ValueError("there must be a row and a feature")
    if check_floats("signs", signs, 1).shape != (n_rows,) or not np.isin(signs, (-1.0, 1.0)).all():
        raise ValueError("signs must be -1 or 1, one for each row")
    positive = np.isfinite(check_floats("weights", weights, 1)) & (weights > 0)
    if weights.shape != (n_rows,) or not positive.all():
        raise ValueError("weights must be above zero, one for each row")


def _encode(local: Local) -> dict[str, object]:
    return {"values": local.values, "signs": local.signs, "weights": local.weights}


def _decode(fields: dict[str, Any]) -> Local:
    return Local(**fields)


register_codec("Local", Local, _encode, _decode)
