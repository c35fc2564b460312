"""The routing tree of a branching cascade: it is grown with prices, and its leaves are the branches."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.learning.losses import Loss
from farthing.trees import Forest, Predictor


def with_branches(tree: Forest, loss: Loss, rows: TrainingSet) -> Forest:
    """Return a tree of class weights whose values are the branch and the scores of each node instead.

    Parameters
    ----------
    tree : Forest
        One tree; values are class weights, shape (n_nodes, n_classes).
    loss : Loss
        Turns class weights into scores.
    rows : TrainingSet
        The rows that the tree was grown on.

    Returns
    -------
    Forest
        Values are of shape (n_nodes, 1 + n_scores); the branch of inner nodes is -1.
    """
    labels = np.arange(rows.n_classes)
    prior = np.bincount(rows.target, weights=rows.weights, minlength=rows.n_classes) / rows.weights.sum()
    branches = np.full(tree.n_nodes, -1.0)
    leaves = tree.feature < 0
    branches[leaves] = np.arange(leaves.sum())
    # The prior counts as one more row, so that a few rows cannot rule out a class.
    scores = np.array([loss.start(labels, counts + prior) for counts in tree.value])
    return replace(tree, node_values=np.column_stack([branches, scores]), n_outputs=1 + scores.shape[1])


def branch_numbers(router: Predictor, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.int64]:
    """Return the branch of each row of an encoded table, regardless of its cost, shape (n_rows,).

    Parameters
    ----------
    router : Predictor
        Predictor of a tree from `with_branches`.
    values : ndarray, shape (n_rows, n_features)
    n_threads : int
        Threads to use; any number gives the same bits.
    """
    outputs, _ = router.predict(values, n_threads=n_threads)
    return outputs[:, 0].astype(np.int64)


def nearest_rows(
    tree: Forest, branch_of: NDArray[np.int64], branch: int, shuffled: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return all rows: those of a branch, then those of others, by the divergence of their classes.

    Parameters
    ----------
    tree : Forest
        The routing tree; values are class weights.
    branch_of : ndarray of int64, shape (n_rows,)
        The branch of each row.
    branch : int
        The branch.
    shuffled : ndarray of int64, shape (n_rows,)
        A random rank of each row, which orders the rows of one branch.

    Returns
    -------
    ndarray of int64, shape (n_rows,)
    """
    counts = tree.value[tree.feature < 0]
    # As in `with_branches`, one row of the prior; tiny keeps the logarithm finite for classes without rows.
    shares = counts + counts.sum(axis=0) / counts.sum() + np.finfo(np.float64).tiny
    logs = np.log(shares / shares.sum(axis=1, keepdims=True))
    divergence = (np.exp(logs[branch]) * (logs[branch] - logs)).sum(axis=1)
    divergence[branch] = -1.0  # its own rows come first
    return np.lexsort((shuffled, divergence[branch_of]))


def path_columns(tree: Forest, leaf: int) -> list[int]:
    """Return the columns that are tested on the way to a leaf, from the root on.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> path_columns(stump, 2)
    [1]
    """
    tested: list[int] = []
    # Nodes have no parent pointers; trees are small, so the parent is searched for.
    while leaf > 0:
        leaf = int(np.flatnonzero((tree.left == leaf) | (tree.right == leaf))[0])
        tested.insert(0, int(tree.feature[leaf]))
    return list(dict.fromkeys(tested))
