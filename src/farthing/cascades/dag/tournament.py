"""Cost-sensitive policies: from the scores of a state's learners to an action.

Actions are numbered from 0, which is to stop; action a is the state's a-th purchase. A rule says which binary
or regression problems are learned, and how their scores choose an action among those that a row can pay for.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

RuleName: TypeAlias = Literal["filter_tree", "regression"]

# From (target, weights), shape (n_rows,) each, to scores of the rows by learners that have not seen them.
Learn: TypeAlias = Callable[[NDArray[np.float64], Floats], Floats]

# Thresholds of the gate between stopping and going on: log-odds for a classifier.
_LOG_ODDS: Final = (-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0)
# The same for predicted costs, in multiples of the trade-off times the mean price of a purchase.
_PRICES: Final = (-0.75, -0.5, -0.25, 0.0, 0.5, 1.0, 2.0)


class Rule(Protocol):
    """A reduction of cost-sensitive classification to simpler problems."""

    @property
    def regresses(self) -> bool:
        """Whether the problems are regressions; else weighted classifications with targets of 0 and 1."""
        ...

    def n_scores(self, n_actions: int) -> int:
        """Return the number of problems of a state."""
        ...

    def learn(self, costs: Floats, weights: Floats, learn: Learn) -> Floats:
        """Learn the problems of a state, one after the other; return their scores, (n_rows, n_scores)."""
        ...

    def decide(self, scores: Floats, allowed: NDArray[np.bool_], offset: float) -> NDArray[np.int64]:
        """Return an allowed action for each row; a larger offset stops more rows."""
        ...

    def offsets(self, unit: float) -> tuple[float, ...]:
        """Return offsets to try; ``unit`` is the trade-off times the mean price of a purchase."""
        ...


@dataclass(frozen=True)
class FilterTree:
    """A tournament of weighted binary problems (Beygelzimer, Langford and Ravikumar).

    The purchases play each other in a balanced tree; a match is learned with the winners of the matches
    before it, each row weighted by the difference of its two costs. The last match is between stopping and
    the best purchase, so with one purchase there is one problem. A purchase that a row cannot pay for loses
    without a match.

    Examples
    --------
    >>> rule = FilterTree()
    >>> scores = np.array([[1.0, -1.0, 2.0, 0.5], [1.0, -1.0, 2.0, -0.5]])
    >>> rule.decide(scores, np.ones((2, 5), dtype=bool), 0.0)
    array([3, 0])
    """

    regresses: bool = field(default=False, init=False)

    def n_scores(self, n_actions: int) -> int:
        """Return the number of matches: one fewer than actions."""
        return n_actions - 1

    def offsets(self, unit: float) -> tuple[float, ...]:  # log-odds have no unit
        """Return thresholds of the last match's log-odds."""
        return _LOG_ODDS

    def learn(self, costs: Floats, weights: Floats, learn: Learn) -> Floats:
        """Learn the matches; see `Rule.learn`."""
        n_rows, n_actions = costs.shape
        rows = np.arange(n_rows)
        scores: list[Floats] = []

        def match(first: NDArray[np.int64], second: NDArray[np.int64]) -> NDArray[np.int64]:
            gap = costs[rows, first] - costs[rows, second]
            scores.append(learn((gap > 0).astype(np.float64), np.abs(gap) * weights))
            return np.where(scores[-1] > 0, second, first)

        def winners(begin: int, end: int) -> NDArray[np.int64]:
            if end - begin == 1:
                return np.full(n_rows, begin)
            middle = (begin + end) // 2
            return match(winners(begin, middle), winners(middle, end))

        match(np.zeros(n_rows, dtype=np.int64), winners(1, n_actions))
        return np.column_stack(scores)

    def decide(self, scores: Floats, allowed: NDArray[np.bool_], offset: float) -> NDArray[np.int64]:
        """Play the tournament; see `Rule.decide`."""
        n_rows, n_actions = allowed.shape
        played = iter(range(n_actions - 1))  # matches in the order in which `learn` has them

        def winners(begin: int, end: int) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
            if end - begin == 1:
                return np.full(n_rows, begin), allowed[:, begin]
            middle = (begin + end) // 2
            (first, here), (second, there) = winners(begin, middle), winners(middle, end)
            wins = np.where(here & there, scores[:, next(played)] > 0, there)
            return np.where(wins, second, first), here | there

        best, there = winners(1, n_actions)
        return np.where(there & (scores[:, next(played)] > offset), best, 0)


@dataclass(frozen=True)
class CostRegression:
    """One regression of the costs of each action; the least predicted cost is chosen, stopping first.

    Examples
    --------
    >>> rule = CostRegression()
    >>> scores = np.array([[0.3, 0.2, 0.4], [0.2, 0.2, 0.4]])
    >>> rule.decide(scores, np.ones((2, 3), dtype=bool), 0.0)
    array([1, 0])
    """

    regresses: bool = field(default=True, init=False)

    def n_scores(self, n_actions: int) -> int:
        """Return the number of actions."""
        return n_actions

    def offsets(self, unit: float) -> tuple[float, ...]:
        """Return what stopping is made cheaper by."""
        return tuple(factor * unit for factor in _PRICES)

    def learn(self, costs: Floats, weights: Floats, learn: Learn) -> Floats:
        """Learn the cost of each action; see `Rule.learn`."""
        return np.column_stack([learn(costs[:, action], weights) for action in range(costs.shape[1])])

    def decide(self, scores: Floats, allowed: NDArray[np.bool_], offset: float) -> NDArray[np.int64]:
        """Return the least predicted cost; see `Rule.decide`."""
        costs = np.where(allowed, scores[:, : allowed.shape[1]], np.inf)
        costs[:, 0] -= offset
        return np.asarray(np.argmin(costs, axis=1), dtype=np.int64)


RULES: Final[dict[str, Rule]] = {"filter_tree": FilterTree(), "regression": CostRegression()}
