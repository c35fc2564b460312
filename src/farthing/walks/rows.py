"""The array calls of any method, from its policy: one inquiry a row."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.walks.inquiry import Inquiry
from farthing.walks.policy import Policy


def walk_rows(
    policy_of: Callable[[int | None], Policy],
    sheet: CostSheet,
    values: NDArray[np.floating],
    n_outputs: int,
    *,
    budget: NDArray[np.float64] | None = None,
    seeds: NDArray[np.int64] | None = None,
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Walk every row of a table to its end.

    Parameters
    ----------
    policy_of : callable
        From a seed, or None for the model's own, to a fresh policy.
    sheet : CostSheet
        Prices, in the order of the columns.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    n_outputs : int
        Columns of the raw output.
    budget : ndarray of float64, shape (n_rows,), optional
        What each row may spend.
    seeds : ndarray of int64, shape (n_rows,), optional
        A seed for each row.

    Returns
    -------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs.
    acquired : ndarray of bool, shape (n_rows, n_features)
        What each row paid for.
    """
    outputs = np.empty((len(values), n_outputs))
    acquired = np.empty(values.shape, dtype=np.bool_)
    for row, entries in enumerate(values):
        policy = policy_of(None if seeds is None else int(seeds[row]))
        inquiry = Inquiry(policy, RowLedger(sheet, None if budget is None else float(budget[row])))
        while inquiry.column is not None:
            inquiry.buy(float(entries[inquiry.column]))
        outputs[row] = inquiry.output()
        acquired[row] = inquiry.ledger.bought
    return outputs, acquired
