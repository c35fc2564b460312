"""Bins of columns, and the rows that set their edges."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray


@dataclass
class ColumnBins:
    """One column cut into bins; a missing value has the number after the last bin."""

    codes: NDArray[np.int64]  # (n_rows,)
    n_bins: int
    edges: list[float] = field(default_factory=list)  # of a numeric column
    bin_of_code: list[int] = field(default_factory=list)  # of a categorical column

    @property
    def categorical(self) -> bool:
        return bool(self.bin_of_code)


def between(low: float, high: float) -> float:
    """Return a number m with low <= m < high, half way where that exists."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def nearest(ascending: list[float], goal: float) -> float:
    """Return the last below the goal or the first not below, whichever is nearer; the lower of equals."""
    below = [value for value in ascending if value < goal]
    above = [value for value in ascending if value >= goal]
    if not above or (below and goal - below[-1] <= above[0] - goal):
        return below[-1]
    return above[0]


def edges_of(values: Iterable[float], max_bins: int) -> list[float]:
    """Return the edges of a numeric column: a bin for each value, or bins of nearly equal counts."""
    count = Counter(float(value) for value in values if not math.isnan(value))
    distinct = sorted(count)
    if len(distinct) <= max_bins:
        return [between(low, high) for low, high in pairwise(distinct)]
    edges: list[float] = []
    rows_left, bins_left, in_bin = sum(count.values()), max_bins, 0
    for value, following in pairwise(distinct):
        in_bin += count[value]
        fair = rows_left / bins_left
        if bins_left > 1 and (in_bin >= fair or count[following] >= fair):
            edges.append(between(value, following))
            rows_left, bins_left, in_bin = rows_left - in_bin, bins_left - 1, 0
    return edges


def bins_of_codes(values: Iterable[float], n_codes: int, max_bins: int) -> list[int]:
    """Return the bin of each category: its own, or the last one, which the rarest share."""
    if n_codes <= max_bins:
        return list(range(n_codes))
    count = Counter(int(value) for value in values if not math.isnan(value))
    by_frequency = sorted(range(n_codes), key=lambda code: (-count[code], code))
    alone = sorted(by_frequency[: max_bins - 1])
    return [alone.index(code) if code in alone else max_bins - 1 for code in range(n_codes)]


def bin_column(
    column: NDArray[np.floating], n_categories: int = 0, max_bins: int = 255, n_sample: int = 65_536
) -> ColumnBins:
    """Cut one column; the bins are learned from a sample of the rows if there are many."""
    column = column.astype(np.float64)
    sample = column[sample_rows(len(column), n_sample)]
    missing = np.isnan(column)
    if n_categories:
        bin_of_code = bins_of_codes(sample, n_categories, max_bins)
        n_bins = max(bin_of_code) + 1
        codes = np.array([n_bins if np.isnan(x) else bin_of_code[int(x)] for x in column], dtype=np.int64)
        return ColumnBins(codes, n_bins, bin_of_code=bin_of_code)
    edges = edges_of(sample, max_bins)
    below = (np.array(edges)[None, :] < column[:, None]).sum(axis=1)
    return ColumnBins(np.where(missing, len(edges) + 1, below), len(edges) + 1, edges=edges)


def sample_rows(n_rows: int, n_sample: int) -> list[int]:
    """Return one row from each of n_sample equal stretches of the table, or all rows."""
    if n_rows <= n_sample:
        return list(range(n_rows))
    starts = [i * n_rows // n_sample for i in range(n_sample + 1)]
    return [low + random_bits(0, i) % (high - low) for i, (low, high) in enumerate(pairwise(starts))]


def random_bits(key: int, counter: int) -> int:
    """Return the draw of a counter-based generator, made of two rounds of SplitMix64."""
    weyl, word = 0x9E3779B97F4A7C15, 2**64

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % word
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % word
        return z ^ (z >> 31)

    return mix((mix((key + weyl) % word) + (counter + 1) * weyl) % word)
