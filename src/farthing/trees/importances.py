"""How much of the output of trees each feature explains."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from farthing.trees.forest import Forest
from farthing.trees.sparse_rows import NodeValues, SparseRows
from farthing.typing import Floats


def explained_shares(forest: Forest, scores: NodeValues) -> Floats:
    """Return the share of each feature in the variance that the splits of a forest explain.

    Parameters
    ----------
    forest : Forest
        The trees; the weight of a node is its ``cover``.
    scores : ndarray of float64, shape (n_nodes, width), or SparseRows
        What a row that ends at a node adds to the output.

    Returns
    -------
    ndarray of float64, shape (n_features,)
        Sum to 1, unless no split explains anything.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.forests import BudgetTreeClassifier
    >>> X = np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])
    >>> tree = BudgetTreeClassifier(max_depth=2).fit(X, [0, 0, 1, 1])
    >>> tree.feature_importances_
    array([1., 0.])
    """
    if isinstance(scores, SparseRows):
        shares = np.zeros(forest.n_features)
        for tree, (first, last) in enumerate(pairwise(forest.offsets.tolist())):
            # Tree by tree: all zeros at once would take too much memory.
            shares += _explained(forest.trees(tree, tree + 1), scores[first:last].dense())
    else:
        shares = _explained(forest, scores)
    return shares / shares.sum() if shares.sum() > 0 else shares


def _explained(forest: Forest, scores: Floats) -> Floats:
    """Return the variance that the splits of each feature explain, shape (n_features,)."""
    n_nodes = len(forest.feature)
    roots = np.repeat(forest.offsets[:-1], np.diff(forest.offsets))
    split = forest.feature >= 0
    left, right = forest.left + roots, forest.right + roots
    weight = np.where(split, 0.0, forest.cover)
    total = weight[:, np.newaxis] * scores
    # The score of an inner node may be unused, so its mean is that of the leaves below. Children come after
    # their parents.
    for node in range(n_nodes - 1, -1, -1):
        if split[node]:
            weight[node] = weight[left[node]] + weight[right[node]]
            total[node] = total[left[node]] + total[right[node]]
    mean = np.divide(total, weight[:, np.newaxis], out=np.zeros_like(total), where=weight[:, np.newaxis] > 0)
    inner = np.flatnonzero(split)
    explained = np.zeros(len(inner))
    for child in (left[inner], right[inner]):
        explained += weight[child] * np.square(mean[child] - mean[inner]).sum(axis=1)
    return np.bincount(forest.feature[inner], weights=explained, minlength=forest.n_features).astype(
        np.float64
    )
