"""How AdaBoostBT weighs the edge of a learner against its cost; Huang, Powers and Reyzin 2015.

A rule is a pure function of (edge, cost, spent): the edges of the candidates and their costs, both of shape
(n_candidates,), and the spend so far. A cost is that of the candidate's features, bought or not, plus the
shared costs of their groups that are not paid yet; or only what is unpaid of either. The rule returns one
score per candidate, and the largest wins. Ties go to the larger edge, then the lower cost, then the earlier
column (see `best`, also for candidates that cost nothing).
All rules here are monotone in the edge, and their choice depends neither on the unit of the costs nor on the
budget.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Rule: TypeAlias = Callable[[NDArray[np.float64], NDArray[np.float64], float], NDArray[np.float64]]


def basic(edge: NDArray[np.float64], cost: NDArray[np.float64], spent: float) -> NDArray[np.float64]:  # noqa: ARG001
    """Return the edge: AdaBoost that stops when the budget is spent.

    Examples
    --------
    >>> basic(np.array([0.5, 0.1]), np.array([9.0, 1.0]), 0.0)
    array([0.5, 0.1])
    """
    return edge


def greedy(edge: NDArray[np.float64], cost: NDArray[np.float64], spent: float) -> NDArray[np.float64]:  # noqa: ARG001
    """Return -ln(1 - edge^2) / cost, equation 1, which assumes that future rounds are like this one.

    Examples
    --------
    >>> greedy(np.array([0.5, 0.1]), np.array([9.0, 0.0]), 0.0).round(4)
    array([0.032,   inf])
    """
    # Equation 1 minimises (1 - edge^2)^(1/cost). Its negative logarithm ranks the same, and does not
    # underflow for cheap features, which would make ties of them.
    return _per_cost(_log_gain(edge), cost)


def smoothed(
    edge: NDArray[np.float64], cost: NDArray[np.float64], spent: float, tau: float = 1.0
) -> NDArray[np.float64]:
    """Return -ln(1 - edge^2) / (tau spent + cost), equation 2: future rounds have the average cost so far.

    Examples
    --------
    >>> smoothed(np.array([0.5, 0.1]), np.array([9.0, 1.0]), 20.0).round(4)
    array([0.0099, 0.0005])
    """
    # B - B_t in equation 2 is what has been spent, so the budget cancels; tau scales it, as the paper
    # suggests.
    return _per_cost(_log_gain(edge), tau * spent + cost)


def speedboost(
    edge: NDArray[np.float64],
    cost: NDArray[np.float64],
    spent: float,  # noqa: ARG001
) -> NDArray[np.float64]:
    """Return (1 - sqrt(1 - edge^2)) / cost, equation 4: the decrease of exponential loss per cost.

    Examples
    --------
    >>> speedboost(np.array([0.6, 0.8]), np.array([1.0, 4.0]), 0.0).round(4)
    array([0.2, 0.1])
    """
    # Equal to 1 - sqrt(1 - edge^2), without its cancellation for small edges.
    squares = edge**2
    return _per_cost(squares / (1 + np.sqrt(1 - squares)), cost)


RULES: Final[Mapping[str, Rule]] = MappingProxyType(
    {"basic": basic, "greedy": greedy, "smoothed": smoothed, "speedboost": speedboost}
)
"""The rules by name. "hybrid", which changes from greedy to smoothed, is in `AdaBoostBTClassifier`."""


def best(scores: NDArray[np.float64], edge: NDArray[np.float64], cost: NDArray[np.float64]) -> int | None:
    """Return the place of the best candidate with an edge above zero, None if there is none.

    A free candidate has an infinite score per cost, and would win every round with any positive edge. So a
    free candidate with an infinite score wins only if its edge is at least that of the best paid one.

    Examples
    --------
    >>> best(np.array([1.0, 2.0, 2.0]), np.array([0.5, 0.1, 0.2]), np.ones(3))
    2
    >>> best(np.array([np.inf, 2.0, 1.0]), np.array([0.1, 0.2, 0.3]), np.array([0.0, 1.0, 1.0]))
    1
    """
    winner = _largest(scores, edge, cost, edge > 0)
    # A rule that does not divide by the cost, such as `basic`, gives free candidates a finite score.
    if winner is None or cost[winner] > 0 or scores[winner] < np.inf:
        return winner
    paid = _largest(scores, edge, cost, (edge > 0) & (cost > 0))
    return winner if paid is None or edge[winner] >= edge[paid] else paid


def _largest(
    scores: NDArray[np.float64],
    edge: NDArray[np.float64],
    cost: NDArray[np.float64],
    among: NDArray[np.bool_],
) -> int | None:
    places = np.flatnonzero(among)
    if not len(places):
        return None
    places = places[scores[places] == scores[places].max()]
    return int(min(places.tolist(), key=lambda place: (-edge[place], cost[place], place)))


def _log_gain(edge: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(divide="ignore"):
        # log1p, since boosting drives edges towards zero. An edge of 1 gives infinity, hence no warning.
        return -np.log1p(-(edge**2))


def _per_cost(gain: NDArray[np.float64], cost: NDArray[np.float64]) -> NDArray[np.float64]:
    """Divide gain by cost: infinite for a gain that is free, 0 for no gain at any cost."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gain > 0, gain / cost, 0.0)
