"""How far predicted falls of risk and probabilities are off, by the rows that a model learned from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from farthing.base.inputs import target_column
from farthing.base.reference import N_BINS
from farthing.table import PreparedTable, encode
from farthing.typing import Integers
from farthing.walks.realised import factor_of, table_falls


@dataclass(frozen=True, eq=False)
class CrossFit:
    """What models that were fitted without a part of the rows do on that part.

    Attributes
    ----------
    fall_factor : float
        The factor of `farthing.walks.realised`.
    n_questions : int
        Questions that it comes from.
    confident, right : ndarray of int64, shape (N_BINS,)
        As those of `farthing.base.Reference`, for all rows; zeros for a regressor.
    """

    fall_factor: float
    n_questions: int
    confident: Integers
    right: Integers


def cross_fit(model: Any, X: Any, y: Any, folds: int, most: int) -> CrossFit:
    """Return what fits without each part of the rows do on it.

    Parameters
    ----------
    model : BudgetedEstimator
        The fitted estimator; it is fitted again without each fold, by its `fitted_again`.
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
    confident = right = np.zeros(N_BINS, dtype=np.int64)
    for part in np.array_split(order, folds):
        others = np.setdiff1d(order, part)
        again = model.fitted_again(table.take(others), target[others])
        fitted = again.fitted_
        held_out = again.behaviour(table.take(part), target[part]).reference()
        confident, right = confident + held_out.confident, right + held_out.right
        walked = part[: -(-most // folds)]
        values = encode(fitted.schema, table.take(walked), name, needed=fitted.may_buy()).values
        pairs += table_falls(fitted, values, target[walked])
    return CrossFit(*factor_of(pairs), confident, right)
