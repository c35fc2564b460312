"""The order in which rows bought their features, which the account of an array call does not hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.typing import Flags
from farthing.walks.policy import Policy
from farthing.walks.row_walk import RowWalk


def purchase_order(
    policy_of: Callable[[int | None], Policy],
    sheet: CostSheet,
    values: NDArray[np.floating],
    acquired: Flags,
    *,
    budget: float | None = None,
    caps: Mapping[str, float] | None = None,
) -> Iterator[list[str]]:
    """Walk rows again, and yield what each bought, in the order of purchase; calls come last.

    Parameters
    ----------
    policy_of : callable
        Takes a seed, or None for that of the model, and returns a new policy.
    sheet : CostSheet
        Prices, in the order of the columns.
    values : ndarray, shape (n_rows, n_features)
        The encoded rows.
    acquired : ndarray of bool, shape (n_rows, n_features)
        What each row bought; any other question of its walk was refused.
    budget : float, optional
        The budget that the rows had.
    caps : mapping of str to float, optional
        What each row might take of further resources.

    Yields
    ------
    list of str
        The features of a row.
    """
    for entries, bought in zip(values, acquired, strict=True):
        columns = np.flatnonzero(bought[: sheet.n_columns])
        # A single purchase needs no walk.
        order = columns.tolist()
        if len(columns) > 1:
            answers = {int(column): float(entries[column]) for column in columns}
            order = _walked(RowWalk(policy_of(None), RowLedger(sheet, budget, caps=caps)), answers)
        calls = np.flatnonzero(bought[sheet.n_columns :]) + sheet.n_columns
        yield [sheet.features[column] for column in (*order, *calls.tolist())]


def _walked(walk: RowWalk, answers: dict[int, float]) -> list[int]:
    order: list[int] = []
    while walk.column is not None and len(order) < len(answers):
        if ahead := walk.answer_ahead(answers):
            order += ahead
        elif walk.column in answers:
            order.append(walk.column)
            walk.buy(answers[walk.column])
        else:
            walk.refuse()
    return order
