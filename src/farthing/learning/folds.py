"""Stratified folds that depend on the content of the rows, not on their order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.collective import all_numbers, gather, row_numbers
from farthing.table import content_keys


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
    return _assigned(content_keys(values), target, n_folds, random_state)


def _assigned(
    contents: NDArray[np.uint64], target: NDArray[Any], n_folds: int, random_state: np.random.RandomState
) -> NDArray[np.int64] | None:
    unit_of, of_unit = _units(contents, target)
    n_folds = min(n_folds, len(of_unit))
    if n_folds < 2:
        return None
    # By target, in random order within it, and assigned in turn: each stratum is spread over all folds.
    by_target = _shuffled_by_target(of_unit, random_state)
    folds = np.empty(len(of_unit), dtype=np.int64)
    folds[by_target] = np.arange(len(of_unit)) % n_folds
    return np.asarray(folds[unit_of])


def held_out_of_each_class(
    values: NDArray[np.floating], target: NDArray[Any], fraction: float, random_state: np.random.RandomState
) -> NDArray[np.bool_]:
    """Draw rows to hold out, the same fraction of each class; every class keeps rows to learn from.

    As in `stratified_folds`, rows with the same content stay together, and the order of the rows does not
    matter.

    Parameters
    ----------
    values : ndarray of float, shape (n_rows, n_features)
        The encoded table.
    target : ndarray, shape (n_rows,)
        Codes of classes.
    fraction : float
        Fraction of the distinct rows of each class to hold out, rounded down; above 0 and below 1.
    random_state : RandomState
        Shuffles the rows.

    Returns
    -------
    ndarray of bool, shape (n_rows,)
        Whether a row is held out; no row at all if every class has too few.

    Examples
    --------
    >>> values, target = np.arange(9.0)[:, np.newaxis], np.array([0] * 8 + [1])
    >>> int(held_out_of_each_class(values, target, 0.25, np.random.RandomState(0)).sum())
    2
    """
    unit_of, of_unit = _units(content_keys(values), target)
    by_target = _shuffled_by_target(of_unit, random_state)
    _, counts = np.unique(of_unit, return_counts=True)
    place = np.concatenate([np.arange(count) for count in counts])
    held = np.zeros(len(of_unit), dtype=np.bool_)
    held[by_target] = place < np.repeat(np.floor(fraction * counts), counts)
    return np.asarray(held[unit_of])


def _units(contents: NDArray[np.uint64], target: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[Any]]:
    """Return the unit of each row, and the target of each unit; units are the distinct rows."""
    numbers = np.ascontiguousarray(target, dtype=np.float64)
    bits = numbers.view(np.uint64)
    # Units are in an order that does not depend on that of the rows.
    order = np.lexsort((contents, bits))
    is_first = np.ones(len(order), dtype=np.bool_)
    is_first[1:] = (np.diff(bits[order]) != 0) | (np.diff(contents[order]) != 0)
    unit_of = np.empty(len(order), dtype=np.int64)
    unit_of[order] = np.cumsum(is_first) - 1
    return unit_of, numbers[order[is_first]]


def _shuffled_by_target(of_unit: NDArray[Any], random_state: np.random.RandomState) -> NDArray[np.int64]:
    """Return the units sorted by target, in random order where it is the same."""
    shuffled = random_state.permutation(len(of_unit))
    return np.asarray(shuffled[np.argsort(of_unit[shuffled], kind="stable")])


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


def folds_among(
    rows: TrainingSet,
    n_folds: int,
    random_state: np.random.RandomState,
    chosen: NDArray[np.int64] | None = None,
) -> list[Fold]:
    """Return the `folds_of` a training set, whose rows may be here and at peers.

    Parameters
    ----------
    rows : TrainingSet
        The rows of this process.
    n_folds, random_state
        As in `stratified_folds`.
    chosen : ndarray of int64, optional
        The rows to split, ascending; None means all. Others are in no fold.

    Returns
    -------
    list of Fold
        Of rows of this process; all peers have as many, and some of theirs may be empty.

    Examples
    --------
    >>> rows = TrainingSet.of(np.arange(4.0)[:, np.newaxis], np.array([0, 0, 1, 1]))
    >>> [len(fold.held_out) for fold in folds_among(rows, 2, np.random.RandomState(0))]
    [2, 2]
    """
    own = np.arange(len(rows)) if chosen is None else chosen
    contents = gather(rows.table.contents()[own], chosen)
    target = gather(np.ascontiguousarray(rows.target[own]), chosen)
    assigned = _assigned(contents, target, n_folds, random_state)
    if assigned is None:
        return [Fold(own, own)]
    numbers = row_numbers(len(rows))[own]
    # Where the rows of this process are among all that are split.
    places = numbers if chosen is None else np.searchsorted(all_numbers(own), numbers)
    mine = assigned[places]
    return [Fold(own[mine != fold], own[mine == fold]) for fold in range(int(assigned.max()) + 1)]
