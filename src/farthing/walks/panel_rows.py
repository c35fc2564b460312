"""Array predictions in rounds: each row is asked for a panel of features at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.typing import Flags, Floats, Integers
from farthing.walks.continuations import Foreseen
from farthing.walks.panels import WITHIN, choose_panel
from farthing.walks.row_walk import RowWalk


class PanelModel(Foreseen, Protocol):
    """The parts of a fitted model that rounds need."""

    @property
    def costs(self) -> CostSheet:
        """The prices, in the order of the columns."""
        ...

    @property
    def prior(self) -> NDArray[np.float64]:
        """The raw output of a row that acquired nothing."""
        ...


def walk_in_rounds(
    model: PanelModel,
    values: NDArray[np.floating],
    k: int,
    *,
    within: float = WITHIN,
    budget: Floats | None = None,
    seeds: Integers | None = None,
    caps: Mapping[str, Floats] | None = None,
    answer_of: Callable[[int, float], Any] | None = None,
) -> tuple[Floats, Flags, Flags, Integers]:
    """Walk every row of a table to its end, with panels of at most k features.

    Parameters
    ----------
    model : PanelModel
        The fitted model.
    values : ndarray, shape (n_rows, n_features)
        The encoded table.
    k, within
        As in `Walk.panel`.
    budget : ndarray of float64, shape (n_rows,), optional
        Budget of each row.
    seeds : ndarray of int64, shape (n_rows,), optional
        One seed per row.
    caps : mapping of str to ndarray of float64, shape (n_rows,), optional
        What each row may take of further resources.
    answer_of : callable, optional
        From a column and its encoded entry to the answer that the policy takes; by default the entry itself.

    Returns
    -------
    outputs : ndarray of float64, shape (n_rows, n_outputs)
        Raw outputs.
    acquired, looked : ndarray of bool, shape (n_rows, n_features)
        What each row paid for, and the part of it that its prediction depends on.
    rounds : ndarray of int64, shape (n_rows,)
        How often each row had to wait for answers.
    """
    n_rows, sheet = len(values), model.costs
    outputs = np.empty((n_rows, len(model.prior)))
    acquired = np.empty((n_rows, len(sheet.features)), dtype=np.bool_)
    looked = np.empty_like(acquired)
    rounds = np.zeros(n_rows, dtype=np.int64)
    # A panel depends on the model, the seed, the budget and the answers so far, and on nothing else.
    chosen: dict[tuple[Any, ...], tuple[int, ...]] = {}
    for row, entries in enumerate(values):
        seed = None if seeds is None else int(seeds[row])
        cap = None if budget is None else float(budget[row])
        limits = {name: float(each[row]) for name, each in (caps or {}).items()}
        walk = RowWalk(model.policy(seed), RowLedger(sheet, cap, caps=limits))
        told: tuple[tuple[int, Any], ...] = ()
        while walk.column is not None:
            key = seed, cap, tuple(limits.values()), told
            if key not in chosen:
                chosen[key] = choose_panel(walk, model, seed, k, within=within)
            answers = {column: float(entries[column]) for column in chosen[key]}
            if answer_of is not None:
                answers = {column: answer_of(column, entry) for column, entry in answers.items()}
            walk.buy_panel(answers)
            # A missing value is unlike itself, so it stands in a key as text.
            told += tuple((column, value if value == value else "nan") for column, value in answers.items())  # noqa: PLR0124
            rounds[row] += 1
        outputs[row], acquired[row], looked[row] = walk.output(), walk.ledger.bought, walk.looked
    return outputs, acquired, looked, rounds
