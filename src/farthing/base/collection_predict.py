"""Predictions of Dask collections by fitted estimators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from farthing.errors import TableError
from farthing.walks import Decisions

if TYPE_CHECKING:
    from farthing.base.predicting import Predicting
    from farthing.distributed.lazy import Field


def predict_lazily(estimator: Predicting, method: str, X: Any, **options: Any) -> Any:
    """Return what a method of a fitted estimator gives for a Dask collection, not yet computed.

    Parameters
    ----------
    estimator : BudgetedEstimator
        Fitted.
    method : {"predict", "predict_proba", "decide", "spend", "acquired"}
        Called for each partition.
    X : dask.array.Array or dask.dataframe.DataFrame
        The rows.
    **options
        Further arguments of the method; see `farthing.distributed.lazy.lazy_arrays`.

    Returns
    -------
    dask.array.Array, or Decisions of them
    """
    from farthing.distributed.lazy import lazy_arrays  # noqa: PLC0415 - Dask is an extra

    estimator.check_ready()
    if not estimator.rows_are_independent:
        raise TableError(
            f"predictions of {type(estimator).__name__} depend on all rows of a query; call compute() on X"
        )
    schema = estimator.fitted_.schema
    columns = None
    if schema.named:
        columns = [schema.names[j] for j in np.flatnonzero(estimator.fitted_.may_buy())]
    fields = _fields(estimator)
    if method != "decide":
        field = fields[method]
        return lazy_arrays(estimator, method, X, [field], options=options, columns=columns)[0]
    names = {
        "predict": "prediction",
        "predict_proba": "probabilities",
        "spend": "spent",
        "acquired": "acquired",
    }
    kept = {names[call]: _renamed(field, names[call]) for call, field in fields.items()}
    arrays = lazy_arrays(estimator, method, X, list(kept.values()), options=options, columns=columns)
    return Decisions(**{"probabilities": None, **dict(zip(kept, arrays, strict=True))})


def _fields(estimator: Predicting) -> dict[str, Field]:
    from farthing.distributed.lazy import Field  # noqa: PLC0415 - Dask is an extra

    model = estimator.fitted_
    classes = getattr(model, "classes", None)
    fields = {
        "predict": Field(None, np.dtype(np.float64) if classes is None else classes.dtype),
        "spend": Field(None, np.dtype(np.float64)),
        "acquired": Field(None, np.dtype(np.bool_), len(model.costs.features)),
    }
    if classes is not None:
        fields["predict_proba"] = Field(None, np.dtype(np.float64), len(classes))
    return fields


def _renamed(field: Field, name: str) -> Field:
    return type(field)(name, field.dtype, field.width)
