"""The routes of a branching cascade: a tree that knows the prices, whose leaves are the branches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.learning.booster import Floats
from farthing.learning.losses import Loss
from farthing.trees import Forest
from farthing.trees.forest import MISSING_LEFT, MISSING_RIGHT, MISSING_STAY


def no_one_stays(tree: Forest) -> Forest:
    """Return a tree in which no row stays half way.

    A value that is missing goes with most rows, unless training rows without it went elsewhere.
    """
    inner = tree.feature >= 0
    more = np.where(tree.cover[tree.left] >= tree.cover[tree.right], MISSING_LEFT, MISSING_RIGHT)
    stays = inner & (tree.missing == MISSING_STAY)
    return replace(tree, missing=np.where(stays, more, tree.missing).astype(np.uint8))


def told(routes: Forest, loss: Loss, target: NDArray[Any], weights: Floats, n_classes: int) -> Forest:
    """Return a tree of counts of classes with the branch and the scores of each node for values."""
    labels = np.arange(n_classes)
    prior = np.bincount(target, weights=weights, minlength=n_classes) / weights.sum()
    branches = np.full(routes.n_nodes, -1.0)
    leaves = routes.feature < 0
    branches[leaves] = np.arange(leaves.sum())
    # A row's worth of the prior, so that no class is ruled out by a few rows.
    scores = np.array([loss.start(labels, counts + prior) for counts in routes.value])
    return replace(routes, value=np.column_stack([branches, scores]), n_outputs=1 + scores.shape[1])


def nearest(
    routes: Forest, branch_of: NDArray[np.int64], branch: int, lots: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return all rows: those of a branch, then those of others, by the divergence of their classes.

    RandomStream decide among the rows of one branch.
    """
    counts = routes.value[routes.feature < 0]
    shares = counts + counts.sum(axis=0) / counts.sum() + np.finfo(np.float64).tiny
    logs = np.log(shares / shares.sum(axis=1, keepdims=True))
    divergence = (np.exp(logs[branch]) * (logs[branch] - logs)).sum(axis=1)
    divergence[branch] = -1.0
    return np.lexsort((lots, divergence[branch_of]))


def path(routes: Forest, leaf: int) -> list[int]:
    """Return the columns that are tested on the way to a leaf, from the root on.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> path(stump, 2)
    [1]
    """
    tested: list[int] = []
    while leaf > 0:
        leaf = int(np.flatnonzero((routes.left == leaf) | (routes.right == leaf))[0])
        tested.insert(0, int(routes.feature[leaf]))
    return list(dict.fromkeys(tested))
