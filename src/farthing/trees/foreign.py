"""Trees of other libraries, node by node, as a forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farthing.trees.forest import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY, WORD_BITS

CodeSets = tuple[Sequence[int], Sequence[int]]
"""The codes of categories that go left, and those that go right."""


@dataclass(frozen=True, slots=True)
class ForeignTree:
    """One tree of another library; its nodes may be in any order, the root first.

    Attributes
    ----------
    feature : ndarray of int, shape (n_nodes,)
        Column that the node tests; ignored at leaves.
    threshold : ndarray of float64, shape (n_nodes,)
        Ignored at leaves and at tests of categories.
    left, right : ndarray of int64, shape (n_nodes,)
        Children; -1 at leaves.
    default_left : ndarray of bool, shape (n_nodes,)
        Whether a missing value goes left.
    value : ndarray of float64, shape (n_nodes, width)
        Values of the leaves. Inner nodes get the mean of their children, weighted by cover.
    cover : ndarray of float64, shape (n_nodes,)
        Weight of the training rows that reached the node.
    output : int
        The first output that the tree adds to.
    codes : mapping of int to CodeSets
        The categories of each node that tests them.
    """

    feature: NDArray[np.integer[Any]]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    default_left: NDArray[np.bool_]
    value: NDArray[np.float64]
    cover: NDArray[np.float64]
    output: int = 0
    codes: Mapping[int, CodeSets] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ForeignTable:
    """The table and the comparison of the trees of another library.

    Attributes
    ----------
    n_features, n_outputs : int
        Columns of the table and of the raw output.
    n_categories : mapping of int to int
        Number of categories of each categorical column.
    comparator : {"<=", "<"}
        How a value is compared with the threshold.
    single : bool
        Whether values are rounded to float32 before they are compared.
    """

    n_features: int
    n_outputs: int
    n_categories: Mapping[int, int] = field(default_factory=dict)
    comparator: str = "<="
    single: bool = False

    def widths(self) -> NDArray[np.int64]:
        """Return the words in one set of codes of each column, shape (n_features,)."""
        widths = np.zeros(self.n_features, dtype=np.int64)
        for column, count in self.n_categories.items():
            widths[column] = max(1, -(-count // WORD_BITS))
        return widths


def foreign_forest(
    table: ForeignTable, trees: Sequence[ForeignTree], base: ArrayLike | None = None
) -> Forest:
    """Join trees of another library into a forest.

    Parameters
    ----------
    table : ForeignTable
        What the trees have in common.
    trees : sequence of ForeignTree
        At least one, unless there is a base score.
    base : array, shape (n_outputs,), optional
        The base score. It becomes the first trees, of one node each, unless it is zero, so that array calls
        and walks add it in the same place of the same sum.

    Returns
    -------
    Forest

    Examples
    --------
    >>> stump = ForeignTree(
    ...     feature=np.array([0, -1, -1]), threshold=np.array([0.5, 0, 0]), left=np.array([2, -1, -1]),
    ...     right=np.array([1, -1, -1]), default_left=np.array([True, False, False]),
    ...     value=np.array([[0.0], [4.0], [1.0]]), cover=np.array([3.0, 1.0, 2.0]))
    >>> foreign_forest(ForeignTable(1, 1), [stump]).value.ravel()
    array([2., 1., 4.])
    """
    start = np.zeros(table.n_outputs) if base is None else np.asarray(base, dtype=np.float64)
    width = trees[0].value.shape[1] if trees else 1
    first = range(0, table.n_outputs, width) if start.any() or not trees else ()
    joined = [_tree(_constant(start[column : column + width], column), table) for column in first]
    return Forest.concat([*joined, *(_tree(tree, table) for tree in trees)]).validate()


def _constant(value: NDArray[np.float64], output: int) -> ForeignTree:
    leaf = np.array([-1], dtype=np.int64)
    return ForeignTree(
        feature=leaf,
        threshold=np.zeros(1),
        left=leaf,
        right=leaf,
        default_left=np.array([False]),
        value=value[np.newaxis],
        cover=np.zeros(1),
        output=output,
    )


def _tree(tree: ForeignTree, table: ForeignTable) -> Forest:
    inner = tree.left >= 0
    value = np.where(inner[:, np.newaxis], 0.0, tree.value)
    _fill_inner(value, tree.cover, tree.left, tree.right)
    widths = table.widths()
    category, words = _code_words(tree, widths)
    numeric = inner & (category < 0)
    arrays: dict[str, Any] = {
        "feature": np.where(inner, tree.feature, -1),
        "threshold": np.where(numeric, tree.threshold, 0.0),
        "left": tree.left,
        "right": tree.right,
        "missing": np.where(inner, np.where(tree.default_left, MISSING_LEFT, MISSING_RIGHT), MISSING_STAY),
        "category": category,
        "value": value,
        "cover": tree.cover,
    }
    return Forest.from_arrays(
        n_features=table.n_features,
        n_outputs=table.n_outputs,
        target=[tree.output],
        category_words=words,
        category_widths=widths,
        comparator=table.comparator,
        dtype="float32" if table.single else "float64",
        **_parents_first(arrays),
    ).compacted()


def _code_words(tree: ForeignTree, widths: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the first word of each node's code sets, -1 for none, and the words of all sets."""
    category = np.full(len(tree.feature), -1, dtype=np.int64)
    words: list[int] = []
    for node, sets in tree.codes.items():
        category[node] = len(words)
        for codes in sets:
            bits = [0] * int(widths[tree.feature[node]])
            for code in codes:
                bits[code // WORD_BITS] |= 1 << code % WORD_BITS
            words += bits
    return category, np.array(words, dtype=np.uint64)


def _fill_inner(
    value: NDArray[np.float64],
    cover: NDArray[np.float64],
    left: NDArray[np.int64],
    right: NDArray[np.int64],
) -> None:
    """Set the value of each inner node to the mean of its children, weighted by cover, bottom up."""
    # By levels and not by number: nodes of other libraries need not come after their parents.
    levels = []
    level = np.array([0])
    while len(level := level[left[level] >= 0]):
        levels.append(level)
        level = np.concatenate([left[level], right[level]])
    for nodes in reversed(levels):
        shares = np.stack([cover[left[nodes]], cover[right[nodes]]])
        shares[:, ~(shares.sum(axis=0) > 0)] = 1.0  # a plain mean where no training row came by
        shares /= shares.sum(axis=0)
        value[nodes] = (
            shares[0][:, np.newaxis] * value[left[nodes]] + shares[1][:, np.newaxis] * value[right[nodes]]
        )


def _parents_first(arrays: dict[str, Any]) -> dict[str, Any]:
    """Renumber the nodes in breadth-first order, so that a child comes after its parent."""
    left, right = arrays["left"], arrays["right"]
    order = [np.array([0])]
    while len(level := order[-1][left[order[-1]] >= 0]):
        order.append(np.stack([left[level], right[level]], axis=1).ravel())
    old = np.concatenate(order)
    new = np.full(len(left), -1)
    new[old] = np.arange(len(old))
    ordered = {name: array[old] for name, array in arrays.items()}
    for name in ("left", "right"):
        child = ordered[name]
        ordered[name] = np.where(child >= 0, new[child], -1)
    return ordered
