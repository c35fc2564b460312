"""Bounds on the scores of a booster while some features are unknown."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Forest, Predictor, pruned
from farthing.trees.node_arrays import MISSING_STAY
from farthing.typing import Floats

# Scores are sums of rounded numbers, so bounds closer than this count as equal.
_TOLERANCE: Final = 1e-9


def node_bounds(
    forest: Forest, scores: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least and the largest scores at which a walk from each node can end.

    Parameters
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes,) or (n_nodes, width)
        The scores of a walk that ends at each node.

    Returns
    -------
    low, high : ndarray of float64, shape of the scores
        Score by score.
    """
    low, high = scores.copy(), scores.copy()
    starts = forest.tree_starts()
    # Children come after their parents, so in reverse order both children are done before their parent.
    for node in np.flatnonzero(forest.feature >= 0)[::-1].tolist():
        left, right = starts[node] + forest.left[node], starts[node] + forest.right[node]
        least, most = np.minimum(low[left], low[right]), np.maximum(high[left], high[right])
        stays = forest.missing[node] == MISSING_STAY
        low[node] = np.minimum(least, scores[node]) if stays else least
        high[node] = np.maximum(most, scores[node]) if stays else most
    return low, high


class ScoreBounds:
    """The least and the largest scores of a booster, given some of its features.

    A test of an unknown feature is replaced by the least, or the largest, score of all leaves below it, so
    the bounds hold whatever its value turns out to be.

    Parameters
    ----------
    forest : Forest
        The booster.
    known : ndarray of bool, shape (n_features,)
        Features whose values are known.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=1, feature=[0, -1, -1], threshold=[0, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]], missing=[0, 0, 0])
    >>> low, high = ScoreBounds(stump, np.array([False])).scores(np.array([[np.nan]]))
    >>> float(low[0, 0]), float(high[0, 0])
    (-1.0, 1.0)
    """

    def __init__(self, forest: Forest, known: NDArray[np.bool_]) -> None:
        # Pruning at the first unknown test leaves a tree whose leaves hold the bound of the removed subtree.
        kept = known[np.maximum(forest.feature, 0)]
        self._predictors = [
            Predictor(pruned(replace(forest, node_values=bound), kept))
            for bound in node_bounds(forest, forest.value)
        ]

    def scores(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, Floats]:
        """Return the least and the largest scores of rows, shape (n_rows, n_outputs) each."""
        low, high = (each.predict(values, n_threads=n_threads)[0] for each in self._predictors)
        return low, high


def certain(low: Floats, high: Floats) -> NDArray[np.bool_]:
    """Return whether the class with the highest score can no longer change, shape (n_rows,).

    Parameters
    ----------
    low, high : ndarray of float64, shape (n_rows, n_outputs)
        Bounds of the scores: one log-odds, or one score per class.

    Examples
    --------
    >>> certain(np.array([[0.2], [-0.1]]), np.array([[0.9], [0.3]]))
    array([ True, False])
    >>> certain(np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 0.5], [2.0, 1.5]]))
    array([ True, False])
    """
    if low.shape[1] == 1:
        return np.asarray((low[:, 0] > _TOLERANCE) | (high[:, 0] < -_TOLERANCE))
    # The class with the highest lower bound is certain if it exceeds the upper bounds of all others.
    rows = np.arange(len(low))
    top = np.argmax(low, axis=1)
    others = high.copy()
    others[rows, top] = -np.inf
    return np.asarray(low[rows, top] > others.max(axis=1) + _TOLERANCE)
