"""Stratified folds that depend on the content of the rows, not on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.learning.bootstrap import content_keys


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to learn from and rows held out.

    Parameters
    ----------
    learn : ndarray of int64, shape (n_learn,)
        Ascending numbers of the rows to learn from.
    held_out : ndarray of int64, shape (n_held_out,)
        Ascending numbers of the rows held out.
    """

    learn: NDArray[np.int64]
    held_out: NDArray[np.int64]


def stratified_folds(
    values: NDArray[np.floating], target: NDArray[Any], n_folds: int, random_state: np.random.RandomState
) -> NDArray[np.int64] | None:
    """Assign rows to folds, stratified by class, or by the value of a numeric target.

    Rows with the same content are in the same fold. So an integer weight is equivalent to repeating the row,
    and the order of the rows does not matter.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_features)
        The encoded table.
    target : ndarray, shape (n_rows,)
        Codes of classes, or numbers.
    n_folds : int
        Number of folds; fewer if there are fewer distinct rows.
    random_state : RandomState
        Shuffles the rows.

    Returns
    -------
    ndarray of int64, shape (n_rows,), or None
        The fold of each row; None if there are fewer than two distinct rows.

    Examples
    --------
    >>> values, target = np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1])
    >>> folds = stratified_folds(values, target, 2, np.random.RandomState(0))
    >>> sorted(folds[:2].tolist()), sorted(folds[2:].tolist())
    ([0, 1], [0, 1])
    """
    numbers = np.ascontiguousarray(target, dtype=np.float64)
    contents = np.column_stack([numbers.view(np.uint64), content_keys(values)])
    units, first, unit_of = np.unique(contents, axis=0, return_index=True, return_inverse=True)
    n_folds = min(n_folds, len(units))
    if n_folds < 2:
        return None
    # np.unique has put the units in an order that does not depend on that of the rows. Shuffle, then sort by
    # target (stable), then assign in turn: each stratum is spread evenly over the folds.
    shuffled = random_state.permutation(len(units))
    by_target = shuffled[np.argsort(numbers[first][shuffled], kind="stable")]
    folds = np.empty(len(units), dtype=np.int64)
    folds[by_target] = np.arange(len(units)) % n_folds
    return np.asarray(folds[unit_of.ravel()])


def folds_of(
    values: NDArray[np.floating], target: NDArray[Any], n_folds: int, random_state: np.random.RandomState
) -> list[Fold]:
    """Return stratified folds as row numbers; parameters as in `stratified_folds`.

    Returns
    -------
    list of Fold
        Every row is held out once. With fewer than two distinct rows nothing can be held out: then one fold
        both learns from all rows and holds them out.

    Examples
    --------
    >>> values, target = np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1])
    >>> [len(fold.held_out) for fold in folds_of(values, target, 2, np.random.RandomState(0))]
    [2, 2]
    """
    rows = np.arange(len(target))
    assigned = stratified_folds(values, target, n_folds, random_state)
    if assigned is None:
        return [Fold(rows, rows)]
    return [Fold(rows[assigned != fold], rows[assigned == fold]) for fold in range(int(assigned.max()) + 1)]
