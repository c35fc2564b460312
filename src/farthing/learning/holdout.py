"""Rows held out of a fit, such as those that choose the number of rounds or a threshold."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from farthing.base import TrainingSet

# From the number of units and how many to hold out to the indices of those held out.
Draw: TypeAlias = Callable[[int, int], NDArray[np.int64]]


def hold_out(rows: TrainingSet, fraction: float, draw: Draw) -> tuple[TrainingSet, TrainingSet]:
    """Split rows, or whole queries if there are any, into those to learn from and those held out.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    fraction : float
        Fraction of them to hold out.
    draw : callable
        Samples the rows, or queries, to hold out, from their number and how many to take.

    Returns
    -------
    learned, held_out : TrainingSet

    Examples
    --------
    >>> rows = TrainingSet.of(np.arange(4.0)[:, np.newaxis], np.arange(4.0))
    >>> learned, held_out = hold_out(rows, 0.25, lambda n, k: np.arange(n)[:k])
    >>> learned.target, held_out.target
    (array([1., 2., 3.]), array([0.]))
    """
    # Whole queries: rows of one query share their ranking, so splitting it would leak.
    units = np.arange(len(rows)) if rows.qid is None else np.unique(rows.qid, return_inverse=True)[1]
    n_units = int(units.max()) + 1
    n_held = n_held_out(fraction, n_units, "rows" if rows.qid is None else "queries", len(rows))
    held = np.isin(units, draw(n_units, n_held))
    return rows.take(~held), rows.take(held)


def n_held_out(fraction: float, n_units: int, what: str, n_rows: int) -> int:
    """Return how many rows or queries to hold out; raise ValueError if that leaves a side empty.

    Examples
    --------
    >>> n_held_out(0.1, 50, "rows", 50)
    5
    """
    n_held = round(fraction * n_units)
    if not 0 < n_held < n_units:
        raise ValueError(
            f"validation_fraction={fraction} leaves no {what} on one side of {n_units}; "
            f"give more than n_samples={n_rows}, or validation rows of their own"
        )
    return n_held


def hold_out_at_random(
    rows: TrainingSet, fraction: float, random_state: Any
) -> tuple[TrainingSet, TrainingSet]:
    """Split rows, or whole queries, at random; ``random_state`` is as in scikit-learn.

    Examples
    --------
    >>> rows = TrainingSet.of(np.arange(4.0)[:, np.newaxis], np.arange(4.0))
    >>> [len(part) for part in hold_out_at_random(rows, 0.25, random_state=0)]
    [3, 1]
    """
    random = check_random_state(random_state)
    return hold_out(rows, fraction, lambda n, k: np.sort(random.permutation(n)[:k]))
