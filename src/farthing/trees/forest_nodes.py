"""The arrays of a forest, and what is read from them: which columns nodes test, and where a row goes."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farthing.trees.node_arrays import (
    ARRAYS,
    COMPARATORS,
    MISSING_LEFT,
    MISSING_STAY,
    VALUE_DTYPES,
    WORD_BITS,
    check_lengths,
    frozen,
)
from farthing.trees.sparse_rows import NodeValues, SparseRows
from farthing.trees.validation import MOST_COLUMNS


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class ForestNodes:
    """The fields of a `farthing.trees.Forest`, which describes them, and what can be read from them."""

    n_features: int
    n_outputs: int
    offsets: NDArray[np.int64]
    target: NDArray[np.int64]
    feature: NDArray[np.int32]
    threshold: NDArray[np.float64]
    left: NDArray[np.int64]
    right: NDArray[np.int64]
    missing: NDArray[np.uint8]
    category: NDArray[np.int64]
    category_words: NDArray[np.uint64]
    category_widths: NDArray[np.int64]
    node_values: NodeValues
    cover: NDArray[np.float64]
    comparator: str = field(default="<=")
    dtype: str = field(default="float64")

    def __post_init__(self) -> None:
        for name in ("n_features", "n_outputs"):
            count = getattr(self, name)
            if isinstance(count, bool) or not isinstance(count, int | np.integer):
                raise TypeError(f"{name} must be an integer; got {count!r}")
            if not 1 <= count <= MOST_COLUMNS:
                raise ValueError(f"{name} must lie between 1 and {MOST_COLUMNS}; got {count}")
            object.__setattr__(self, name, int(count))
        for name, expected in (("comparator", COMPARATORS), ("dtype", VALUE_DTYPES)):
            if getattr(self, name) not in expected:
                raise ValueError(f"{name} must be one of {expected}; got {getattr(self, name)!r}")
        for name, (dtype, ndim, _) in ARRAYS.items():
            object.__setattr__(self, name, frozen(name, getattr(self, name), dtype, ndim))
        if not isinstance(self.node_values, SparseRows):
            object.__setattr__(self, "node_values", frozen("value", self.node_values, np.float64, 2))
        check_lengths(self)

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.target)

    @property
    def n_nodes(self) -> int:
        """Number of nodes, of all trees together."""
        return len(self.feature)

    @property
    def width(self) -> int:
        """Number of output columns that one tree adds to."""
        return int(self.node_values.shape[1])

    def tree_starts(self) -> NDArray[np.int64]:
        """Return the root of the tree of each node, shape (n_nodes,)."""
        return np.repeat(self.offsets[:-1], np.diff(self.offsets))

    def tests(self) -> NDArray[np.float64]:
        """Return how often each feature has been tested for a row that ends at a node.

        Returns
        -------
        ndarray of float64, shape (n_nodes, n_features)
            The test of an inner node itself counts, since a row that ends there acquired its feature.

        Examples
        --------
        >>> from farthing.trees import Forest
        >>> Forest.from_arrays(
        ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]]).tests()
        array([[0., 1.],
               [0., 1.],
               [0., 1.]])
        """
        counts = np.zeros((self.n_nodes, self.n_features))
        starts = self.tree_starts()
        # All trees at once, level by level: the loop runs as often as the deepest tree is deep.
        level = self.offsets[:-1]
        while len(level := level[self.feature[level] >= 0]):
            counts[level, self.feature[level]] += 1
            children = [starts[level] + child[level] for child in (self.left, self.right)]
            for child in children:
                counts[child] = counts[level]
            level = np.concatenate(children)
        return counts

    @cached_property
    def _starts(self) -> NDArray[np.int64]:
        return self.tree_starts()

    @cached_property
    def tested(self) -> NDArray[np.bool_]:
        """Which columns the trees test, shape (n_features,)."""
        flags = np.zeros(self.n_features, dtype=np.bool_)
        flags[self.feature[self.feature >= 0]] = True
        return flags

    def cuts_of(self, column: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the thresholds of a column's numeric tests, and an estimate of its distribution at them.

        Returns
        -------
        thresholds : ndarray of float64, shape (n_thresholds,)
            Ascending, each once.
        shares : ndarray of float64, shape (n_thresholds,)
            The share of training rows below, ascending: the mean over the nodes with that threshold, each
            counted by its rows. Nodes below a root have a part of the rows, so it is an estimate.
        """
        return self._cuts[column]

    @cached_property
    def _cuts(self) -> dict[int, tuple[NDArray[np.float64], NDArray[np.float64]]]:
        nodes = np.flatnonzero((self.feature >= 0) & (self.category < 0))
        first = self._starts[nodes]
        left, right = self.cover[first + self.left[nodes]], self.cover[first + self.right[nodes]]
        columns, found = self.feature[nodes], {}
        for column in np.unique(columns).tolist():
            own = columns == column
            cuts, place = np.unique(self.threshold[nodes[own]], return_inverse=True)
            whole = np.maximum(np.bincount(place, left[own] + right[own]), 1e-300)
            found[column] = cuts, np.maximum.accumulate(np.bincount(place, left[own]) / whole)
        return found

    def code_sets(self, node: int) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Return the codes that a test of categories sends left, and those that it sends right."""
        first, width = int(self.category[node]), int(self.category_widths[self.feature[node]])
        words = [self.category_words[first + side * width : first + (side + 1) * width] for side in (0, 1)]
        left, right = (np.flatnonzero(np.unpackbits(w.view(np.uint8), bitorder="little")) for w in words)
        return tuple(left.tolist()), tuple(np.setdiff1d(right, left).tolist())

    def depth(self) -> int:
        """Return the number of tests on the longest path of any tree.

        Examples
        --------
        >>> from farthing.trees import Forest
        >>> Forest.from_arrays(n_features=1, feature=[-1], threshold=[0], left=[-1], right=[-1],
        ...                    value=[[3.0]]).depth()
        0
        """
        starts = self.tree_starts()
        level, depth = self.offsets[:-1], 0
        while len(level := level[self.feature[level] >= 0]):
            base = starts[level]
            level = np.concatenate([base + self.left[level], base + self.right[level]])
            depth += 1
        return depth

    def route(self, node: int, value: float) -> int | None:
        """Return the node that a row goes to from a node.

        Parameters
        ----------
        node : int
            A node, numbered over the whole forest.
        value : float
            The row's encoded value of the node's feature; NaN if missing, the code if categorical.

        Returns
        -------
        int or None
            The next node, numbered over the whole forest; None if the row stays, as it does at a leaf.
        """
        feature = int(self.feature[node])
        if feature < 0:
            return None
        goes_left = self._goes_left(node, feature, float(value))
        if goes_left is None:
            if self.missing[node] == MISSING_STAY:
                return None
            goes_left = bool(self.missing[node] == MISSING_LEFT)
        return int(self._starts[node]) + int(self.left[node] if goes_left else self.right[node])

    def _goes_left(self, node: int, feature: int, value: float) -> bool | None:
        """Return the outcome of the node's test, None if the value counts as missing."""
        if math.isnan(value):
            return None
        first = int(self.category[node])
        if first >= 0:
            width = int(self.category_widths[feature])
            if not 0 <= value < width * WORD_BITS:
                return None
            word, bit = divmod(int(value), WORD_BITS)
            for goes_left, start in ((True, first), (False, first + width)):
                if int(self.category_words[start + word]) >> bit & 1:
                    return goes_left
            return None
        # Models trained on float32 compare rounded values; a double just above a threshold may round to it.
        if self.dtype == "float32":
            with np.errstate(over="ignore"):
                value = float(np.float32(value))
        threshold = float(self.threshold[node])
        return value <= threshold if self.comparator == "<=" else value < threshold
