"""Forward selection: the next purchase is the one that wins most on rows apart, for its price."""

from __future__ import annotations

import heapq
from typing import Final

import numpy as np

from farthing.costs import CostSheet, RowLedger
from farthing.learning.fold_boosters import FoldBoosters
from farthing.learning.out_of_fold import Columns, Fold, OutOfFoldTrainer

# Rounds by which a purchase is judged, and that it is kept with.
_ROUNDS: Final = 2
# What a purchase must win at least, as a share of the loss before the first tree.
_LEAST_GAIN: Final = 1e-4
# Of the rows that are learned from, one part in so many is held out to judge purchases by.
_PARTS: Final = 4


def forward_order(nursery: OutOfFoldTrainer, free: Columns, most: int) -> Columns:
    """Return the columns in the order in which they win most on rows held out, per unit of price.

    A purchase is a column, or all columns of a group that are not owned yet, since a shared price is often
    worth paying only for the whole group. What it wins is the fall of the held out loss by a few rounds over
    what is owned and the purchase, beyond the fall by as many rounds over what is owned alone.

    Purchases wait in a queue by what they won when they were last tried. The first of it is tried again, and
    is bought if it stays first. Where what a purchase wins only shrinks as more is owned, this is the choice
    among all of them at each step; else it is close to it, for a small part of the work.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        The table, the prices, and how trees are grown.
    free : ndarray of int64
        Columns that cost nothing; they come first.
    most : int
        Purchases to make at most.

    Returns
    -------
    ndarray of int64, shape (n_bought,)
        What wins nothing is left out.
    """
    sheet = nursery.sheet
    trial = _Trial(_inner(nursery), free)
    ledger = RowLedger(sheet)
    order: list[int] = free.tolist()
    ledger.buy_all(order)
    least = _LEAST_GAIN * trial.loss
    # The negative of what a purchase won per unit of price, its columns, and how many were owned then.
    queue = [(-np.inf, columns, -1) for columns in purchases(sheet)]
    while queue and most:
        worth, columns, n_owned = heapq.heappop(queue)
        left = tuple(column for column in columns if not ledger.owned[column])
        if not left:
            continue
        if n_owned < len(order):
            gain = trial.gain(left)
            worth = -gain / ledger.price_all(left) if gain > least else 0.0
            heapq.heappush(queue, (worth, left, len(order)))
        elif worth < 0:
            trial.own(left)
            ledger.buy_all(left)
            order += left
            most -= 1
        else:
            break  # the best of all wins nothing
    return np.array(order, dtype=np.int64)


def purchases(sheet: CostSheet) -> list[tuple[int, ...]]:
    """Return what may be bought at once: each column, and the columns of each group.

    Examples
    --------
    >>> purchases(CostSheet({"a": 1, "b": 2, "c": 3}, groups={"blood": (5, ["a", "c"])}))
    [(0,), (1,), (2,), (0, 2)]
    """
    alone = [(column,) for column in range(len(sheet.features))]
    groups = [tuple(sorted(map(sheet.column, group.members))) for group in sheet.groups.values()]
    return alone + [columns for columns in groups if len(columns) > 1]


def _inner(nursery: OutOfFoldTrainer) -> OutOfFoldTrainer:
    """Return a nursery whose rows held out are some of those that are learned from.

    The rows that exits are set by must not have chosen the features: what wins on them by chance would look
    better at each stage than it is.
    """
    rows = np.random.default_rng(0).permutation(nursery.learned)
    n_held = max(1, len(rows) // _PARTS)
    learn = np.sort(rows[n_held:] if len(rows) > 1 else rows)
    return nursery.with_folds([Fold(learn, np.sort(rows[:n_held]))])


class _Trial:
    """A booster over what is owned, and what a purchase would win it on the rows held out."""

    def __init__(self, nursery: OutOfFoldTrainer, owned: Columns) -> None:
        self._makings = FoldBoosters(nursery)
        self._owned = owned
        self._makings.go_on(owned, _ROUNDS)
        #: The loss of the rows held out.
        self.loss = self._makings.loss()
        self._alone = self._makings.loss_after(owned, _ROUNDS)

    def gain(self, columns: tuple[int, ...]) -> float:
        """Return what some columns win beyond what is won without them."""
        return self._alone - self._makings.loss_after(np.union1d(self._owned, columns), _ROUNDS)

    def own(self, columns: tuple[int, ...]) -> None:
        """Go on with more columns."""
        self._owned = np.union1d(self._owned, columns)
        self._makings.go_on(self._owned, _ROUNDS)
        self._alone = self._makings.loss_after(self._owned, _ROUNDS)
