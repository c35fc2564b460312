"""The best split of a column, by trying all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from tests.kernels.naive.bins import ColumnBins
from tests.kernels.naive.criteria import FREE, Constraint, Target
from tests.kernels.naive.vector_gradients import VectorGradients

LEFT, RIGHT, STAY = 0, 1, 2  # where a missing value goes


@dataclass
class Split:
    """Bins that go left and right, and where missing values go."""

    gain: float
    left: list[int]
    right: list[int]
    missing: int

    def goes_left(self, codes: NDArray[np.int64], n_bins: int) -> NDArray[np.bool_]:
        left = np.zeros(n_bins + 1, dtype=np.bool_)
        left[self.left] = True
        left[n_bins] = self.missing == LEFT
        return left[codes]


def candidates(target: Target, rows: NDArray[np.int64], bins: ColumnBins) -> Iterator[Split]:
    """Yield every split of a node that is tried, without its gain: lower cuts first, missing right first."""
    codes = bins.codes[rows]
    present = [int(b) for b in np.unique(codes) if b < bins.n_bins]
    orders = [present]
    if bins.categorical:
        sums = {b: target.cells[rows[codes == b]].sum(axis=0) for b in present}
        keys = {b: target.order_keys(sums[b]) for b in present}
        numbers: Sequence[int] = range(len(next(iter(keys.values()), [])))
        if isinstance(target, VectorGradients):
            numbers = target.orders(list(sums.values()), target.cells[rows].sum(axis=0))
        orders = [sorted(present, key=lambda b, o=o: (keys[b][o], b)) for o in numbers]
    sides = (RIGHT, LEFT) if (codes == bins.n_bins).any() else (STAY,)
    for order in orders:
        for cut in range(1, len(order) + 1):
            for side in sides:
                yield Split(0.0, order[:cut], order[cut:], side)


def best_split(
    target: Target,
    rows: NDArray[np.int64],
    bins: ColumnBins,
    min_rows: int = 1,
    cuts: set[int] | None = None,
    within: Constraint = FREE,
) -> Split | None:
    """Return the split of the largest gain, the first of equals; None if nothing is gained.

    With `cuts`, a numeric column is only cut after these bins.
    """
    best = None
    codes, cells = bins.codes[rows], target.cells[rows]
    for split in candidates(target, rows, bins):
        if cuts is not None and not bins.categorical and split.left[-1] not in cuts:
            continue
        goes_left = split.goes_left(codes, bins.n_bins)
        left, right = (part @ cells for part in (goes_left, ~goes_left))
        if min(left[-1], right[-1]) < min_rows:  # the last of a cell counts rows
            continue
        split.gain = target.gain(left, right, within)
        if split.gain > (best.gain if best else 0.0):
            best = split
    return best
