"""A tree of the compiled search in the common format: sides of codes become thresholds and sets."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet, row_sums
from farthing.forests.diagnostic_policy.column_values import ColumnValues
from farthing.trees import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY, WORD_BITS
from farthing.typing import Floats

_LARGEST: Final = float(np.finfo(np.float64).max)
_LEFT, _RIGHT = 1, 2
_MISSING: Final = {0: MISSING_STAY, _LEFT: MISSING_LEFT, _RIGHT: MISSING_RIGHT}


class NodeTests(NamedTuple):
    """The nodes of a tree, parents before children.

    Attributes
    ----------
    feature : ndarray of int32, shape (n_nodes,)
        The column that a node tests, -1 at a leaf.
    left, right : ndarray of int64, shape (n_nodes,)
        The children, -1 at a leaf.
    side : ndarray of uint8, shape (n_nodes, 256)
        Where each code of the column goes: 1 left, 2 right, 0 if no row of the node has it.
    """

    feature: NDArray[np.int32]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    side: NDArray[np.uint8]


def node_rows(tests: NodeTests, codes: NDArray[np.uint8]) -> tuple[list[NDArray[np.int64]], list[list[int]]]:
    """Return the rows that reach each node, and the columns that they own there, in the order of purchase."""
    reached = [np.arange(codes.shape[1])] * len(tests.feature)
    owned: list[list[int]] = [[] for _ in tests.feature]
    for node, feature in enumerate(tests.feature.tolist()):
        if feature < 0:
            continue
        rows = reached[node]
        goes = tests.side[node][codes[feature, rows]]
        columns = owned[node] if feature in owned[node] else [*owned[node], feature]
        for side, child in ((_LEFT, tests.left[node]), (_RIGHT, tests.right[node])):
            reached[child], owned[child] = rows[goes == side], columns
    return reached, owned


def tree_of(
    tests: NodeTests, reached: list[NDArray[np.int64]], rows: TrainingSet, values: ColumnValues
) -> Forest:
    """Return the tree; the values of its nodes are class weights.

    A value that is missing where no training row of the node has that stays at the node, as does a category
    that none of them has.
    """
    n_nodes = len(tests.feature)
    value = np.zeros((n_nodes, rows.n_classes))
    threshold, missing = np.zeros(n_nodes), np.full(n_nodes, MISSING_STAY, dtype=np.uint8)
    category = np.full(n_nodes, -1)
    words: list[int] = []
    for node, feature in enumerate(tests.feature.tolist()):
        of = reached[node]
        value[node] = np.bincount(rows.target[of], weights=rows.weights[of], minlength=rows.n_classes)
        if feature < 0:
            continue
        side, n_present = tests.side[node], values.n_present[feature]
        missing[node] = _MISSING[int(side[n_present])] if n_present < len(side) else MISSING_STAY
        if values.category_widths[feature]:
            category[node] = len(words)
            words += _code_sets(side, feature, of, rows, values)
        else:
            threshold[node] = _threshold(side[:n_present], values.thresholds[feature])
    return Forest.from_arrays(
        n_features=len(values.codes),
        feature=tests.feature,
        threshold=threshold,
        left=tests.left,
        right=tests.right,
        missing=missing,
        category=category,
        category_words=np.array(words, dtype=np.uint64),
        category_widths=values.category_widths,
        value=value,
        cover=row_sums(value),
    )


def _threshold(side: NDArray[np.uint8], thresholds: Floats) -> float:
    """Return the threshold in the middle of those between the values on the left and on the right."""
    left, right = np.flatnonzero(side == _LEFT), np.flatnonzero(side == _RIGHT)
    if not len(right):
        # Only missing values go right.
        return _LARGEST
    return float(thresholds[(int(left[-1]) + int(right[0]) - 1) // 2])


def _code_sets(
    side: NDArray[np.uint8], feature: int, of: NDArray[np.int64], rows: TrainingSet, values: ColumnValues
) -> list[int]:
    """Return the categories on the left and on the right as words of 64 bits."""
    found = rows.values[of, feature]
    present = ~np.isnan(found)
    categories = found[present].astype(np.int64)
    goes = side[values.codes[feature, of[present]]]
    width = int(values.category_widths[feature])
    sets: list[int] = []
    for which in (_LEFT, _RIGHT):
        words = [0] * width
        for code in np.flatnonzero(np.bincount(categories[goes == which])).tolist():
            words[code // WORD_BITS] |= 1 << (code % WORD_BITS)
        sets += words
    return sets
