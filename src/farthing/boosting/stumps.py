"""Weak learners with the largest edge: stumps and small trees that vote +1 or -1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing._core import Stumps
from farthing.table import Bins
from farthing.trees import Forest


@dataclass(frozen=True, slots=True)
class Learner:
    """A weak learner and its votes.

    Attributes
    ----------
    column : int
        What its root tests; -1 if it asks for nothing.
    fields : dict
        Its tree: the arguments of `Forest.from_arrays`. Leaves have the values -1 and +1, other nodes 0.
    votes : ndarray of int8, shape (n_rows,)
        -1 or +1 for each row that it learned from.
    """

    column: int
    fields: dict[str, Any]
    votes: NDArray[np.int8]


class StumpSearch:
    """Find, in one table, the weak learners with the largest edge, again and again as the weights move.

    A stump cuts one column in two and votes +1 on one side and -1 on the other: a number against a threshold
    between two bins, a category against a set of categories. Its edge is the sum over the rows of its vote
    times the row's signed weight, divided by the sum of all weights. The search is exact: over all
    thresholds, all sets, both signs; the sums are of integers, so any number of threads gives the same bits.

    Missing values are a third group, which votes by the sign of its own sum: it goes to the side that votes
    so (to the right if the sum is zero). Where no training row was missing, a missing value stays at the
    node, whose vote is 0.

    Parameters
    ----------
    bins : Bins
        The table.
    weights : ndarray of float64, shape (n_rows,)
        What each row counts to begin with, for the covers of the trees.
    n_threads : int
        Threads to use.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0, 5.0], [1.0, 5.0], [2.0, 5.0], [3.0, 5.0]])
    >>> search = StumpSearch(Bins(X, Schema.learn(X)), np.ones(4))
    >>> search.edges(np.array([-0.25, 0.25, 0.25, 0.25]))
    array([1., 0.])
    >>> search.learner(np.array([-0.25, 0.25, 0.25, 0.25]), column=0).votes
    array([-1,  1,  1,  1], dtype=int8)
    """

    def __init__(self, bins: Bins, weights: NDArray[np.float64], n_threads: int = 1) -> None:
        self._bins = bins
        self._core = Stumps(bins.core, weights, n_threads)

    def edges(self, signed: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the edge of the best stump of each column, shape (n_features,); 0 if a column has none.

        Parameters
        ----------
        signed : ndarray of float64, shape (n_rows,)
            The rows' weights, times their labels of -1 and +1.
        """
        edges, most = self._core.edges(signed)
        return edges / most if most else np.zeros(len(edges))

    def constant(self, vote: float) -> Learner:
        """Return the learner that asks for nothing and votes -1 or +1 on every row; its edge is |sum|."""
        leaf = Forest.constant([vote], self._bins.n_features, self._bins.category_widths)
        names = ("feature", "threshold", "left", "right", "missing", "category", "category_words", "value")
        fields = {name: getattr(leaf, name) for name in (*names, "cover")}
        return Learner(-1, fields, np.full(self._bins.n_rows, vote, dtype=np.int8))

    def learner(self, signed: NDArray[np.float64], column: int, max_depth: int = 1) -> Learner:
        """Grow a tree whose root is the best stump of a column.

        Below the root, a node takes the best stump of all columns if that raises the edge of the tree.

        Parameters
        ----------
        signed : ndarray of float64, shape (n_rows,)
            As in `edges`.
        column : int
            A column that has a stump with an edge above zero.
        max_depth : int
            Most tests on a path.
        """
        return Learner(column, *self._core.tree(signed, column, max_depth))

    def forest(self, learners: list[Learner]) -> Forest:
        """Join learners into one forest, a tree each, in the order given; there must be at least one."""
        joined: dict[str, Any] = {
            name: np.concatenate([learner.fields[name] for learner in learners])
            for name in learners[0].fields
        }
        sizes = [len(learner.fields["feature"]) for learner in learners]
        words = [len(learner.fields["category_words"]) for learner in learners]
        before = np.repeat(np.cumsum([0, *words[:-1]]), sizes)
        joined["category"] = np.where(joined["category"] >= 0, joined["category"] + before, -1)
        return Forest.from_arrays(
            n_features=self._bins.n_features,
            category_widths=self._bins.category_widths,
            offsets=np.cumsum([0, *sizes]),
            **joined,
        )
