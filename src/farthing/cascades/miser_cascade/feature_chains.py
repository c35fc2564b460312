"""Which features to buy, and in which order: the nested sets that the stages of a cascade own."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.miser_cascade.forward_selection import forward_order
from farthing.costs import CostSheet, RowLedger
from farthing.learning.out_of_fold import Columns, Holdings, OutOfFoldTrainer

# What the trade-off is multiplied by when no tree buys any more, and the least one that is tried, as a share
# of the loss before the first tree over the price of all features.
_FALL: Final = 0.7
_LEAST_TRADEOFF: Final = 1e-6
# Rounds on what is owned after each purchase, so that the next one is judged by what is still unknown.
_ROUNDS_BETWEEN: Final = 2
# Hard budgets of the chains for small budgets, as shares of the price of all features.
_CAPS: Final = (0.01, 0.02, 0.04, 0.08, 0.16)
# Purchases of forward selection, at most, for each stage that there may be.
_PURCHASES: Final = 4


def chains_of(nursery: OutOfFoldTrainer, n_stages: int) -> tuple[list[Columns], list[list[int]]]:
    """Return sets of columns, and the chains that lead through them.

    The first chain is that of `miser_order`, cut into stages of a common ratio in cost. The second is that of
    `forward_order`. The others are for small budgets, where what is best for its price is often too dear: a
    miser with a hard budget buys what it can, stage by stage. Behind their ends the chains go on with the
    sets of the first that cost more. Rows held out say which chain is best for which budget.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        The table, the prices, and how trees are grown.
    n_stages : int
        Most stages that cost something of the first chain; before they join it, the second has at most half
        as many, the others a quarter.

    Returns
    -------
    sets : list of ndarray of int64
        Ascending columns; the first set costs nothing.
    chains : list of list of int
        Places of sets, in the order of the stages. A row at a stage owns all sets up to it, and is told what
        the booster of the last one says.
    """
    sheet = nursery.sheet
    free = free_columns(sheet)
    whole = sheet.total(sheet.features)
    most = max(1, n_stages // 4)
    orders = [(miser_order(nursery, None), n_stages)]
    orders.append((forward_order(nursery, free, _PURCHASES * n_stages), max(1, n_stages // 2)))
    orders += [(miser_order(nursery, share * whole), most) for share in _CAPS]
    places: dict[bytes, int] = {}
    sets: list[Columns] = []
    # Of the first chain: the place of each set, and what it costs.
    main: list[tuple[int, float]] = []
    chains: list[list[int]] = []
    for order, n_own in orders:
        if main and len(order) == len(free):
            continue
        costs = prefix_costs(sheet, order)
        chain = []
        for owned in cut(costs, len(free), n_own):
            columns = np.sort(order[:owned])
            chain.append(places.setdefault(columns.tobytes(), len(sets)))
            if chain[-1] == len(sets):
                sets.append(columns)
            if not chains:
                main.append((chain[-1], float(costs[owned])))
        chains.append(chain + [place for place, cost in main if cost > costs[-1]])
    return sets, chains


def miser_order(nursery: OutOfFoldTrainer, cap: float | None) -> Columns:
    """Return the columns in the order in which a miser of falling trade-off buys them.

    The trade-off begins so high that nothing is worth its price, and falls whenever a round of trees buys
    nothing. Each purchase goes on from the ledger of those before: what is owned is free, so a feature that
    tells the same as an owned one, only dearer, waits. Free features come first.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        The table, the prices, and how trees are grown.
    cap : float or None
        What all columns may cost together; None is no limit.

    Returns
    -------
    ndarray of int64, shape (n_bought,)
        Free features, by column, then the others. What no tree wants is left out.
    """
    sheet = nursery.sheet
    free = free_columns(sheet)
    alone = np.array([sheet.price(name) for name in sheet.features])
    for_sale = np.flatnonzero(alone <= (np.inf if cap is None else cap)).astype(np.int64)
    order: list[int] = free.tolist()
    if len(free) == len(for_sale):
        return free
    purse = Holdings(np.isin(np.arange(len(alone)), free).astype(np.uint8), cap, for_sale)
    learn = nursery.learned
    boosting = nursery.boosting(learn)
    losses = nursery.loss.values(nursery.target[learn], boosting.scores[:, learn])
    whole = float(losses @ nursery.weights[learn]) / boosting.weighting.unit
    tradeoff = whole / alone[alone > 0].min()
    least = _LEAST_TRADEOFF * whole / sheet.total(sheet.features)
    grower = nursery.grower(tradeoff)
    while tradeoff > least and _affordable(sheet, purse):
        owned, scores, n_trees = purse.owned, boosting.scores.copy(), len(boosting.trees)
        boosting.round(nursery.buy(grower, learn, purse))
        if (purse.owned == owned).all():
            # Such a round is not wanted: it would have grown on what is owned for too long.
            boosting.scores[:] = scores
            del boosting.trees[n_trees:]
            tradeoff *= _FALL
            grower = nursery.grower(tradeoff)
            continue
        order += by_price(sheet, np.flatnonzero(purse.owned > owned).astype(np.int64)).tolist()
        grow = nursery.grow(learn, np.flatnonzero(purse.owned).astype(np.int64))
        for _ in range(_ROUNDS_BETWEEN):
            boosting.round(grow)
    return np.array(order, dtype=np.int64)


def _affordable(sheet: CostSheet, purse: Holdings) -> bool:
    """Tell whether anything is left that could be bought."""
    owned = purse.owned.astype(np.bool_)
    ledger = RowLedger(sheet, purse.cap)
    for column in np.flatnonzero(owned):
        ledger.buy(int(column))
    left = range(len(owned)) if purse.columns is None else purse.columns.tolist()
    return any(not owned[column] and ledger.affords(column) for column in left)


def free_columns(sheet: CostSheet) -> Columns:
    """Return the columns that cost nothing even alone."""
    return np.flatnonzero([sheet.price(name) == 0 for name in sheet.features]).astype(np.int64)


def by_price(sheet: CostSheet, columns: Columns) -> Columns:
    """Return columns from the cheapest alone to the dearest.

    Examples
    --------
    >>> by_price(CostSheet([3.0, 1.0, 2.0]), np.array([0, 1]))
    array([1, 0])
    """
    prices = np.array([sheet.price(sheet.features[column]) for column in columns])
    return columns[np.lexsort((columns, prices))]


def prefix_costs(sheet: CostSheet, order: Columns) -> NDArray[np.float64]:
    """Return what the first 0, 1, 2, ... columns of an order cost together, shape (n_bought + 1,)."""
    owned = np.zeros(len(sheet.features), dtype=np.bool_)
    costs = [0.0]
    for column in order:
        owned[column] = True
        costs.append(sheet.total(owned))
    return np.array(costs)


def cut(costs: NDArray[np.float64], n_free: int, n_stages: int) -> list[int]:
    """Return how many columns the stages own: the free ones, steps of a common ratio in cost, all at last.

    Parameters
    ----------
    costs : ndarray of float64, shape (n_bought + 1,)
        What the first 0, 1, 2, ... columns cost.
    n_free : int
        Columns that cost nothing, at the head of the order.
    n_stages : int
        Most stages that cost something.

    Returns
    -------
    list of int
        Ascending; the first is ``n_free``.

    Examples
    --------
    >>> cut(np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0]), 0, 3)
    [0, 1, 3, 5]
    """
    paid = np.arange(n_free + 1, len(costs))
    if len(paid) <= n_stages:
        return [n_free, *paid.tolist()]
    # The smallest ratio, of a fine grid, that needs no more stages than there may be.
    for ratio in 1.01 ** np.arange(1, 2000):
        cuts = _steps(costs, n_free, float(ratio))
        if len(cuts) <= n_stages + 1:
            return cuts
    return [n_free, len(costs) - 1]


def _steps(costs: NDArray[np.float64], n_free: int, ratio: float) -> list[int]:
    """Cut before the cost would pass the ratio times that of the cut before."""
    cuts, last = [n_free], 0.0
    for place in range(n_free + 1, len(costs) - 1):
        if costs[place + 1] > ratio * last:
            cuts.append(place)
            last = float(costs[place])
    return [*cuts, len(costs) - 1]
