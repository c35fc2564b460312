"""The walk of one row through all trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from tests.kernels.naive.prices import Sheet
from tests.kernels.naive.splits import LEFT, RIGHT, STAY


def predict_row(
    forest: Any, row: Sequence[float], sheet: Sheet | None = None, budget: float = math.inf
) -> tuple[list[float], set[int]]:
    """Send one row down all trees; return the outputs and the features that it bought."""
    output = [0.0] * forest.n_outputs
    owned: set[int] = set()
    refused: set[int] = set()
    for t, first in enumerate(forest.offsets[:-1]):
        node = int(first)
        while (feature := int(forest.feature[node])) >= 0:
            if feature not in owned | refused:
                buys = sheet is None or sheet.affords(feature, owned, budget)
                (owned if buys else refused).add(feature)
            side = turn(forest, node, float(row[feature]) if feature in owned else math.nan)
            if side == STAY:
                break
            node = int(first) + int((forest.left, forest.right)[side][node])
        for w, score in enumerate(forest.value[node]):
            output[forest.target[t] + w] += float(score)
    return output, owned


def turn(forest: Any, node: int, x: float) -> int:
    """Return the way of a value at an inner node; without a way of its own it goes that of missing values."""
    on_missing = int(forest.missing[node])
    if math.isnan(x):
        return on_missing
    left_codes, right_codes = code_sets(forest, node)
    if left_codes is not None:
        return LEFT if x in left_codes else RIGHT if x in right_codes else on_missing
    if forest.dtype == "float32":
        with np.errstate(over="ignore"):
            x = float(np.float32(x))
    threshold = float(forest.threshold[node])
    return LEFT if (x < threshold if forest.comparator == "<" else x <= threshold) else RIGHT


def code_sets(forest: Any, node: int) -> tuple[set[int], set[int]] | tuple[None, None]:
    """Return the category codes that go left and right at a node, None for a numeric test."""
    first = int(forest.category[node])
    if first < 0:
        return None, None
    width = int(forest.category_widths[forest.feature[node]])
    words = [int(word) for word in forest.category_words[first : first + 2 * width]]
    sides = [
        {64 * w + bit for w, word in enumerate(half) for bit in range(64) if word >> bit & 1}
        for half in (words[:width], words[width:])
    ]
    return sides[0], sides[1]
