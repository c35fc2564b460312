"""The projection (7.5): the nearest gate scores whose open gates are within the budget."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import spending_limit
from farthing.typing import Floats

# Branch and bound ends after so many nodes; what it has found by then is less than one score from the best.
_MAX_NODES: Final = 20_000


def nearest_within(scores: Floats, shares: Floats, prices: Floats, limit: float) -> Floats:
    """Solve (7.5): the nearest scores of which those above zero cost at most the limit.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows, n_devices)
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows, in the squared distance and in the cost.
    prices : ndarray of float64, shape (n_devices,)
        What a score above zero costs.
    limit : float
        The budget.

    Returns
    -------
    ndarray of float64, shape (n_rows, n_devices)
        Some of the scores above zero are set to zero: the smallest, if all cost the same. Otherwise it is a
        knapsack problem, solved exactly unless it is both large and hard; see `cheapest_cover`.

    Examples
    --------
    >>> nearest_within(np.array([[3.0, 1.0], [-1.0, 2.0]]), np.ones(2), np.ones(2), 2.0)
    array([[ 3.,  0.],
           [-1.,  2.]])
    >>> nearest_within(np.array([[0.5, 1.2]]), np.ones(1), np.array([1.0, 3.0]), 1.0)
    array([[0.5, 0. ]])
    """
    cost, change = (shares[:, np.newaxis] * prices).ravel(), (shares[:, np.newaxis] * scores**2).ravel()
    projected = scores.ravel().copy()
    above = np.flatnonzero((projected > 0) & (cost > 0))
    surplus = float(cost[above].sum()) - spending_limit(limit)
    if surplus > 0:
        projected[above[cheapest_cover(cost[above], change[above], surplus)]] = 0.0
    return projected.reshape(scores.shape)


def cheapest_cover(sizes: Floats, values: Floats, need: float) -> NDArray[np.bool_]:
    """Choose items of least total value whose sizes add up to at least ``need``: a knapsack problem.

    The choice by value per size is improved by branch and bound, which ends with the best one, or after
    20,000 nodes. In any case the total is above the least one by less than the value of one item.

    Parameters
    ----------
    sizes : ndarray of float64, shape (n_items,)
        Above zero; together at least ``need``.
    values : ndarray of float64, shape (n_items,)
        At least zero.
    need : float
        Above zero.

    Returns
    -------
    ndarray of bool, shape (n_items,)
        The items that are chosen.

    Examples
    --------
    >>> cheapest_cover(np.array([1.0, 3.0, 2.0]), np.array([0.2, 1.4, 1.1]), 3.0)
    array([ True, False,  True])
    """
    rate = values / sizes
    order = np.argsort(rate, kind="stable")
    covered = np.cumsum(sizes[order])
    last = min(int(np.searchsorted(covered, need)), len(order) - 1)
    greedy = np.zeros(len(sizes), dtype=np.bool_)
    greedy[order[: last + 1]] = True
    # What was chosen early may not be needed with the last item.
    spare = covered[last] - need
    for item in order[last::-1]:
        if sizes[item] <= spare:
            greedy[item] = False
            spare -= sizes[item]
    # The least value if the last item could be split, by linear programming. An item whose change of side
    # would lift that above the greedy value has its side in every optimum; the rest are few.
    least = values[order[:last]].sum() + rate[order[last]] * (need - covered[last] + sizes[order[last]])
    lift = np.abs(values - rate[order[last]] * sizes)
    room = float(values[greedy].sum()) - least
    unsettled = order[lift[order] <= room * (1 + 1e-9) + 1e-15]
    settled = np.zeros(len(sizes), dtype=np.bool_)
    settled[order[:last]] = True
    settled[unsettled] = False
    if np.ptp(sizes) <= 1e-9 * sizes.max():
        return greedy
    spent, missing = float(values[settled].sum()), need - float(sizes[settled].sum())
    better = _branch(sizes[unsettled], values[unsettled], missing, float(values[greedy].sum()) - spent)
    if better is None:
        return greedy
    settled[unsettled[better]] = True
    return settled


def _branch(sizes: Floats, values: Floats, need: float, below: float) -> list[int] | None:
    """Find items as `cheapest_cover` does, of a value below a given one; they come by value per size."""
    rates, size, value = (values / sizes).tolist(), sizes.tolist(), values.tolist()
    # Before each item, and after the last.
    until, worth = np.append(0.0, np.cumsum(sizes)), np.append(0.0, np.cumsum(values))
    best: list[int] | None = None
    nodes: list[tuple[int, float, float, tuple[int, ...]]] = [(0, need, 0.0, ())]
    for _ in range(_MAX_NODES):
        if not nodes:
            break
        item, lack, paid, chosen = nodes.pop()
        if lack <= need * 1e-12:
            if paid < below * (1 - 1e-12):
                best, below = list(chosen), paid
            continue
        # The least value if the last item that is taken from here on could be split.
        end = int(np.searchsorted(until, until[item] + lack)) - 1
        if end >= len(size):
            continue
        bound = paid + worth[end] - worth[item] + rates[end] * (until[item] + lack - until[end])
        if bound < below * (1 - 1e-12):
            nodes.append((item + 1, lack, paid, chosen))
            nodes.append((item + 1, lack - size[item], paid + value[item], (*chosen, item)))
    return best
