"""AdaBoost as one would write it on a blackboard: every stump of the binned table, tried by brute force."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from farthing.table import Bins


def stumps_of(codes: NDArray[np.uint8], n_bins: int, categorical: bool) -> Iterator[NDArray[np.int64]]:
    """Yield the votes of every stump: two groups of rows against each other, missing ones on either side."""
    missing = codes == n_bins
    present = np.unique(codes[~missing]).tolist()
    parts: list[tuple[int, ...]]
    if categorical:
        sizes = range(1, len(present) + 1)
        parts = [part for size in sizes for part in itertools.combinations(present, size)]
    else:
        parts = [tuple(present[: i + 1]) for i in range(len(present))]
    for part in parts:
        left = np.isin(codes, part)
        for side in (left, left | missing):
            if side.any() and not side.all():
                yield np.where(side, 1, -1)
                yield np.where(side, -1, 1)


def best_edges(bins: Bins, categorical: list[bool], signed: NDArray[np.float64]) -> list[float]:
    """Return the largest edge of any stump of each column, 0 if it has none."""
    codes = bins.codes()
    return [
        max(
            (float(signed @ votes) for votes in stumps_of(codes[j], bins.n_bins(j), categorical[j])),
            default=0.0,
        )
        for j in range(bins.n_features)
    ]


def sides_of(codes: NDArray[np.uint8], n_bins: int, categorical: bool) -> Iterator[NDArray[np.bool_]]:
    """Yield every way to split the rows in two by a column."""
    for votes in stumps_of(codes, n_bins, categorical):
        yield votes > 0


def best_class_edges(bins: Bins, categorical: list[bool], signed: NDArray[np.float64]) -> list[float]:
    """Return the largest edge of any stump of each column whose sides vote on classes, and differ on one.

    ``signed`` has a signed weight for each row and class. All votes of both sides are tried.
    """
    codes, k = bins.codes(), signed.shape[1]
    votes = np.array(list(itertools.product((-1, 1), repeat=2 * k)))
    votes = votes[(votes[:, :k] != votes[:, k:]).any(axis=1)]

    def edge(left: NDArray[np.bool_]) -> float:
        sums = np.concatenate([signed[left].sum(axis=0), signed[~left].sum(axis=0)])
        return float((votes @ sums).max())

    return [
        max((edge(left) for left in sides_of(codes[j], bins.n_bins(j), categorical[j])), default=0.0)
        for j in range(bins.n_features)
    ]


def product_bound(edges: NDArray[np.float64]) -> float:
    """Return the product of sqrt(1 - edge^2), which the training error never exceeds."""
    return float(np.prod(np.sqrt(np.maximum(1 - edges**2, 0.0))))


class Twin:
    """AdaBoost in floats, over votes that are given."""

    def __init__(self, labels: NDArray[np.int64], weights: NDArray[np.float64]) -> None:
        self.labels = labels
        self.weights = weights / weights.sum()

    def take(self, votes: NDArray[np.int64]) -> tuple[float, float]:
        edge = float((self.weights * self.labels) @ votes)
        alpha = 0.5 * math.log((1 + edge) / (1 - edge))
        self.weights = self.weights * np.exp(-alpha * self.labels * votes)
        self.weights /= self.weights.sum()
        return edge, alpha
