"""How an ensemble of trees is walked: tree by tree, in order."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.trees import Forest, Predictor


class ForestPolicy:
    """Descend the trees of a forest one after another.

    A tree that a missing value stops, that is unfinished or not begun counts with its current node. Trees
    from ``end`` on do not count and are not walked; who makes a policy may set it, at first and at an end.

    Parameters
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes, width)
        What each node adds to the output, in place of its value.
    single_sums : bool
        Whether the sum is rounded to float32 after each tree.

    Attributes
    ----------
    end : int
        Number of trees that are walked; at first all.

    Examples
    --------
    >>> import numpy as np
    >>> from farthing.costs import CostSheet, RowLedger
    >>> from farthing.trees import Forest
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> policy = ForestPolicy(stump, stump.value)
    >>> policy.wants(RowLedger(CostSheet([1, 1])))
    1
    >>> policy.hear(1, 0.7)
    >>> policy.output()
    array([1.])
    """

    def __init__(self, forest: Forest, scores: NDArray[np.float64], *, single_sums: bool = False) -> None:
        if scores.ndim != 2 or len(scores) != len(forest.feature):
            raise ValueError(f"scores must have shape ({len(forest.feature)}, width); got {scores.shape}")
        self._forest = forest
        self._scores = scores
        self._sum_dtype = np.float32 if single_sums else np.float64
        self.end = forest.n_trees
        self._tree = 0
        self._nodes: NDArray[np.int64] = forest.offsets[:-1].copy()

    @classmethod
    def of(cls, ready: Predictor) -> Self:
        """Walk the trees that a predictor was made for, with its scores and its sums."""
        return cls(ready.forest, ready.scores, single_sums=ready.single_sums)

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - trees go their way whatever it costs
        """Return the column that the first unfinished tree tests next, None after the last tree."""
        while self._tree < self.end:
            column = int(self._forest.feature[self._nodes[self._tree]])
            if column >= 0:
                return column
            self._tree += 1
        return None

    def hear(self, column: int, value: float) -> None:  # noqa: ARG002 - it is the column of the current node
        """Go down one step in the current tree, or leave the tree where the value says to stay."""
        node = self._forest.route(int(self._nodes[self._tree]), value)
        if node is None:
            self._tree += 1
        else:
            self._nodes[self._tree] = node

    def output(self) -> NDArray[np.float64]:
        """Return the sum of the current nodes' scores, shape (n_outputs,).

        The compiled predictor makes the same additions in the same order, so that both give the same bits.
        """
        total = np.zeros(self._forest.n_outputs, dtype=self._sum_dtype)
        columns = self._forest.target[: self.end, np.newaxis] + np.arange(self._scores.shape[1])
        scores = self._scores[self._nodes[: self.end]].astype(self._sum_dtype)
        np.add.at(total, columns, scores)  # one by one, in this order
        return total.astype(np.float64)
