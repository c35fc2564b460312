"""Files of scikit-learn models within others, through skops."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import is_regressor
from sklearn.utils import get_tags

from farthing.learning.sklearn_model import SklearnModel
from farthing.store import register_codec, sklearn_archive
from farthing.typing import Floats


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
    wrapped = SklearnModel(model, columns, fill, platt)
    _check_predicts(wrapped)
    return wrapped


def _check_predicts(wrapped: SklearnModel) -> None:
    """Raise ValueError if the model cannot predict: arrays that contradict each other show in any row."""
    name = type(wrapped.model).__name__
    # Rows of the model's own columns, whatever places in the table a file gives these.
    alone = replace(wrapped, columns=np.arange(len(wrapped.columns)))
    try:
        takes_missing = bool(get_tags(wrapped.model).input_tags.allow_nan)
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            outputs = alone.to_probabilities(alone.scores(np.zeros((2, len(wrapped.columns)))))
    except Exception as error:  # whatever the model makes of arrays that do not agree
        raise ValueError(f"the {name} cannot predict a row of zeros: {error}") from error
    if np.isinf(wrapped.fill).any() or (np.isnan(wrapped.fill).any() and not takes_missing):
        raise ValueError(f"the {name} needs finite numbers in place of missing values")
    expected = 1 if is_regressor(wrapped.model) else len(wrapped.classes)
    if outputs.shape != (2, expected) and not _is_decision(wrapped, outputs):
        raise ValueError(f"the {name} gives {outputs.shape[1]} outputs a row, expected {expected}")


def _is_decision(wrapped: SklearnModel, outputs: Floats) -> bool:
    """Return whether outputs are the decisions of two classes: one score a row, without probabilities."""
    decides = wrapped.platt is None and not hasattr(wrapped.model, "predict_proba")
    return decides and len(wrapped.classes) == 2 and outputs.shape == (2, 1)


register_codec("SklearnModel", SklearnModel, encode, decode)
