"""Panels: questions that are ordered together, since each round of questions costs waiting."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from farthing.costs import RowLedger
from farthing.walks.continuations import Continuation, Foreseen, continuations
from farthing.walks.row_walk import RowWalk

WITHIN: Final = 0.1
"""What a walk may waste on answers that are not needed, as a share of what it needs; the default."""

# Shares that `largest_share` tries.
_SHARES: Final = (0.01, 0.02, 0.03, 0.04, 0.05, 0.06, 0.08, 0.1, 0.12, 0.15, 0.2, 0.25, 0.3, 0.4, 0.6, 1.0)

# Questions ahead that are looked at for each place in a panel: what is asked for later may be bought now.
_DEPTH_PER_PLACE: Final = 3


def check_panel(k: object, within: float) -> int:
    """Return the number of questions of a panel; raise ValueError if it, or the share, makes no sense."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise ValueError(f"k must be a number of questions, at least 1; got {k!r}")
    if not within >= 0:  # written so that NaN fails, too
        raise ValueError(f"within must be a share of at least zero; got {within!r}")
    return int(k)


def largest_share(good: Callable[[float], bool]) -> float:
    """Return the largest share that is good: infinity, one of a list, found by bisection, or 0.

    Examples
    --------
    >>> largest_share(lambda share: share <= 0.13)
    0.12
    """
    if good(np.inf):
        return np.inf
    tried = [0.0, *_SHARES]
    low, high = 0, len(tried)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if good(tried[middle]) else (low, middle)
    return tried[low]


def choose_panel(
    row_walk: RowWalk,
    model: Foreseen | None,
    seed: int | None,
    k: int,
    *,
    within: float = WITHIN,
    watch: Callable[[], None] | None = None,
) -> tuple[int, ...]:
    """Return the columns to ask for at once.

    The first is the question of the walk. The others are those that the walk is likely to ask for later on.
    The regret of a panel against asking one by one is what it is expected to spend on answers that the walk
    would not have asked for. Columns are added by the least regret per question saved, as long as the regret
    of the whole walk, with what it bought in vain so far, is at most ``within`` times what it is expected to
    spend one by one. A column that no continuation asks for is never in a panel, nor is one that would leave
    a continuation short of money.

    Parameters
    ----------
    row_walk : RowWalk
        The walk.
    model : Foreseen or None
        The fitted model; None gives panels of one question.
    seed : int or None
        The seed of the row.
    k : int
        The largest number of columns.
    within : float
        The largest regret, as a share.
    watch : callable, optional
        Called now and then; may raise to stop.

    Returns
    -------
    tuple of int
        At most ``k`` columns; empty at the end of the walk. For policies that ask alike whatever the answers
        are, the regret is zero.
    """
    first = row_walk.column
    if first is None:
        return ()
    if k == 1 or model is None:
        return (first,)
    ahead = continuations(row_walk, model, seed, depth=_DEPTH_PER_PLACE * k, watch=watch)
    choice = _Choice(row_walk, ahead, within)
    while len(choice.columns) < k and choice.extend():
        pass
    return tuple(choice.columns)


class _Choice:
    """A panel that is put together column by column."""

    def __init__(self, row_walk: RowWalk, ahead: list[Continuation], within: float) -> None:
        assert row_walk.column is not None
        self.columns = [row_walk.column]
        self._ledger = row_walk.ledger
        self._ahead = [(each.weight, frozenset(each.columns)) for each in ahead]
        self._first_asked: dict[int, int] = {}
        for each in ahead:
            for place, column in enumerate(each.columns):
                self._first_asked[column] = min(place, self._first_asked.get(column, place))
        self._left = sorted(
            (column for column in self._first_asked if row_walk.is_open(column)),
            key=lambda column: (self._first_asked[column], column),
        )
        # What a walk bought ahead and does not want in the end is a regret, too.
        needed = sum(weight * self._ledger.price_all(asked) for weight, asked in self._ahead)
        idle = sum(each.weight * _price_of_idle(self._ledger, each.idle) for each in ahead)
        self._allowed = max(0.0, within * (self._ledger.spent - idle + needed) - idle)

    def extend(self) -> bool:
        """Add the column of the least regret per question saved; return whether there was one."""
        best: tuple[tuple[float, float], int] | None = None
        now = self._regret(self.columns)
        for column in self._left:  # the first of equals: that which is asked for soonest
            regret = self._regret([*self.columns, column])
            if column in self.columns or regret > self._allowed or not self._leaves_enough(column):
                continue
            likely = sum(weight for weight, asked in self._ahead if column in asked)
            rank = (regret - now) / likely, -likely
            if best is None or rank < best[0]:
                best = rank, column
        if best is not None:
            self.columns.append(best[1])
        return best is not None

    def _regret(self, columns: list[int]) -> float:
        """Return what a panel is expected to cost beyond what would have been bought of it in any case."""
        price = self._ledger.price_all
        whole = price(columns)
        return sum(weight * (whole - price(asked.intersection(columns))) for weight, asked in self._ahead)

    def _leaves_enough(self, column: int) -> bool:
        """Return whether all continuations can still be paid for with one more column in the panel."""
        if not self._ledger.is_limited:
            return True
        panel = frozenset([*self.columns, column])
        return all(self._ledger.affords_all(asked | panel) for _, asked in self._ahead)


def _price_of_idle(ledger: RowLedger, idle: tuple[int, ...]) -> float:
    """Return what the columns that were bought ahead and are not wanted yet have cost."""
    if not idle:
        return 0.0
    bought = ledger.bought.copy()
    bought[list(idle)] = False
    return max(0.0, ledger.spent - ledger.sheet.total(bought, owned=ledger.owned & ~ledger.bought))
