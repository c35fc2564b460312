"""Concatenating the arrays of several forests."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from farthing.trees.node_arrays import ARRAYS

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
    first = forests[0]
    for other in forests[1:]:
        for name in ("n_features", "n_outputs", "width", "comparator", "dtype"):
            if getattr(other, name) != getattr(first, name):
                raise ValueError(
                    f"cannot join forests of different {name}: "
                    f"{getattr(first, name)!r} and {getattr(other, name)!r}"
                )
        if not np.array_equal(other.category_widths, first.category_widths):
            raise ValueError("cannot join forests of different category_widths: fit them on one table")
    joined: dict[str, Any] = {
        name: np.concatenate([getattr(f, name) for f in forests])
        for name in ARRAYS
        if name not in ("offsets", "category", "category_widths")
    }
    # One entry more than forests, the total, which zip(strict=False) leaves out below.
    nodes_before = np.cumsum([0] + [f.n_nodes for f in forests])
    words_before = np.cumsum([0] + [len(f.category_words) for f in forests])
    joined["offsets"] = np.concatenate(
        [np.zeros(1, dtype=np.int64)]
        + [f.offsets[1:] + before for f, before in zip(forests, nodes_before, strict=False)]
    )
    joined["category"] = np.concatenate(
        [
            np.where(f.category >= 0, f.category + before, -1)
            for f, before in zip(forests, words_before, strict=False)
        ]
    )
    return joined
