"""The rounds of AdaBoost: weights on the training rows, and learners chosen one after another."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farthing.boosting.stumps import Learner, StumpSearch
from farthing.boosting.votes import GRID, MOST, voting_weight


class Weights:
    """The distribution over the training rows, and the voting weights given so far.

    Parameters
    ----------
    labels : ndarray of int8, shape (n_rows,)
        -1 or +1.
    weights : ndarray of float64, shape (n_rows,)
        What each row counts, above zero.

    Attributes
    ----------
    signed : ndarray of float64, shape (n_rows,)
        The distribution, which sums to 1, times the labels.
    alphas, edges : list of float
        The voting weight and the edge of each learner so far.
    open : bool
        False after a learner without error.

    Examples
    --------
    >>> state = Weights(np.array([-1, 1, 1, 1], dtype=np.int8), np.ones(4))
    >>> state.update(np.array([1, 1, 1, 1], dtype=np.int8))
    >>> state.edges
    [0.5]
    >>> state.signed
    array([-0.5       ,  0.16666667,  0.16666667,  0.16666667])
    """

    def __init__(self, labels: NDArray[np.int8], weights: NDArray[np.float64]) -> None:
        shares = weights / weights.max()
        shares /= shares.sum()
        self.signed = shares * labels
        self.alphas: list[float] = []
        self.edges: list[float] = []
        self.open = True
        self._labels = labels
        # y f(x) is never below ln(share of x), so with this much more every row is right.
        self._most = math.log(2 / max(float(shares.min()), 2.0**-1000))

    def update(self, votes: NDArray[np.int8]) -> None:
        """Give a learner its voting weight and go on to the next distribution: D exp(-alpha y h) / Z.

        The papers print the exponent with the other sign, which would make easy rows heavier.
        """
        wrong = self._labels != votes
        error = float(np.abs(self.signed[wrong]).sum())
        edge = 1 - 2 * error
        alpha = voting_weight(edge, self._most)
        self.edges.append(edge)
        self.alphas.append(alpha)
        self.open = error > 0 and sum(self.alphas) + self._most < MOST
        self.signed[wrong] *= math.exp(min(2 * alpha, 700.0))
        self.signed /= np.abs(self.signed).sum()


Choice = Callable[[NDArray[np.float64]], int | None]
"""From the edges of all candidates to the place of the one to take, or None to end.

Place 0 is the vote that asks for nothing, place j + 1 the best stump of column j; an edge of 0 is no
candidate.
"""


def boost(
    search: StumpSearch,
    state: Weights,
    choose: Choice,
    *,
    n_rounds: int,
    intercept: bool,
    max_depth: int = 1,
) -> list[Learner]:
    """Choose learner after learner until a limit, a learner without error, or one without edge.

    Parameters
    ----------
    search : StumpSearch
        Searches the rows' binned table.
    state : Weights
        The weights of these rows; has the voting weights of the learners afterwards.
    choose : callable
        See `Choice`.
    n_rounds, intercept, max_depth
        As in `AdaBoostClassifier`.

    Returns
    -------
    list of Learner
    """
    learners: list[Learner] = []
    while len(learners) < n_rounds and state.open:
        total = float(state.signed.sum())
        edges = np.concatenate([[abs(total) if intercept else 0.0], search.edges(state.signed)])
        edges[edges <= GRID] = 0.0  # no vote on the grid
        place = choose(edges) if edges.any() else None
        if place is None:
            break
        if place == 0:
            learner = search.constant(math.copysign(1.0, total))
        else:
            learner = search.learner(state.signed, place - 1, max_depth)
        state.update(learner.votes)
        learners.append(learner)
    return learners
