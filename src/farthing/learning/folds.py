"""Rows dealt to folds by what they hold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.learning.bootstrap import content_keys


def stratified_folds(
    values: NDArray[np.floating], target: NDArray[Any], n_folds: int, chance: np.random.RandomState
) -> NDArray[np.int64] | None:
    """Deal rows to folds, those of a class or of like numbers evenly; None if there are too few for two.

    Rows of the same content are in the same fold, so a weight is the same as repeating the row, and the order
    of the rows does not matter.

    Parameters
    ----------
    values : ndarray, shape (n_rows, n_features)
        An encoded table.
    target : ndarray, shape (n_rows,)
        Classes as numbers from 0, or numbers.
    n_folds : int
        Most folds.
    chance : RandomState
        For the lots.

    Returns
    -------
    ndarray of int64, shape (n_rows,), or None

    Examples
    --------
    >>> folds = stratified_folds(np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1]), 2, np.random.RandomState(0))
    >>> [sorted(folds[:2].tolist()), sorted(folds[2:].tolist())]
    [[0, 1], [0, 1]]
    """
    numbers = np.ascontiguousarray(target, dtype=np.float64)
    contents = np.column_stack([numbers.view(np.uint64), content_keys(values)])
    units, first, unit_of = np.unique(contents, axis=0, return_index=True, return_inverse=True)
    n_folds = min(n_folds, len(units))
    if n_folds < 2:
        return None
    lots = chance.permutation(len(units))
    by_target = lots[np.argsort(numbers[first][lots], kind="stable")]
    folds = np.empty(len(units), dtype=np.int64)
    folds[by_target] = np.arange(len(units)) % n_folds
    return np.asarray(folds[unit_of.ravel()])
