"""Pruning: forests in which some inner nodes become leaves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.trees.forest import Forest
from farthing.trees.node_arrays import MISSING_STAY


def pruned(forest: Forest, kept: NDArray[np.bool_]) -> Forest:
    """Return the forest in which only some nodes stay split; the others become leaves.

    Parameters
    ----------
    forest : Forest
        The trees.
    kept : ndarray of bool, shape (n_nodes,)
        Which inner nodes stay split. Nodes below one that does not are removed, whatever their entry. Entries
        of leaves are ignored.

    Returns
    -------
    Forest
        The same trees in the same order; the remaining nodes keep their order, too.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> pruned(stump, np.array([False, False, False])).feature
    array([-1], dtype=int32)
    """
    split = np.asarray(kept, dtype=np.bool_) & (forest.feature >= 0)
    starts = forest.tree_starts()
    alive = np.zeros(forest.n_nodes, dtype=np.bool_)
    level = forest.offsets[:-1]
    while len(level):
        alive[level] = True
        level = level[split[level]]
        base = starts[level]
        level = np.concatenate([base + forest.left[level], base + forest.right[level]])
    split &= alive
    # New number of each remaining node. The order stays, so children still come after their parents.
    place = np.cumsum(alive) - 1
    base = place[starts]

    def child(name: str) -> NDArray[np.int64]:
        to = getattr(forest, name)
        # The inner np.where keeps the -1 of leaves out of the lookup.
        return np.where(split, place[np.where(split, starts + to, 0)] - base, -1)[alive]

    leaf = ~split[alive]
    arrays: dict[str, Any] = {
        "feature": np.where(leaf, -1, forest.feature[alive]),
        "threshold": np.where(leaf, 0.0, forest.threshold[alive]),
        "left": child("left"),
        "right": child("right"),
        "missing": np.where(leaf, MISSING_STAY, forest.missing[alive]),
        "cover": forest.cover[alive],
    }
    category, words = _sets(forest, np.where(leaf, -1, forest.category[alive]), arrays["feature"])
    return Forest.from_arrays(
        value=forest.node_values[alive],
        n_features=forest.n_features,
        n_outputs=forest.n_outputs,
        offsets=np.concatenate([place[forest.offsets[:-1]], [alive.sum()]]),
        target=forest.target,
        category=category,
        category_words=words,
        category_widths=forest.category_widths,
        comparator=forest.comparator,
        dtype=forest.dtype,
        **arrays,
    )


def _sets(
    forest: Forest, category: NDArray[np.int64], feature: NDArray[np.int32]
) -> tuple[NDArray[np.int64], NDArray[np.uint64]]:
    """Return the new first words of the code sets of the remaining nodes, and the words of these sets."""
    nodes = np.flatnonzero(category >= 0)
    nodes = nodes[np.argsort(category[nodes])]  # the sets stay in their order
    lengths = 2 * forest.category_widths[feature[nodes]]
    begins = np.cumsum(lengths) - lengths
    # The old position of every word that is kept: each set is a run from category[node] on.
    source = np.repeat(category[nodes] - begins, lengths) + np.arange(lengths.sum())
    moved = category.copy()
    moved[nodes] = begins
    return moved, forest.category_words[source]
