"""Which features rows buy in each pruning of a nested path, in one number per row and feature."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Forest, Predictor


def purchase_drops(
    forest: Forest, drop: NDArray[np.int64], values: NDArray[np.floating], n_threads: int = 1
) -> NDArray[np.int64]:
    """Return, for each row and feature, the first pruning in which the feature is no longer bought.

    Parameters
    ----------
    forest : Forest
        The trees before pruning.
    drop : ndarray of int64, shape (n_nodes,)
        For each node, the first pruning in which it is no longer split.
    values : ndarray, shape (n_rows, n_features)
        The encoded rows.
    n_threads : int
        Threads to use; any number gives the same bits.

    Returns
    -------
    ndarray of int64, shape (n_rows, n_features)
        0 for what is never bought. In pruning ``j`` a row buys what has more than ``j``.

    Examples
    --------
    >>> tree = Forest.from_arrays(
    ...     n_features=2, feature=[0, -1, 1, -1, -1], threshold=[0.5, 0, 0.5, 0, 0], left=[1, -1, 3, -1, -1],
    ...     right=[2, -1, 4, -1, -1], value=[[0.0]] * 5)
    >>> purchase_drops(tree, np.array([3, 0, 1, 0, 0]), np.array([[0.0, 0.0], [1.0, 0.0]]))
    array([[3, 0],
           [3, 1]])
    """
    latest = _latest_tests(forest, drop)
    found = np.zeros((len(values), forest.n_features))
    for tree in range(forest.n_trees):
        part = forest.trees(tree, tree + 1)
        nodes = slice(int(forest.offsets[tree]), int(forest.offsets[tree + 1]))
        counter = replace(
            part,
            n_outputs=forest.n_features,
            target=np.zeros(1, dtype=np.int64),
            node_values=latest[nodes],
        )
        np.maximum(found, Predictor(counter).predict(values, n_threads=n_threads)[0], out=found)
    return found.astype(np.int64)


def _latest_tests(forest: Forest, drop: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the last pruning that tests each feature on the way to a node, shape (n_nodes, n_features)."""
    latest = np.zeros((forest.n_nodes, forest.n_features))
    # A node is not reached any more once one above it is no longer split.
    reached = np.full(forest.n_nodes, np.iinfo(np.int64).max)
    starts, level = forest.tree_starts(), forest.offsets[:-1]
    while len(level := level[forest.feature[level] >= 0]):
        split = np.minimum(reached[level], drop[level])
        columns = forest.feature[level]
        latest[level, columns] = np.maximum(latest[level, columns], split)
        children = [starts[level] + child[level] for child in (forest.left, forest.right)]
        for child in children:
            latest[child], reached[child] = latest[level], split
        level = np.concatenate(children)
    return latest
