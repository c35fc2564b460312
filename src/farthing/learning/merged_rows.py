"""Training rows of which no two are the same, in an order that depends on the rows alone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from farthing.base import TrainingSet


def merged_rows(rows: TrainingSet) -> TrainingSet:
    """Return rows, equal ones merged into one of their total weight, sorted by their bytes.

    A descent that does not end at an exact minimum amplifies rounding: after this, a row of weight 2 and a
    row given twice are the same input, and so is any order of the rows.

    Parameters
    ----------
    rows : TrainingSet
        Rows are equal if their values, targets and queries are.

    Returns
    -------
    TrainingSet

    Examples
    --------
    >>> rows = TrainingSet.of(np.array([[2.0], [1.0], [2.0]]), np.array([0.5, 0.5, 0.5]))
    >>> merged = merged_rows(rows)
    >>> merged.values.ravel(), merged.weights
    (array([2., 1.]), array([2., 1.]))
    """
    parts = [rows.values, rows.target[:, np.newaxis]]
    parts += [] if rows.qid is None else [rows.qid[:, np.newaxis]]
    # Adding 0.0 turns -0.0 into 0.0, which is equal to it.
    table = np.ascontiguousarray(np.column_stack(parts).astype(np.float64) + 0.0)
    keys = table.view(np.dtype((np.void, table.dtype.itemsize * table.shape[1]))).ravel()
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    weights = np.zeros(len(first))
    np.add.at(weights, place.ravel(), rows.weights)
    return replace(rows.take(first), weights=weights)
