"""Votes drawn by weight for every number of draws at once: the draws of n are the first of those of more.

The compiled sampler answers for one number of draws. A curve over hundreds of them would draw the first vote
hundreds of times; here each row draws once, all rows side by side.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing._core import purchase_bits, seed_key
from farthing.boosting import AdaBoostRSClassifier
from farthing.boosting.adaboost_rs.sampling_plan import SamplingPlan
from farthing.learning.random_numbers import random_bits

_HALF = np.uint64(32)
_LOW = np.uint64(2**32 - 1)


@dataclass(frozen=True)
class Drawn:
    """Where all rows stand after some draws.

    Attributes
    ----------
    n_draws : int
    votes : ndarray of float64, shape (n_rows,)
        Sums of the votes drawn, above zero for the second class.
    used : ndarray of bool, shape (n_rows, n_columns)
        What each row has looked at.
    """

    n_draws: int
    votes: NDArray[np.float64]
    used: NDArray[np.bool_]

    def wrong(self, y: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return 1 for a wrong label, 0 for a right one, and 1/2 for a tied vote, shape (n_rows,)."""
        return np.where(self.votes == 0, 0.5, (self.votes > 0) != (y > 0))


def draw_along(
    model: AdaBoostRSClassifier, X: NDArray[np.float64], seeds: NDArray[np.int64], stops: NDArray[np.int64]
) -> Iterator[Drawn]:
    """Draw by weight among stumps, without prices, and yield the standing at each of the stops.

    Parameters
    ----------
    model : AdaBoostRSClassifier
        Fitted, with votes of one column each.
    X : ndarray, shape (n_rows, n_columns)
    seeds : ndarray of int64, shape (n_rows,)
    stops : ndarray of int64
        Numbers of draws, rising. The arrays that are yielded change with the next one.
    """
    plan = SamplingPlan.make(model.votes_, model.costs_, "weight", n_samples=int(stops[-1]))
    column = np.array([own for (own,) in plan.columns])
    flips = np.array([purchase_bits(int(c)) for c in range(X.shape[1])], dtype=np.uint64)
    table = plan.votes.table(X)
    keys = np.array([seed_key(int(seed)) for seed in seeds], dtype=np.uint64)
    rows, total = np.arange(len(X)), plan.cumulative[-1]
    votes, used = np.zeros(len(X)), np.zeros(X.shape, dtype=np.bool_)
    for draw in range(int(stops[-1])):
        bits = random_bits(keys, np.full(len(X), draw, dtype=np.uint64))
        learner = np.searchsorted(plan.cumulative, high_product(bits, total), side="right")
        votes += table[rows, learner]
        looked = column[learner]
        keys ^= np.where(used[rows, looked], np.uint64(0), flips[looked])
        used[rows, looked] = True
        if draw + 1 in stops:
            yield Drawn(draw + 1, votes, used)


def high_product(bits: NDArray[np.uint64], total: np.uint64) -> NDArray[np.uint64]:
    """Return the upper 64 of the 128 bits of each product.

    Examples
    --------
    >>> high_product(np.array([2**63, 2**64 - 1], dtype=np.uint64), np.uint64(10))
    array([5, 9], dtype=uint64)
    """
    a, b = bits >> _HALF, bits & _LOW
    c, d = total >> _HALF, total & _LOW
    middle = a * d + (b * d >> _HALF)
    return np.asarray(a * c + (middle >> _HALF) + ((b * c + (middle & _LOW)) >> _HALF), dtype=np.uint64)
