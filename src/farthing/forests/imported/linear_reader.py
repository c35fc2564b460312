"""Read linear models of scikit-learn, alone or at the end of a pipeline of scalers and imputers."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
from sklearn.base import is_classifier, is_regressor
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.impute import SimpleImputer
from sklearn.linear_model import GammaRegressor, PoissonRegressor, TweedieRegressor
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MaxAbsScaler, MinMaxScaler, RobustScaler, StandardScaler

from farthing.errors import ModelImportError
from farthing.forests.imported.source import ImportedLinear, Source, labels_of, names_in
from farthing.learning.linear_scores import LinearScores
from farthing.typing import Floats

_LOGARITHMIC: Final = (PoissonRegressor, GammaRegressor)


@dataclass(frozen=True, slots=True)
class _Columns:
    """What the steps before a linear model make of each column: (value - center) / scale.

    ``fill`` replaces a missing value before that; it is the center, unless an imputer says otherwise.
    """

    center: Floats
    scale: Floats
    fill: Floats | None = None


def read_linear(model: Any) -> Source | None:
    """Read a linear model of scikit-learn; None if the model is of another kind.

    A missing value counts as what an imputer of the pipeline puts in its place, otherwise as the center of
    the scaler, or as zero.
    """
    last = model.steps[-1][1] if isinstance(model, Pipeline) else model
    if not _is_linear(last):
        if isinstance(model, Pipeline):
            raise ModelImportError(
                f"a pipeline that ends in a {type(last).__name__} cannot be imported; import its last step, "
                "and transform the tables before"
            )
        return None
    columns = _Columns(np.zeros(model.n_features_in_), np.ones(model.n_features_in_))
    if isinstance(model, Pipeline):
        for _, step in model.steps[:-1]:
            columns = _transformed(columns, step)
    if is_classifier(last) and not hasattr(last, "predict_proba"):
        raise ModelImportError(
            f"a {type(last).__name__} cannot be imported, since it has no probabilities; calibrate it, or "
            "use LogisticRegression"
        )
    n_classes = len(last.classes_) if is_classifier(last) else 0
    return Source(
        ImportedLinear(_scores(last, columns), _link(last), n_classes),
        predict=model.predict,
        predict_proba=model.predict_proba if n_classes else None,
        names=names_in(model),
        labels=labels_of(last),
        layout="category" if names_in(model) else "array",
        missing=columns.fill is not None,
    )


def _is_linear(model: Any) -> bool:
    library = type(model).__module__
    linear = library.startswith(("sklearn.linear_model", "sklearn.svm")) or isinstance(
        model, LinearDiscriminantAnalysis
    )
    return linear and hasattr(model, "coef_") and (is_classifier(model) or is_regressor(model))


def _link(model: Any) -> str:
    if is_classifier(model):
        return "sigmoid" if len(model.classes_) == 2 else "softmax"
    if isinstance(model, TweedieRegressor):
        identity = model.link == "identity" or (model.link == "auto" and model.power <= 0)
        return "identity" if identity else "exponential"
    return "exponential" if isinstance(model, _LOGARITHMIC) else "identity"


def _transformed(before: _Columns, step: Any) -> _Columns:
    """Return the columns after one more step of the pipeline."""
    if step is None or step == "passthrough":
        return before
    n_columns = len(before.center)
    if isinstance(step, SimpleImputer) and not step.add_indicator and len(step.statistics_) == n_columns:
        # Later imputers find nothing missing.
        filled = before.center + before.scale * np.asarray(step.statistics_, dtype=np.float64)
        return before if before.fill is not None else replace(before, fill=filled)
    center, scale = np.zeros(n_columns), np.ones(n_columns)
    if isinstance(step, StandardScaler):
        center = center if step.mean_ is None or not step.with_mean else step.mean_
        scale = scale if step.scale_ is None else step.scale_
    elif isinstance(step, RobustScaler):
        center = center if step.center_ is None else step.center_
        scale = scale if step.scale_ is None else step.scale_
    elif isinstance(step, MinMaxScaler) and not step.clip:
        scale = 1 / step.scale_
        center = -step.min_ * scale
    elif isinstance(step, MaxAbsScaler) and not getattr(step, "clip", False):
        scale = step.scale_
    else:
        raise ModelImportError(
            f"a pipeline with a {type(step).__name__} cannot be imported, since only steps that scale or "
            "fill each column by itself keep the prices apart: StandardScaler, MinMaxScaler, MaxAbsScaler, "
            "RobustScaler, SimpleImputer; import the last step, and transform the tables before"
        )
    return replace(before, center=before.center + before.scale * center, scale=before.scale * scale)


def _scores(model: Any, columns: _Columns) -> LinearScores:
    coef = np.atleast_2d(np.asarray(model.coef_, dtype=np.float64)).T
    n_features, n_outputs = coef.shape
    if n_features != len(columns.center) or (n_outputs > 1 and not is_classifier(model)):
        raise ModelImportError("the model has several targets; import one model a target")
    fill = columns.center if columns.fill is None else columns.fill
    start = np.broadcast_to(np.asarray(model.intercept_, dtype=np.float64), (n_outputs,))
    return LinearScores(
        columns=np.arange(n_features),
        category=np.full(n_features, np.nan),
        # Terms are zero where a value is missing, so they are measured from what fills it.
        mean=fill,
        scale=columns.scale,
        coef=coef,
        intercept=start + ((fill - columns.center) / columns.scale) @ coef,
        n_features=n_features,
    )
