"""Forward selection: buy next what lowers the loss of held-out rows most for its price."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from farthing.collective import all_numbers, own_rows
from farthing.costs import CostSheet, RowLedger, per_price
from farthing.learning.fold_boosters import FoldBoosters
from farthing.learning.folds import Fold
from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer

# Rounds that measure the gain of a purchase, and that are kept if it is bought.
_ROUNDS: Final = 2
# The least gain of a purchase, as a share of the loss before the first tree.
LEAST_GAIN: Final = 1e-4
# One in this many of the learned rows is held out to measure gains.
_PARTS: Final = 4


def forward_order(trainer: OutOfFoldTrainer, free: Columns, most: int) -> Columns:
    """Return the columns in the order of their gain on held-out rows, per unit of price.

    A purchase is a column, or all columns of a group that are not owned yet, since a shared price is often
    worth paying only for the whole group. Its gain is the fall of the held-out loss by a few rounds over what
    is owned and the purchase, beyond the fall by as many rounds over what is owned alone.

    Purchases wait in a queue, ordered by their gain per price when they were last tried. The first is tried
    again, and is bought if it stays first (lazy greedy). Where gains only shrink as more is owned, this is
    the best purchase at each step; otherwise it is close to it, for a small part of the work.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows, the prices, and how trees are grown.
    free : ndarray of int64
        Columns that cost nothing; they come first.
    most : int
        Maximum number of purchases.

    Returns
    -------
    ndarray of int64, shape (n_bought,)
        What gains nothing is left out.
    """
    costs = trainer.costs
    trial = PurchaseTrial(inner_trainer(trainer), free)
    ledger = RowLedger(costs)
    order: list[int] = free.tolist()
    ledger.buy_all(order)
    least = LEAST_GAIN * trial.loss

    def left_of(columns: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(column for column in columns if not ledger.owned[column])

    def measured(purchases: list[tuple[int, ...]]) -> list[tuple[float, tuple[int, ...], int]]:
        # The gain of a purchase per unit of price, negated, its columns, and how many were owned then.
        return [
            (-float(per_price(gain, ledger.price_all(columns))) if gain > least else 0.0, columns, len(order))
            for gain, columns in zip(trial.gains(purchases), purchases, strict=True)
        ]

    queue = measured([left for columns in purchases(costs) if (left := left_of(columns))])
    heapq.heapify(queue)
    while queue and most:
        worth, columns, n_owned = heapq.heappop(queue)
        left = left_of(columns)
        if not left:
            continue
        # Measured before the last purchase, so the gain is stale: it is measured again and queued.
        if n_owned < len(order):
            heapq.heappush(queue, measured([left])[0])
        elif worth < 0:
            trial.own(left)
            ledger.buy_all(left)
            order += left
            most -= 1
        else:
            break  # the best of all gains nothing
    return np.array(order, dtype=np.int64)


def purchases(costs: CostSheet) -> list[tuple[int, ...]]:
    """Return the possible purchases: each column, and the columns of each group.

    Examples
    --------
    >>> purchases(CostSheet({"a": 1, "b": 2, "c": 3}, groups={"blood": (5, ["a", "c"])}))
    [(0,), (1,), (2,), (0, 2)]
    """
    alone = [(column,) for column in range(len(costs.features))]
    groups = [tuple(sorted(map(costs.column, group.members))) for group in costs.groups.values()]
    return alone + [columns for columns in groups if len(columns) > 1]


def inner_trainer(trainer: OutOfFoldTrainer) -> OutOfFoldTrainer:
    """Return a trainer whose held-out rows are a part of the learned rows.

    The rows that set the exits must not have chosen the features: a feature that is chosen for its luck on
    these rows would make each stage look better than it is.
    """
    # A fixed seed keeps fits repeatable; the user's seed has chosen the outer folds already.
    n_rows = len(trainer.rows)
    rows = np.random.default_rng(0).permutation(all_numbers(trainer.learned))
    n_held_out = max(1, len(rows) // _PARTS)
    learn = np.sort(rows[n_held_out:] if len(rows) > 1 else rows)
    held_out = np.sort(rows[:n_held_out])
    return replace(trainer, folds=[Fold(own_rows(learn, n_rows), own_rows(held_out, n_rows))])


class PurchaseTrial:
    """A booster over what is owned, and the gain of a purchase on held-out rows.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows and the folds.
    owned : ndarray of int64
        The columns that are owned, ascending.

    Attributes
    ----------
    loss : float
        The loss of the held-out rows before the first purchase.
    """

    def __init__(self, trainer: OutOfFoldTrainer, owned: Columns) -> None:
        self._boosters = FoldBoosters.of(trainer)
        self._owned = owned
        self._boosters.boost(owned, _ROUNDS)
        self.loss = self._boosters.loss()
        # More rounds lower the loss even without a purchase; only what goes beyond them is gain.
        self._without = self._boosters.loss_after(owned, _ROUNDS)

    def gains(self, purchases: Sequence[tuple[int, ...]]) -> list[float]:
        """Return by how much each purchase lowers the loss beyond as many rounds without it."""
        sets = [np.union1d(self._owned, columns) for columns in purchases]
        return [self._without - loss for loss in self._boosters.losses_after(sets, _ROUNDS)]

    def own(self, columns: tuple[int, ...]) -> None:
        """Buy more columns, and keep rounds over them."""
        self._owned = np.union1d(self._owned, columns)
        self._boosters.boost(self._owned, _ROUNDS)
        self._without = self._boosters.loss_after(self._owned, _ROUNDS)
