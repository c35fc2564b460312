"""Concatenating the arrays of several forests."""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from farthing.trees.node_arrays import ARRAYS
from farthing.trees.sparse_rows import join_values

if TYPE_CHECKING:
    from farthing.trees.forest import Forest


def join_arrays(forests: Sequence[Forest]) -> dict[str, Any]:
    """Return the arrays of the joined forest, for all fields but those that the forests share.

    Children are numbered within their tree, so only the offsets of trees and of code sets change.

    Parameters
    ----------
    forests : sequence of Forest
        One or more, of the same table and outputs.
    """
    names = ("n_features", "n_outputs", "width", "comparator", "dtype")
    shared, first = attrgetter(*names), forests[0]
    expected = shared(first)
    for other in forests[1:]:
        if shared(other) != expected:
            name, mine, its = next(
                (name, mine, its)
                for name, mine, its in zip(names, expected, shared(other), strict=True)
                if mine != its
            )
            raise ValueError(f"cannot join forests of different {name}: {mine!r} and {its!r}")
        widths = other.category_widths
        # The trees of one grower share the array.
        if widths is not first.category_widths and not np.array_equal(widths, first.category_widths):
            raise ValueError("cannot join forests of different category_widths: fit them on one table")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(f, name) for f in forests])
        for name in ARRAYS
        if name not in ("offsets", "category_widths")
    }
    joined["node_values"] = join_values([f.node_values for f in forests])
    n_trees = [f.n_trees for f in forests]
    n_nodes = [f.n_nodes for f in forests]
    n_words = [len(f.category_words) for f in forests]
    joined["offsets"] = np.zeros(sum(n_trees) + 1, dtype=np.int64)
    ends = np.concatenate([f.offsets[1:] for f in forests])
    joined["offsets"][1:] = ends + np.repeat(_before(n_nodes), n_trees)
    words_before = np.repeat(_before(n_words), n_nodes)
    joined["category"] = np.where(joined["category"] >= 0, joined["category"] + words_before, -1)
    return joined


def _before(counts: list[int]) -> NDArray[np.int64]:
    """Return the sum of the counts before each of them."""
    return np.cumsum([0, *counts[:-1]], dtype=np.int64)
