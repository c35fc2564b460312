"""Projection: trees without some of their features, which are averaged out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.trees.forest import Forest
from farthing.trees.node_arrays import MISSING_STAY
from farthing.typing import Floats


@dataclass(frozen=True, slots=True, eq=False)
class _Leaf:
    """A leaf of a new tree."""

    value: Floats
    cover: float


@dataclass(frozen=True, slots=True, eq=False)
class _Split:
    """An inner node of a new tree, which tests as node ``number`` of the old forest does."""

    number: int
    left: _Node
    right: _Node
    value: Floats
    cover: float


_Node: TypeAlias = _Leaf | _Split


def projected(forest: Forest, scores: Floats, columns: NDArray[np.int64]) -> Forest:
    """Return trees that test some columns only, with the other columns averaged out.

    A test of another column becomes the mean of its two sides, weighted by the training rows that went there:
    the conditional expectation of the sum by the trees' own paths (Lundberg, Erion, Lee, 2018, algorithm 1).
    A mean of two trees is the sum of both, scaled, so there may be more trees than before. With all columns
    that the trees test, the sums are the same up to the order of addition.

    Parameters
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes, width)
        What each node adds to the output.
    columns : ndarray of int64
        The columns to keep.

    Returns
    -------
    Forest
        Over the same table; trees that come from one tree follow each other.

    Examples
    --------
    The mean of the leaves, of which the left one had three rows of four:

    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]], cover=[4.0, 3.0, 1.0])
    >>> projected(stump, stump.value, np.array([0])).value
    array([[-0.5]])
    """
    kept = np.isin(forest.feature, columns)
    trees: list[_Node] = []
    targets: list[int] = []
    for begin, end, target in zip(forest.offsets[:-1], forest.offsets[1:], forest.target, strict=True):
        parts = _parts(forest, scores, kept, int(begin), int(end))
        trees += parts
        targets += [int(target)] * len(parts)
    return _flat(forest, trees, targets)


def _parts(forest: Forest, scores: Floats, kept: NDArray[np.bool_], begin: int, end: int) -> list[_Node]:
    """Return one tree as a sum of trees that test only the columns kept."""
    parts: dict[int, list[_Node]] = {}
    # Children come after their parents.
    for node in range(end - 1, begin - 1, -1):
        if forest.feature[node] < 0:
            parts[node] = [_Leaf(scores[node], float(forest.cover[node]))]
            continue
        left, right = (parts.pop(begin + int(child[node])) for child in (forest.left, forest.right))
        if kept[node]:
            zeros = np.zeros_like(scores[node])
            parts[node] = [
                _split(node, a or _Leaf(zeros, left[0].cover), b or _Leaf(zeros, right[0].cover))
                for a, b in zip_longest(left, right)
            ]
        else:
            parts[node] = _mean(left, right)
    return parts[begin]


def _split(number: int, left: _Node, right: _Node) -> _Split:
    share = _share(left, right)
    return _Split(
        number, left, right, share * left.value + (1 - share) * right.value, left.cover + right.cover
    )


def _share(left: _Node, right: _Node) -> float:
    """Return the share of rows that went left; a half if no cover is known."""
    total = left.cover + right.cover
    return left.cover / total if total > 0 else 0.5


def _mean(left: list[_Node], right: list[_Node]) -> list[_Node]:
    """Return the sum of trees that is the mean of two such sums; constants become one leaf."""
    share, cover = _share(left[0], right[0]), left[0].cover + right[0].cover
    scaled = [
        *(_scaled(part, share, cover) for part in left),
        *(_scaled(part, 1 - share, cover) for part in right),
    ]
    leaves = [part for part in scaled if isinstance(part, _Leaf)]
    splits: list[_Node] = [part for part in scaled if isinstance(part, _Split)]
    if not leaves:
        return splits
    return [*splits, _Leaf(np.sum([leaf.value for leaf in leaves], axis=0), cover)]


def _scaled(part: _Node, factor: float, cover: float) -> _Node:
    """Return a tree with its values times a factor, and its cover spread over that of the mean."""
    if isinstance(part, _Leaf):
        return _Leaf(part.value * factor, cover)
    left_cover = cover * _share(part.left, part.right)
    return _Split(
        part.number,
        _scaled(part.left, factor, left_cover),
        _scaled(part.right, factor, cover - left_cover),
        part.value * factor,
        cover,
    )


def _flat(forest: Forest, trees: list[_Node], targets: list[int]) -> Forest:
    """Return new trees as a forest; the tests are those of the old nodes."""
    number: list[int] = []  # of the old node, -1 at a leaf
    left: list[int] = []
    right: list[int] = []
    nodes: list[_Node] = []
    offsets = [0]
    for tree in trees:
        begin, queue = len(nodes), [tree]
        nodes.append(tree)
        for node in queue:  # grows while it is read: breadth first, so children come after their parents
            if isinstance(node, _Split):
                number.append(node.number)
                for side, child in ((left, node.left), (right, node.right)):
                    side.append(len(nodes) - begin)
                    nodes.append(child)
                    queue.append(child)
            else:
                number.append(-1)
                left.append(-1)
                right.append(-1)
        offsets.append(len(nodes))
    old = np.array(number, dtype=np.int64)
    split = old >= 0
    arrays: dict[str, Any] = {
        name: np.where(split, getattr(forest, name)[old], blank)
        for name, blank in (("feature", -1), ("threshold", 0.0), ("missing", MISSING_STAY), ("category", -1))
    }
    return Forest.from_arrays(
        n_features=forest.n_features,
        n_outputs=forest.n_outputs,
        offsets=offsets,
        target=targets,
        left=left,
        right=right,
        value=np.array([node.value for node in nodes]),
        cover=[node.cover for node in nodes],
        category_words=forest.category_words,
        category_widths=forest.category_widths,
        comparator=forest.comparator,
        dtype=forest.dtype,
        **arrays,
    )
