"""The order in which features are bought: the nested sets that the stages of a cascade own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.miser_cascade.forward_selection import forward_order
from farthing.collective import total
from farthing.costs import CostSheet, RowLedger, per_price
from farthing.learning.booster import Weighting
from farthing.learning.feature_prices import by_price, free_columns
from farthing.learning.fold_boosters import FoldBoosters
from farthing.learning.folds import Fold
from farthing.learning.out_of_fold import Columns, Holdings, OutOfFoldTrainer

# Factor of the trade-off after a round that buys nothing, and the smallest trade-off that is tried, as a
# share of the loss before the first tree over the price of all features.
_FALL: Final = 0.7
_LEAST_TRADEOFF: Final = 1e-6
# Rounds on what is owned after each purchase, so that the next one is chosen by what is still unexplained.
_ROUNDS_BETWEEN: Final = 2
# Hard budgets of the chains for small budgets, as shares of the price of all features.
_CAPS: Final = (0.01, 0.02, 0.04, 0.08, 0.16)
# Purchases of forward selection, at most, for each stage that there may be.
_PURCHASES: Final = 4


def feature_chains(trainer: OutOfFoldTrainer, n_stages: int) -> tuple[list[Columns], list[list[int]]]:
    """Return sets of columns, and the chains that lead through them.

    The first chain is that of `miser_order`, cut into stages of a common ratio in cost. The second is that of
    `forward_order`. The others are for small budgets, where the feature of the best gain per price is often
    too expensive: a miser with a hard budget buys what it can, stage by stage. After their ends these chains
    continue with the more expensive sets of the first. Held-out rows choose the chain of each budget.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows, the prices, and how trees are grown.
    n_stages : int
        Maximum number of paid stages of the first chain; before they join it, the second has at most half as
        many, the others a quarter.

    Returns
    -------
    sets : list of ndarray of int64
        Ascending columns; the first set costs nothing.
    chains : list of list of int
        Places of sets, in the order of the stages. A row at a stage owns all sets up to it, and its
        prediction is that of the booster of the last one.
    """
    costs = trainer.costs
    free = free_columns(costs)
    whole = costs.total(costs.features)
    most = max(1, n_stages // 4)
    orders = [(miser_order(trainer, None), n_stages)]
    orders.append((forward_order(trainer, free, _PURCHASES * n_stages), max(1, n_stages // 2)))
    orders += [(miser_order(trainer, share * whole), most) for share in _CAPS]
    # Chains share sets: the place of each set, by its columns.
    places: dict[bytes, int] = {}
    sets: list[Columns] = []
    # Of the first chain: the place of each set, and what it costs.
    main: list[tuple[int, float]] = []
    chains: list[list[int]] = []
    for order, n_own in orders:
        # An order without any purchase would only repeat the first stage.
        if main and len(order) == len(free):
            continue
        totals = prefix_costs(costs, order)
        chain = []
        for n_owned in cut(totals, len(free), n_own):
            columns = np.sort(order[:n_owned])
            chain.append(places.setdefault(columns.tobytes(), len(sets)))
            if chain[-1] == len(sets):
                sets.append(columns)
            if not chains:
                main.append((chain[-1], float(totals[n_owned])))
        # Joining the first chain lets a chain for a small budget serve larger ones too.
        chains.append(chain + [place for place, cost in main if cost > totals[-1]])
    return sets, chains


def miser_order(trainer: OutOfFoldTrainer, cap: float | None) -> Columns:
    """Return the columns in the order in which a miser of falling trade-off buys them.

    The trade-off starts so high that nothing is worth its price, and falls whenever a round of trees buys
    nothing. Each purchase starts from what is owned already, which is free; so a feature that
    repeats an owned one comes late or never. Free features come first.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows, the prices, and how trees are grown.
    cap : float or None
        Limit on the total cost of all columns; None means no limit.

    Returns
    -------
    ndarray of int64, shape (n_bought,)
        Free features, by column, then the others. What no tree uses is left out.
    """
    costs = trainer.costs
    free = free_columns(costs)
    alone = np.array([costs.price(name) for name in costs.features])
    for_sale = np.flatnonzero(alone <= (np.inf if cap is None else cap)).astype(np.int64)
    order: list[int] = free.tolist()
    if len(free) == len(for_sale):
        return free
    holdings = Holdings(np.isin(np.arange(len(alone)), free).astype(np.uint8), cap, for_sale)
    learn = trainer.learned
    boosters = FoldBoosters.of(replace(trainer, folds=[Fold(learn, learn[:0])]))
    losses = trainer.loss.values(trainer.rows.target[learn], boosters.scores(0)[:, learn])
    whole = total(losses * trainer.rows.weights[learn]) / Weighting.of(trainer.rows.weights).unit
    # Here even removing the whole loss would only just pay for the cheapest feature.
    tradeoff = float(per_price(whole, alone[alone > 0].min()))
    least = float(per_price(_LEAST_TRADEOFF * whole, costs.total(costs.features)))
    while tradeoff >= least > 0 and _affordable(costs, holdings):
        owned = holdings.owned
        # A round that buys nothing is undone: otherwise the trees on what is owned would overfit before the
        # trade-off is low enough for the next purchase.
        tradeoff = boosters.buy_falling(tradeoff, holdings, least=least, fall=_FALL)
        order += by_price(costs, np.flatnonzero(holdings.owned > owned).astype(np.int64)).tolist()
        boosters.boost(np.flatnonzero(holdings.owned).astype(np.int64), _ROUNDS_BETWEEN, must_split=False)
    return np.array(order, dtype=np.int64)


def _affordable(costs: CostSheet, holdings: Holdings) -> bool:
    """Return whether anything is left that could be bought."""
    owned = holdings.owned.astype(np.bool_)
    ledger = RowLedger(costs, holdings.cap)
    for column in np.flatnonzero(owned):
        ledger.buy(int(column))
    return any(not owned[column] and ledger.affords(column) for column in holdings.columns.tolist())


def prefix_costs(costs: CostSheet, order: Columns) -> NDArray[np.float64]:
    """Return the total cost of the first 0, 1, 2, ... columns of an order, shape (n_bought + 1,).

    Examples
    --------
    >>> prefix_costs(CostSheet([3.0, 1.0, 2.0]), np.array([1, 0]))
    array([0., 1., 4.])
    """
    owned = np.zeros(len(costs.features), dtype=np.bool_)
    totals = [0.0]
    for column in order:
        owned[column] = True
        totals.append(costs.total(owned))
    return np.array(totals)


def cut(costs: NDArray[np.float64], n_free: int, n_stages: int) -> list[int]:
    """Return how many columns each stage owns: the free ones, then more by a common ratio in cost, then all.

    Parameters
    ----------
    costs : ndarray of float64, shape (n_bought + 1,)
        Total cost of the first 0, 1, 2, ... columns.
    n_free : int
        Columns that cost nothing, at the start of the order.
    n_stages : int
        Maximum number of paid stages.

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
    # The smallest ratio on a fine grid that needs no more stages than allowed.
    for ratio in 1.01 ** np.arange(1, 2000):
        cuts = _steps(costs, n_free, float(ratio))
        if len(cuts) <= n_stages + 1:
            return cuts
    return [n_free, len(costs) - 1]


def _steps(costs: NDArray[np.float64], n_free: int, ratio: float) -> list[int]:
    """Cut before the cost would exceed the ratio times that of the last cut."""
    cuts, last = [n_free], 0.0
    for place in range(n_free + 1, len(costs) - 1):
        # Greedy: each stage is as long as the ratio allows, which gives the fewest stages for that ratio.
        if costs[place + 1] > ratio * last:
            cuts.append(place)
            last = float(costs[place])
    return [*cuts, len(costs) - 1]
