"""Which entry each output of a transformer is made of, for transformers known to treat entries one by one."""

# ruff: noqa: SLF001 - scikit-learn keeps part of what a transformer computes with in private attributes.

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
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

from farthing.typing import Integers


def entry_sources(transformer: Any, n_inputs: int, names: Sequence[str] | None = None) -> Integers | None:
    """Return the input of each output of a fitted transformer, or None if that is not known.

    It is known of transformers that compute by additions, multiplications, comparisons and look-ups of single
    entries, which give the same bits for a row alone and in a table. It is read from what they were fitted
    with, which may come from a hostile file: whatever is out of order there is not known.

    Parameters
    ----------
    transformer : transformer
        Fitted.
    n_inputs : int
        Number of columns of its tables.
    names : sequence of str, optional
        Their names, if the tables are frames.

    Returns
    -------
    ndarray of int64, shape (n_outputs,), or None

    Examples
    --------
    >>> table = np.array([[0.0, 5.0], [1.0, 6.0], [0.0, 7.0]])
    >>> entry_sources(OneHotEncoder().fit(table), 2)
    array([0, 0, 1, 1, 1])
    >>> entry_sources(FunctionTransformer(np.cumsum), 2) is None
    True
    """
    try:
        return _sources(transformer, n_inputs, names)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError):
        return None  # not fitted, or spoilt


def _sources(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:
    if transformer is None or (isinstance(transformer, str) and transformer == "passthrough"):
        return np.arange(n_inputs)
    # The very types: a subclass may do anything.
    known = _KNOWN.get(type(transformer))
    return None if known is None else known(transformer, n_inputs, names)


def _own_entry(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers:  # noqa: ARG001
    return np.arange(n_inputs)


def _of_function(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:  # noqa: ARG001
    return np.arange(n_inputs) if transformer.func is None else None


def _of_one_hot(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:  # noqa: ARG001
    widths = np.asarray(transformer._n_features_outs, dtype=np.int64)
    most = [len(categories) for categories in transformer.categories_]
    if transformer._infrequent_enabled:
        for place, codes in enumerate(transformer._default_to_infrequent_mappings):
            if codes is not None:
                most[place] = int(np.max(codes)) + 1
    dropped = transformer._drop_idx_after_grouping
    if dropped is not None:
        most = [n - (d is not None and 0 <= d < n) for n, d in zip(most, dropped, strict=True)]
    # A code beyond its outputs would fall among those of the next column.
    if widths.shape != (n_inputs,) or len(most) != n_inputs or (widths < most).any():
        return None
    return np.repeat(np.arange(n_inputs), widths)


def _of_bins(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:
    if transformer.encode == "ordinal":
        return np.arange(n_inputs)
    return _sources(transformer._encoder, n_inputs, names)


def _of_indicator(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers:  # noqa: ARG001
    inputs: Integers = np.arange(n_inputs)
    if transformer.features == "missing-only" and transformer.features_.size < transformer._n_features:
        inputs = inputs[transformer.features_]
    return inputs


def _of_imputer(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers:
    statistics = np.asarray(transformer.statistics_)
    filled = statistics == statistics  # noqa: PLR0124 - not those that are NaN
    kept = np.arange(n_inputs) if transformer.keep_empty_features else np.flatnonzero(filled)
    flags = _of_indicator(transformer.indicator_, n_inputs, names) if transformer.add_indicator else kept[:0]
    return np.concatenate([kept, flags])


def _of_pipeline(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:
    sources: Integers = np.arange(n_inputs)
    for _, step in transformer.steps:
        found = _sources(step, len(sources), names)
        if found is None:
            return None
        sources, names = sources[found], None  # the names of what comes out are not followed
    return sources


def _of_columns(transformer: Any, n_inputs: int, names: Sequence[str] | None) -> Integers | None:
    by_name = hasattr(transformer, "feature_names_in_")
    if by_name != (names is not None) or (
        by_name and list(transformer.feature_names_in_) != list(names or ())
    ):
        return None
    parts: list[Integers] = []
    for name, part, columns in transformer.transformers_:
        if isinstance(part, str) and part == "drop":
            continue
        chosen = transformer._transformer_to_input_indices[name] if by_name else columns
        inputs = np.atleast_1d(np.arange(n_inputs)[chosen])
        if not len(inputs):
            continue
        found = _sources(part, len(inputs), None if names is None else [names[place] for place in inputs])
        if found is None:
            return None
        parts.append(inputs[found])
    return np.concatenate([np.zeros(0, dtype=np.int64), *parts])


_KNOWN: Final[dict[type, Callable[[Any, int, Sequence[str] | None], Integers | None]]] = {
    **dict.fromkeys(
        (Binarizer, MaxAbsScaler, MinMaxScaler, OrdinalEncoder, RobustScaler, StandardScaler), _own_entry
    ),
    ColumnTransformer: _of_columns,
    FunctionTransformer: _of_function,
    KBinsDiscretizer: _of_bins,
    MissingIndicator: _of_indicator,
    OneHotEncoder: _of_one_hot,
    Pipeline: _of_pipeline,
    SimpleImputer: _of_imputer,
}
