"""Files of scikit-learn models within others, through skops."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_regressor

from farthing.learning.sklearn_model import SklearnModel
from farthing.store import register_codec, sklearn_archive


def encode(wrapped: SklearnModel) -> dict[str, object]:
    """Return the fields of a scikit-learn model to store in a file."""
    return {
        **sklearn_archive.pack(wrapped.model),
        "columns": wrapped.columns,
        "fill": wrapped.fill,
        "platt": wrapped.platt,
    }


def decode(fields: dict[str, Any]) -> SklearnModel:
    """Build a scikit-learn model from the fields of `encode`; they may come from a hostile file."""
    columns, fill, platt = fields["columns"], fields["fill"], fields["platt"]
    if not isinstance(columns, np.ndarray) or columns.dtype != np.int64 or columns.ndim != 1:
        raise TypeError("columns must be a list of integers")
    if not isinstance(fill, np.ndarray) or fill.dtype != np.float64 or fill.shape != columns.shape:
        raise TypeError("fill must be one float per column")
    if platt is not None and not (
        isinstance(platt, np.ndarray) and platt.dtype == np.float64 and platt.ndim == 2 and len(platt) == 2
    ):
        raise TypeError("platt must be slopes and offsets")
    model = sklearn_archive.unpack(fields["schema"], fields["parts"], "scikit-learn model")
    needed = ("classes_", "predict" if platt is None else "decision_function")
    for name in ("predict",) if is_regressor(model) else needed:
        if not hasattr(model, name):
            raise TypeError(f"a {type(model).__name__} is not a classifier: it has no {name}")
    return SklearnModel(model, columns, fill, platt)


register_codec("SklearnModel", SklearnModel, encode, decode)
