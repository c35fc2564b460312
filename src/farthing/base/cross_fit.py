"""How far predicted falls of risk are off, from the rows that a model learned from."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone

from farthing.base.inputs import target_column
from farthing.table import PreparedTable, encode
from farthing.walks.realised import factor_of, table_falls


def cross_fitted_factor(model: Any, X: Any, y: Any, folds: int, most: int) -> tuple[float, int]:
    """Return the factor of `farthing.walks.realised`, and the number of questions, by cross-fitting.

    Parameters
    ----------
    model : BudgetedEstimator
        The estimator; it is cloned and fitted again without each fold.
    X : array or frame, shape (n_rows, n_features)
        The rows that it learned from.
    y : array, shape (n_rows,)
        Their labels.
    folds : int
        Number of parts, at least 2.
    most : int
        Number of rows that are walked at most, over all folds.
    """
    name = type(model).__name__
    if y is None:
        raise ValueError("folds need the labels of the rows that the model learned from; give y")
    if not isinstance(folds, int) or folds < 2:
        raise ValueError(f"folds must be a number of parts of the rows, 2 or more; got {folds!r}")
    if model.asks != "columns" or not model.rows_are_independent:
        raise ValueError(f"{name} predicts no falls of risk of single rows; leave out folds")
    table = PreparedTable.of(X, name)
    target = np.asarray(target_column(y))
    if len(target) != len(table.values):
        raise ValueError(f"X has {len(table.values)} rows, y has {len(target)}")
    if len(target) < folds:
        raise ValueError(f"{len(target)} rows cannot be divided into {folds} folds")
    order = np.random.default_rng(0).permutation(len(target))
    pairs = []
    for part in np.array_split(order, folds):
        others = np.setdiff1d(order, part)
        fitted = clone(model).fit(table.take(others), target[others]).fitted_
        walked = part[: -(-most // folds)]
        values = encode(fitted.schema, table.take(walked), name, needed=fitted.may_buy()).values
        pairs += table_falls(fitted, values, target[walked])
    return factor_of(pairs)
