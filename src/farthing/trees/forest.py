"""The flat node array: the one tree format of every learner, the file format and the importers.

All trees are stored one after another in a structure of arrays; ``offsets`` gives the first node of each. A
child is numbered from the first node of its own tree and always comes after its parent::

    node        0    1    2  |  3    4    5    6    7      two trees
    offsets     0            |  3                   8
    left        1   -1   -1  |  1   -1    3   -1   -1      -1: a leaf
    right       2   -1   -1  |  2   -1    4   -1   -1

A categorical node has ``2 * width`` words of 64 bits in ``category_words``, where ``width`` is that of its
feature: first the set of codes that go left, then the set that go right (left wins if a code is in both). A
code in neither set, such as a category that no training row of the node had, counts as missing.

The values of nodes are a matrix, or `SparseRows` where most of them are zero, as with many classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property, lru_cache
from typing import Any, Final, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from farthing._core import ForestArrays
from farthing.trees.forest_nodes import ForestNodes
from farthing.trees.join import join_arrays
from farthing.trees.node_arrays import (
    ARRAYS,
    MISSING_STAY,
    SCALARS,
)
from farthing.trees.sparse_rows import NodeValues, SparseRows, compact, dense_values, same_values
from farthing.trees.validation import validate

# The target of a single tree that adds to the first output.
_FIRST_OUTPUT: Final = np.zeros(1, dtype=np.int64)
_FIRST_OUTPUT.flags.writeable = False


@lru_cache(maxsize=1024)
def _target(output: int, n_trees: int) -> NDArray[np.int64]:
    """Return the target of trees that all add to one output; read-only, and shared by them."""
    target = np.full(n_trees, output, dtype=np.int64)
    target.flags.writeable = False
    return target


class Forest(ForestNodes):
    """Trees as a structure of arrays.

    The constructor checks types and lengths only, in constant time; `validate` checks everything the compiled
    predictor relies on. The arrays are read-only views, so a forest is an immutable value.

    Parameters
    ----------
    n_features : int
        Columns of the table.
    n_outputs : int
        Columns of the raw output.
    offsets : ndarray of int64, shape (n_trees + 1,)
        Nodes of tree ``t`` are ``offsets[t]`` to ``offsets[t + 1]``, the root first.
    target : ndarray of int64, shape (n_trees,)
        First output column that the tree adds its value to.
    feature : ndarray of int32, shape (n_nodes,)
        Column that the node tests, -1 at a leaf.
    threshold : ndarray of float64, shape (n_nodes,)
        A row whose value compares true with it goes left.
    left, right : ndarray of int64, shape (n_nodes,)
        Children, numbered from the first node of the tree; -1 at a leaf.
    missing : ndarray of uint8, shape (n_nodes,)
        Where a row goes if the value is missing: 0 left, 1 right, 2 it stays at this node.
    category : ndarray of int64, shape (n_nodes,)
        First word of the node's two code sets, -1 for a numeric test and at a leaf.
    category_words : ndarray of uint64, shape (n_words,)
        The code sets; code ``c`` is bit ``c % 64`` of word ``c // 64`` of a set.
    category_widths : ndarray of int64, shape (n_features,)
        Words in one set of each feature, 0 for a numeric one.
    node_values : ndarray of float64, shape (n_nodes, width), or SparseRows
        Value or class counts at every node, inner ones included: unfinished walks and pruned trees use them.
    cover : ndarray of float64, shape (n_nodes,)
        Weight of the training rows that reached the node.
    comparator : {"<=", "<"}
        How a value is compared with the threshold.
    dtype : {"float64", "float32"}
        Precision that a value is rounded to before it is compared.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> stump.validate()
    Forest(n_trees=1, n_nodes=3, n_features=2, n_outputs=1)
    >>> stump.route(0, 0.2), stump.route(0, 0.7), stump.route(0, float("nan"))
    (1, 2, None)
    """

    @classmethod
    def from_arrays(
        cls,
        *,
        n_features: int,
        feature: ArrayLike,
        threshold: ArrayLike,
        left: ArrayLike,
        right: ArrayLike,
        value: ArrayLike | SparseRows,
        n_outputs: int | None = None,
        offsets: ArrayLike | None = None,
        target: ArrayLike | None = None,
        missing: ArrayLike | None = None,
        category: ArrayLike | None = None,
        category_words: ArrayLike | None = None,
        category_widths: ArrayLike | None = None,
        cover: ArrayLike | None = None,
        comparator: str = "<=",
        dtype: str = "float64",
    ) -> Self:
        """Build a forest from array-likes, with defaults for what is left out.

        The defaults are one tree for ``offsets``, the first column for ``target``, stay for ``missing``, only
        numeric tests for ``category``, zeros for ``cover`` and the width of ``value`` for ``n_outputs``.
        """
        values: NodeValues = (
            value if isinstance(value, SparseRows) else np.ascontiguousarray(value, dtype=np.float64)
        )
        n_nodes = len(values)
        bounds = np.ascontiguousarray([0, n_nodes] if offsets is None else offsets, dtype=np.int64)
        given: dict[str, ArrayLike] = {
            "offsets": bounds,
            "target": np.zeros(len(bounds) - 1) if target is None else target,
            "feature": feature,
            "threshold": threshold,
            "left": left,
            "right": right,
            "missing": np.full(n_nodes, MISSING_STAY) if missing is None else missing,
            "category": np.full(n_nodes, -1) if category is None else category,
            "category_words": [] if category_words is None else category_words,
            "category_widths": np.zeros(n_features) if category_widths is None else category_widths,
            "cover": np.zeros(n_nodes) if cover is None else cover,
        }
        arrays: dict[str, Any] = {
            name: np.ascontiguousarray(given[name], dtype=kind) for name, (kind, _, _) in ARRAYS.items()
        }
        outputs = values.shape[1] if n_outputs is None else n_outputs
        return cls(
            n_features=n_features,
            n_outputs=outputs,
            comparator=comparator,
            dtype=dtype,
            node_values=values,
            **arrays,
        )

    @classmethod
    def from_core(
        cls, arrays: Mapping[str, Any], n_features: int, category_widths: NDArray[np.int64]
    ) -> Self:
        """Build one tree from the arrays of the compiled grower, without checking what it guarantees.

        Boosters grow tens of thousands of small trees, where the checks of `from_arrays` would take longer
        than the growing.

        Parameters
        ----------
        arrays : mapping of str to ndarray
            One array per field, except for those that locate the tree in a forest; ``value`` may be the parts
            of `SparseRows`.
        n_features : int
            Columns of the table.
        category_widths : ndarray of int64, shape (n_features,)
            As the field.
        """
        tree = object.__new__(cls)
        value = arrays["value"]
        if isinstance(value, tuple):
            starts, columns, entries, width = value
            value = SparseRows(width, starts, columns, entries)
        per_node = {name: array for name, array in arrays.items() if name != "value"}
        # A frozen dataclass refuses setattr; its fields live in __dict__.
        tree.__dict__.update(
            n_features=n_features,
            n_outputs=value.shape[1],
            offsets=np.array([0, len(value)], dtype=np.int64),
            node_values=value,
            target=_FIRST_OUTPUT,
            category_widths=category_widths,
            comparator="<=",
            dtype="float64",
            **per_node,
        )
        for array in per_node.values():
            array.flags.writeable = False
        if not isinstance(value, SparseRows):
            value.flags.writeable = False
        tree.offsets.flags.writeable = False
        return tree

    @classmethod
    def constant(cls, value: ArrayLike, n_features: int, category_widths: ArrayLike | None = None) -> Self:
        """Return a tree of one node, which tests no feature.

        Examples
        --------
        >>> Forest.constant([3.0], n_features=2)
        Forest(n_trees=1, n_nodes=1, n_features=2, n_outputs=1)
        """
        return cls.from_arrays(
            n_features=n_features,
            feature=[-1],
            threshold=[0.0],
            left=[-1],
            right=[-1],
            value=np.atleast_2d(np.asarray(value, dtype=np.float64)),
            category_widths=category_widths,
        )

    def scaled(self, factor: float) -> Self:
        """Return the same trees with all values multiplied by a factor."""
        return replace(self, node_values=self.value * factor)

    def to_output(self, output: int, n_outputs: int) -> Self:
        """Return the same trees, all adding to one of several outputs.

        Examples
        --------
        >>> Forest.constant([3.0], n_features=2).to_output(1, 3)
        Forest(n_trees=1, n_nodes=1, n_features=2, n_outputs=3)
        """
        if not 0 <= output <= n_outputs - self.width:
            raise ValueError(f"output must lie between 0 and {n_outputs - self.width}; got {output}")
        # Not `replace`, which checks all arrays again: boosters move tens of thousands of small trees.
        moved = object.__new__(type(self))
        moved.__dict__.update(self.__dict__, target=_target(output, self.n_trees), n_outputs=n_outputs)
        moved.__dict__.pop("compiled", None)  # the only cached value that depends on the outputs
        return moved

    def trees(self, begin: int, end: int) -> Self:
        """Return the trees from ``begin`` up to, not including, ``end`` as a forest.

        Examples
        --------
        >>> leaf = Forest.constant([3.0], n_features=1)
        >>> Forest.concat([leaf, leaf.scaled(2.0)]).trees(1, 2).value
        array([[6.]])
        """
        if not 0 <= begin < end <= self.n_trees:
            raise ValueError(f"there are trees 0 to {self.n_trees}; got {begin} to {end}")
        first, last = int(self.offsets[begin]), int(self.offsets[end])
        cut: dict[str, Any] = {
            name: getattr(self, name)[first:last] for name, (_, _, per_node) in ARRAYS.items() if per_node
        }
        # The code sets of consecutive trees are a contiguous slice of words, which is cut out and renumbered.
        # Without a categorical test the initial values make the slice empty.
        tests = np.flatnonzero(cut["category"] >= 0)
        ends = cut["category"][tests] + 2 * self.category_widths[cut["feature"][tests]]
        words = slice(
            int(cut["category"][tests].min(initial=len(self.category_words))), int(ends.max(initial=0))
        )
        cut["node_values"] = self.node_values[first:last]
        cut["category"] = np.where(cut["category"] >= 0, cut["category"] - words.start, -1)
        return replace(
            self,
            **cut,
            category_words=self.category_words[words],
            offsets=self.offsets[begin : end + 1] - first,
            target=self.target[begin:end],
        )

    def begins(self, other: Forest) -> bool:
        """Return whether the trees are the first ones of another forest of the same table and outputs.

        Examples
        --------
        >>> leaf = Forest.constant([3.0], n_features=1)
        >>> leaf.begins(Forest.concat([leaf, leaf.scaled(2.0)]))
        True
        """
        if self is other:
            return True
        if (self.n_outputs, self.comparator, self.dtype) != (other.n_outputs, other.comparator, other.dtype):
            return False
        # Where the other forest has fewer trees, its slices are shorter, hence not equal.
        if self.n_features != other.n_features or self.n_nodes > other.n_nodes:
            return False
        return all(
            np.array_equal(getattr(self, name), getattr(other, name)[: len(getattr(self, name))])
            for name in ARRAYS
        ) and same_values(self.node_values, other.node_values[: self.n_nodes])

    @classmethod
    def concat(cls, forests: Sequence[Forest]) -> Self:
        """Join forests of the same table and outputs into one, keeping the order of the trees.

        Examples
        --------
        >>> leaf = Forest.from_arrays(
        ...     n_features=1, feature=[-1], threshold=[0], left=[-1], right=[-1], value=[[3.0]])
        >>> Forest.concat([leaf, leaf]).n_trees
        2
        """
        if not forests:
            raise ValueError("concat needs at least one forest; got none")
        first = forests[0]
        if len(forests) == 1 and isinstance(first, cls):
            return first  # forests are values
        joined = join_arrays(forests)
        return cls(
            n_features=first.n_features,
            n_outputs=first.n_outputs,
            category_widths=first.category_widths,
            comparator=first.comparator,
            dtype=first.dtype,
            **joined,
        )

    @property
    def value(self) -> NDArray[np.float64]:
        """The values of the nodes with all zeros, shape (n_nodes, width); made anew if they are sparse."""
        return dense_values(self.node_values)

    def compacted(self) -> Self:
        """Return the same trees, with sparse values if that pays.

        Examples
        --------
        >>> leaf = Forest.constant(np.eye(1000)[7], n_features=2)
        >>> leaf.node_values.nbytes, leaf.compacted().node_values.nbytes
        (8000, 28)
        """
        values = compact(self.node_values)
        return self if values is self.node_values else replace(self, node_values=values)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Return the arrays by name, the dense values among them."""
        return {name: getattr(self, name) for name in ARRAYS} | {"value": self.value}

    @cached_property
    def tree_numbers(self) -> NDArray[np.int64]:
        """The numbers of the trees, from 0 on, shape (n_trees,)."""
        numbers = np.arange(self.n_trees)
        numbers.setflags(write=False)
        return numbers

    @cached_property
    def compiled(self) -> ForestArrays:
        """The trees in the form of the compiled core, which shares the memory of the arrays."""
        arrays = {name: getattr(self, name) for name in ARRAYS if name != "cover"}
        return ForestArrays(
            n_features=self.n_features,
            n_outputs=self.n_outputs,
            **arrays,
            strict=self.comparator == "<",
            single=self.dtype == "float32",
        )

    def validate(self) -> Self:
        """Check everything that the compiled predictor relies on.

        Returns
        -------
        Forest
            Itself.

        Raises
        ------
        ValueError
            If following the arrays could leave them, loop, or give a value that is not finite.
        """
        validate(self)
        return self

    def __eq__(self, other: object) -> bool:
        """Compare bit by bit, NaN and the sign of zero included."""
        if not isinstance(other, Forest):
            return NotImplemented
        if any(getattr(self, name) != getattr(other, name) for name in SCALARS):
            return False
        pairs = ((getattr(self, name), getattr(other, name)) for name in ARRAYS)
        return all(
            mine.shape == theirs.shape and np.array_equal(_bytes(mine), _bytes(theirs))
            for mine, theirs in pairs
        ) and same_values(self.node_values, other.node_values)

    def __hash__(self) -> int:
        # Two arrays are enough to tell forests apart in practice; `__eq__` compares all.
        return hash((self.n_features, self.n_outputs, self.feature.tobytes(), self.threshold.tobytes()))

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle through the constructor, so that a copy has read-only arrays too."""
        return _rebuild, ({f.name: getattr(self, f.name) for f in fields(self)},)

    def __repr__(self) -> str:
        return (
            f"Forest(n_trees={self.n_trees}, n_nodes={self.n_nodes}, "
            f"n_features={self.n_features}, n_outputs={self.n_outputs})"
        )


# A function, since pickle passes positional arguments only and all fields are keyword-only.
def _rebuild(state: dict[str, Any]) -> Forest:
    return Forest(**state)


def _bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    return array.reshape(-1).view(np.uint8)
