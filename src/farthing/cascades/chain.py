"""Which features to buy, and in which order: the nested sets that the stages of a cascade own."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.nursery import Nursery, Purse
from farthing.costs import CostSheet

# What the trade-off is multiplied by when no tree buys any more, and the least one that is tried, as a share
# of the loss before the first tree over the price of all features.
_FALL: Final = 0.7
_LEAST_TRADEOFF: Final = 1e-6
# Rounds on what is owned after each purchase, so that the next one is judged by what is still unknown.
_ROUNDS_BETWEEN: Final = 2


def miser_order(nursery: Nursery) -> NDArray[np.int64]:
    """Return the columns in the order in which a miser of falling trade-off buys them.

    The trade-off begins so high that nothing is worth its price, and falls whenever a round of trees buys
    nothing. Each purchase goes on from the ledger of those before: what is owned is free, so a feature that
    tells the same as an owned one, only dearer, waits. Free features come first.

    Returns
    -------
    ndarray of int64, shape (n_bought,)
        Free features, by column, then the others. What no tree wants is left out.
    """
    sheet = nursery.sheet
    free = free_columns(sheet)
    order: list[int] = free.tolist()
    if len(free) == len(sheet.features):
        return free
    purse = Purse(np.zeros(len(sheet.features), dtype=np.uint8))
    purse.owned[free] = 1
    learn = nursery.learned
    boosting = nursery.boosting(learn)
    losses = nursery.loss.values(nursery.target[learn], boosting.scores[:, learn])
    whole = float(losses @ nursery.weights[learn]) / boosting.weighting.unit
    alone = np.array([sheet.price(name) for name in sheet.features])
    tradeoff = whole / alone[alone > 0].min()
    least = _LEAST_TRADEOFF * whole / sheet.total(sheet.features)
    grower = nursery.grower(tradeoff)
    while tradeoff > least and len(order) < len(alone):
        owned, scores, n_trees = purse.owned, boosting.scores.copy(), len(boosting.trees)
        boosting.round(nursery.buy(grower, learn, purse))
        if (purse.owned == owned).all():
            # Such a round is not wanted: it would have grown on what is owned for too long.
            boosting.scores[:] = scores
            del boosting.trees[n_trees:]
            tradeoff *= _FALL
            grower = nursery.grower(tradeoff)
            continue
        new = np.flatnonzero(purse.owned > owned)
        order += by_price(sheet, new).tolist()
        grow = nursery.grow(learn, np.flatnonzero(purse.owned).astype(np.int64))
        for _ in range(_ROUNDS_BETWEEN):
            boosting.round(grow)
    return np.array(order, dtype=np.int64)


def free_columns(sheet: CostSheet) -> NDArray[np.int64]:
    """Return the columns that cost nothing even alone."""
    return np.flatnonzero([sheet.price(name) == 0 for name in sheet.features]).astype(np.int64)


def by_price(sheet: CostSheet, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return columns from the cheapest alone to the dearest.

    Examples
    --------
    >>> by_price(CostSheet([3.0, 1.0, 2.0]), np.array([0, 1]))
    array([1, 0])
    """
    prices = np.array([sheet.price(sheet.features[column]) for column in columns])
    return columns[np.lexsort((columns, prices))]


def prefix_costs(sheet: CostSheet, order: NDArray[np.int64]) -> NDArray[np.float64]:
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
