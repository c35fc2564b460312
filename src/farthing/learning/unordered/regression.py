"""Boosted regression of one number on what is known, where the unknown is NaN."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.learning.booster import TreeSettings
from farthing.learning.least_squares_boosting import boost
from farthing.table import Encoded, PreparedTable, Schema
from farthing.trees import Forest, Predictor
from farthing.typing import Floats

Regression: TypeAlias = Callable[[NDArray[np.floating]], Floats]
"""From known values (n_rows, n_features) to predictions (n_rows,)."""

SETTINGS: Final = TreeSettings(n_estimators=40, learning_rate=0.15, max_depth=3, min_samples_leaf=10)
# Fewer rows than this give their mean.
FEW_ROWS: Final = 40
_MAX_BINS: Final = 63


def regress(known: NDArray[np.floating], target: Floats, schema: Schema) -> Regression:
    """Boost least-squares trees; with few rows, or a constant target, return the mean.

    Parameters
    ----------
    known : ndarray, shape (n_rows, n_features)
        The encoded values, NaN where they are not known.
    target : ndarray of float64, shape (n_rows,)
        What to predict.
    schema : Schema
        The columns.

    Returns
    -------
    callable
        Predictions lie within the range of the target.

    Examples
    --------
    >>> known = np.repeat([[0.0], [1.0]], 50, axis=0)
    >>> predict = regress(known, known[:, 0], Schema.learn(known))
    >>> predict(np.array([[0.0], [1.0]])).round(2)
    array([0., 1.])
    """
    start = float(target.mean()) if len(target) else 0.0
    low, high = (float(target.min()), float(target.max())) if len(target) else (0.0, 0.0)
    if len(target) < FEW_ROWS or low == high:
        return lambda rows: np.full(len(rows), start)
    table = PreparedTable(schema, Encoded.valid(np.ascontiguousarray(known), schema.columns))
    sheet = CostSheet(np.ones(known.shape[1]))
    trees = boost(
        SETTINGS.make_grower(table.bins(_MAX_BINS), sheet, ledger="row"),
        target,
        np.ones(len(target)),
        start=start,
        n_estimators=SETTINGS.n_estimators,
        learning_rate=SETTINGS.learning_rate,
    )
    if not trees:
        return lambda rows: np.full(len(rows), start)
    predictor = Predictor(Forest.concat(trees))
    return lambda rows: np.clip(start + predictor.predict(np.ascontiguousarray(rows))[0][:, 0], low, high)
