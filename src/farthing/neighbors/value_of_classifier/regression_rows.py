"""The training rows of a local regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.neighbors.acquisition.row_checks import check_rows
from farthing.store import register_codec
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class RegressionRows:
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


def _encode(rows: RegressionRows) -> dict[str, object]:
    return {"values": rows.values, "signs": rows.signs, "weights": rows.weights}


def _decode(fields: dict[str, Any]) -> RegressionRows:
    return RegressionRows(**fields)


register_codec("RegressionRows", RegressionRows, _encode, _decode)
