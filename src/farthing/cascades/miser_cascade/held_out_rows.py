"""The rows of a cascade that are held out, and those that its final boosters learn from."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from sklearn.utils import check_random_state

from farthing.base import TrainingSet
from farthing.collective import count
from farthing.learning.folds import Fold, folds_among
from farthing.table import Encoded, PreparedTable

# Below this many rows every row is held out once; above, one fold of them is.
_FEW_ROWS: Final = 4000
_FOLDS: Final = 5


def joined(rows: TrainingSet, validation: TrainingSet | None) -> TrainingSet:
    """Return training rows followed by validation rows, as one set.

    Examples
    --------
    >>> rows = TrainingSet.of(np.array([[1.0], [2.0]]), np.array([0.0, 1.0]))
    >>> joined(rows, rows.take(np.array([1]))).target
    array([0., 1., 1.])
    """
    if validation is None:
        return rows
    values = np.concatenate([rows.values, validation.values])
    return replace(
        rows,
        table=PreparedTable(rows.schema, Encoded.valid(values, rows.schema.columns)),
        target=np.concatenate([rows.target, validation.target]),
        weights=np.concatenate([rows.weights, validation.weights]),
        errors=None if rows.errors is None else rows.errors.joined(validation.errors),
    )


def held_out_folds(rows: TrainingSet, n_learned: int, n_folds: int | None, random_state: Any) -> list[Fold]:
    """Return the folds: the rows to learn from and the rows that are held out.

    Parameters
    ----------
    rows : TrainingSet
        All rows, validation rows at the end.
    n_learned : int
        Rows before the validation rows. If there are any, they are held out and no others.
    n_folds : int or None
        With 2 or more every row is held out once; with 1, one row in five is. None means 5 below 4,000
        rows, else 1.
    random_state : int, RandomState or None
        Shuffles the rows.

    Returns
    -------
    list of Fold
    """
    if n_learned < len(rows):
        numbers = np.arange(len(rows))
        return [Fold(numbers[:n_learned], numbers[n_learned:])]
    if n_folds is None:
        n_folds = _FOLDS if count(len(rows)) < _FEW_ROWS else 1
    parts = _FOLDS if n_folds == 1 else n_folds
    folds = folds_among(rows, parts, check_random_state(random_state))
    return folds[:1] if n_folds == 1 else folds
