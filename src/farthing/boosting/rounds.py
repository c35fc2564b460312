"""The weights of AdaBoost from round to round."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

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
        shares = weights / weights.sum()
        self.signed = shares * labels
        self.majority = 1.0 if self.signed.sum() > 0 else -1.0
        self.alphas: list[float] = []
        self.edges: list[float] = []
        self.open = True
        self._labels = labels
        # With it, y f(x) is above zero on every row whose learner had no error: y f(x) >= ln(share of x).
        self._most = math.log(2 / shares.min())

    def worth(self, edge: float) -> bool:
        """Tell whether a learner with this edge would get a vote."""
        return edge > GRID

    def update(self, votes: NDArray[np.int8]) -> None:
        """Give a learner its voting weight and go on to the next distribution: D exp(-alpha y h) / Z."""
        wrong = self._labels != votes
        error = float(np.abs(self.signed[wrong]).sum())
        edge = 1 - 2 * error
        alpha = voting_weight(edge, self._most)
        self.edges.append(edge)
        self.alphas.append(alpha)
        self.open = error > 0 and sum(self.alphas) + self._most < MOST
        # Relative to the rows that were right; the largest weight stays near 1 / n_rows.
        self.signed[wrong] *= math.exp(2 * min(alpha, 350.0))
        self.signed /= np.abs(self.signed).sum()
