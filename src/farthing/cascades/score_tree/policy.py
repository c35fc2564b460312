"""The lazy view of a tree of scores: pay for a node, go down, pay for what the next node adds."""

from __future__ import annotations

import numpy as np

from farthing.cascades.score_tree.tree import NO_CHILD, ScoreTree
from farthing.costs import RowLedger
from farthing.typing import Floats


class ScoreTreePolicy:
    """Ask for the columns of a node in the order of purchase, then move to a child.

    Where a value is missing or refused the row goes on: a column counts as its mean, a tree sends the row its
    way of such values.

    Parameters
    ----------
    tree : ScoreTree
        The tree.
    prior : ndarray of float64, shape (n_outputs,)
        The output before the first node has all of its answers.
    """

    def __init__(self, tree: ScoreTree, prior: Floats) -> None:
        self._tree = tree
        self._values = np.full((1, tree.terms.n_features), np.nan)
        self._output = prior
        self._heard: set[int] = set()
        self._refused: frozenset[int] = frozenset()
        self._node: int = 0
        self._done = False
        self._enter(0)

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - the walk itself keeps the budget
        """Return the next column of the node, moving down when the node has all of its columns."""
        while not self._pending and not self._done:
            scores = self._tree.scores(self._node, self._values, self._refused)
            self._output = scores[0]
            child = int(self._tree.next_nodes(self._node, scores)[0])
            self._done = child == NO_CHILD
            if not self._done:
                self._enter(child)
        return self._pending[0] if self._pending else None

    def hear(self, column: int, value: float) -> None:
        """Take the answer for the column just asked for."""
        self._pending.pop(0)
        self._heard.add(column)
        self._values[0, column] = value

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self.hear(column, np.nan)

    def output(self) -> Floats:
        """Return the scores of the last node that had all of its answers, shape (n_outputs,)."""
        return self._output

    def _enter(self, node: int) -> None:
        self._node = node
        self._pending = [column for column in self._tree.columns(node) if column not in self._heard]
