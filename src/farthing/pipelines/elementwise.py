"""Which transformers are known to treat each entry of a table on its own."""

from __future__ import annotations

from typing import Any, Final

from sklearn.compose import ColumnTransformer
from sklearn.impute import MissingIndicator, SimpleImputer
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import (
    Binarizer,
    FunctionTransformer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    StandardScaler,
)

# Additions, multiplications, comparisons and look-ups: the same bits for a row alone and in a table.
_ELEMENTWISE: Final = (
    Binarizer,
    KBinsDiscretizer,
    MaxAbsScaler,
    MinMaxScaler,
    MissingIndicator,
    OneHotEncoder,
    OrdinalEncoder,
    RobustScaler,
    SimpleImputer,
    StandardScaler,
)


def is_elementwise(transformer: Any) -> bool:
    """Return whether each output of a fitted transformer is known to depend on one entry of its row alone.

    Examples
    --------
    >>> import numpy as np
    >>> is_elementwise(StandardScaler()), is_elementwise(FunctionTransformer(np.cumsum))
    (True, False)
    """
    if transformer is None or (isinstance(transformer, str) and transformer in ("passthrough", "drop")):
        return True
    if type(transformer) is Pipeline:
        return all(is_elementwise(step) for _, step in transformer.steps)
    if type(transformer) is ColumnTransformer:
        fitted = getattr(transformer, "transformers_", transformer.transformers)
        return all(is_elementwise(part) for _, part, _ in fitted)
    if type(transformer) is FunctionTransformer:
        return transformer.func is None
    # The very types: a subclass may do anything.
    return type(transformer) in _ELEMENTWISE
