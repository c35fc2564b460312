"""Walks along records: how far a policy gets in a table that lacks some of what it asks for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.typing import Flags, Floats, Integers
from farthing.walks.policy import Policy
from farthing.walks.row_walk import RowWalk


@dataclass(frozen=True, eq=False)
class RecordedPaths:
    """What a policy asks for in each row, up to the first entry that the records do not hold.

    Attributes
    ----------
    asked : ndarray of int64, shape (n_rows, n_steps)
        The columns asked for, in order; -1 after the last one.
    n_told : ndarray of int64, shape (n_rows,)
        How many of them are recorded: all, or all but the last.
    complete : ndarray of bool, shape (n_rows,)
        Whether the walk came to its end.
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs where the walk ended.
    acquired : ndarray of bool, shape (n_rows, n_features)
        What each row paid for up to there: features, and then calls, if the sheet has any.
    """

    asked: Integers
    n_told: Integers
    complete: Flags
    outputs: Floats
    acquired: Flags


def recorded_paths(
    policy_of: Callable[[int | None], Policy],
    sheet: CostSheet,
    values: NDArray[np.floating],
    recorded: Flags,
    *,
    n_outputs: int,
    budget: float | None = None,
) -> RecordedPaths:
    """Walk every row as far as the records go.

    Parameters
    ----------
    policy_of : callable
        Takes a seed, or None for that of the model, and returns a new policy.
    sheet : CostSheet
        Prices, in the order of the columns.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    recorded : ndarray of bool, shape (n_rows, n_features)
        The entries that the records hold; no other is read.
    n_outputs : int
        Columns of the raw output.
    budget : float, optional
        Budget of each row.
    """
    n_rows = len(values)
    outputs = np.empty((n_rows, n_outputs))
    acquired = np.empty((n_rows, len(sheet.features)), dtype=np.bool_)
    complete = np.zeros(n_rows, dtype=np.bool_)
    paths: list[list[int]] = []
    for row, entries in enumerate(values):
        walk, asked = RowWalk(policy_of(None), RowLedger(sheet, budget)), []
        while (column := walk.column) is not None:
            asked.append(column)
            if not recorded[row, column]:
                break
            walk.buy(float(entries[column]))
        complete[row] = column is None
        outputs[row], acquired[row] = walk.output(), walk.ledger.bought
        paths.append(asked)
    lengths = np.array([len(asked) for asked in paths], dtype=np.int64)
    padded = np.full((n_rows, int(lengths.max(initial=0))), -1, dtype=np.int64)
    for row, asked in enumerate(paths):
        padded[row, : len(asked)] = asked
    return RecordedPaths(padded, lengths - ~complete, complete, outputs, acquired)
