"""Array predictions of any method from its policy: one walk per row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.typing import Flags, Floats, Integers
from farthing.walks.policy import Policy
from farthing.walks.row_walk import RowWalk


def walk_rows(
    policy_of: Callable[[int | None], Policy],
    sheet: CostSheet,
    values: NDArray[np.floating],
    n_outputs: int,
    *,
    budget: Floats | None = None,
    seeds: Integers | None = None,
    refused: Flags | None = None,
    caps: Mapping[str, Floats] | None = None,
    answer_of: Callable[[int, float], Any] | None = None,
) -> tuple[Floats, Flags]:
    """Walk every row of a table to its end.

    Parameters
    ----------
    policy_of : callable
        Takes a seed, or None for that of the model, and returns a new policy.
    sheet : CostSheet
        Prices, in the order of the columns.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    n_outputs : int
        Columns of the raw output.
    budget : ndarray of float64, shape (n_rows,), optional
        Budget of each row.
    seeds : ndarray of int64, shape (n_rows,), optional
        One seed per row.
    refused : ndarray of bool, shape (n_rows, n_features), optional
        The entries that are not available.
    caps : mapping of str to ndarray of float64, shape (n_rows,), optional
        What each row may take of further resources.
    answer_of : callable, optional
        From a column and its encoded entry to the answer that the policy takes; by default the entry itself.

    Returns
    -------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs.
    acquired : ndarray of bool, shape (n_rows, n_features)
        What each row paid for: features, and then calls, if the sheet has any.
    """
    outputs = np.empty((len(values), n_outputs))
    acquired = np.empty((len(values), len(sheet.features)), dtype=np.bool_)
    for row, entries in enumerate(values):
        policy = policy_of(None if seeds is None else int(seeds[row]))
        # A policy sees only the entries it asked for, so blindness holds by construction.
        limits = {name: float(cap[row]) for name, cap in (caps or {}).items()}
        cap = None if budget is None else float(budget[row])
        row_walk = RowWalk(policy, RowLedger(sheet, cap, caps=limits))
        walk_to_end(row_walk, entries, None if refused is None else refused[row], answer_of)
        outputs[row] = row_walk.output()
        acquired[row] = row_walk.ledger.bought
    return outputs, acquired


def walk_to_end(
    row_walk: RowWalk,
    entries: NDArray[np.floating],
    refused: NDArray[np.bool_] | None = None,
    answer_of: Callable[[int, float], Any] | None = None,
) -> None:
    """Answer all questions of a walk from the encoded entries of a row, shape (n_features,)."""
    while (column := row_walk.column) is not None:
        if refused is not None and refused[column]:
            row_walk.refuse()
        else:
            entry = float(entries[column])
            row_walk.buy(entry if answer_of is None else answer_of(column, entry))
