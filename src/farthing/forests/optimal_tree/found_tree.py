"""A tree of the compiled search in the common format: sides of codes become thresholds and sets."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
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
    origin : ndarray of int64, shape (n_nodes,)
        The first node with the same test or leaf: itself, unless the node is a copy below an interval.
    value : ndarray of float64, shape (n_nodes, n_classes)
        The weight of the rows of each class, of all copies of the node.
    cover : ndarray of float64, shape (n_nodes,)
        The weight of the rows of the node.
    """

    feature: NDArray[np.int32]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    side: NDArray[np.uint8]
    origin: NDArray[np.int64]
    value: Floats
    cover: Floats


def tree_of(tests: NodeTests, rows: TrainingSet, values: ColumnValues) -> Forest:
    """Return the tree; the values of its nodes are class weights.

    A value that is missing where no training row of the node has that stays at the node, as does a category
    that none of them has.
    """
    n_nodes = len(tests.feature)
    threshold, missing, category = [0.0] * n_nodes, [MISSING_STAY] * n_nodes, [-1] * n_nodes
    widths = values.category_widths.tolist()
    words: list[int] = []
    for node, feature in enumerate(tests.feature.tolist()):
        if feature < 0:
            continue
        n_present = values.n_present[feature]
        side = tests.side[node, : n_present + 1].tolist()
        if n_present < len(side):
            missing[node] = _MISSING[side.pop()]
        if widths[feature]:
            category[node] = len(words)
            words += _code_sets(tests, node, side, rows, values)
        else:
            threshold[node] = _threshold(side, values.thresholds[feature])
    arrays = {
        "feature": tests.feature,
        "threshold": np.array(threshold, dtype=np.float64),
        "left": tests.left,
        "right": tests.right,
        "missing": np.array(missing, dtype=np.uint8),
        "category": np.array(category, dtype=np.int64),
        "category_words": np.array(words, dtype=np.uint64),
        "value": tests.value,
        "cover": tests.cover,
    }
    return Forest.from_core(arrays, len(values.codes), values.category_widths)


def _threshold(side: list[int], thresholds: Floats) -> float:
    """Return the threshold in the middle of those between the values on the left and on the right."""
    if _RIGHT not in side:
        # Only missing values go right.
        return _LARGEST
    last = len(side) - 1 - side[::-1].index(_LEFT)
    return float(thresholds[(last + side.index(_RIGHT) - 1) // 2])


def _code_sets(
    tests: NodeTests, node: int, side: list[int], rows: TrainingSet, values: ColumnValues
) -> list[int]:
    """Return the categories on the left and on the right as words of 64 bits."""
    feature = int(tests.feature[node])
    n_categories = len(rows.schema.columns[feature].categories)
    if n_categories <= len(side):
        goes = dict(enumerate(side))
    else:
        # Rare categories share a code; those of the rows of the node and its copies go where it goes.
        copies = np.flatnonzero(tests.origin == tests.origin[node]).tolist()
        reached = np.logical_or.reduce([_reaching(tests, copy, values.codes) for copy in copies])
        found = rows.values[reached, feature]
        present = np.unique(found[~np.isnan(found)]).astype(np.int64)
        code_of = dict(zip(rows.values[:, feature].tolist(), values.codes[feature].tolist(), strict=True))
        goes = {code: side[code_of[code]] for code in present.tolist()}
    sets: list[int] = []
    for which in (_LEFT, _RIGHT):
        words = [0] * int(values.category_widths[feature])
        for code, where in goes.items():
            if where == which:
                words[code // WORD_BITS] |= 1 << (code % WORD_BITS)
        sets += words
    return sets


def _reaching(tests: NodeTests, node: int, codes: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Return which rows reach a node."""
    for children, which in ((tests.left, _LEFT), (tests.right, _RIGHT)):
        for parent in np.flatnonzero(children == node).tolist():
            goes = tests.side[parent][codes[tests.feature[parent]]] == which
            return np.asarray(_reaching(tests, parent, codes) & goes)
    return np.ones(codes.shape[1], dtype=np.bool_)
