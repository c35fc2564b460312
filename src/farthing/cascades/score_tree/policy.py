"""The lazy view of a tree of scores: pay for a node, go down, pay for what the next node adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from farthing.cascades.score_tree.tree import NO_CHILD
from farthing.costs import RowLedger
from farthing.typing import Floats

if TYPE_CHECKING:
    from farthing.cascades.score_tree.model import ScoreTreeModel


class ScoreTreePolicy:
    """Ask for the columns of a node in the order of purchase, buy its evaluation, then move to a child.

    Where a value is missing or refused the row goes on: a column counts as its mean, a tree sends the row its
    way of such values. If the evaluation of a node has a price, a column is too expensive for a row that
    could not pay for the evaluation as well; a row that cannot pay for it, or owns nothing that could be
    evaluated, ends with the scores of the node before.

    Parameters
    ----------
    model : ScoreTreeModel
        The tree, its prices and its prior, which is the output before the first node has all of its answers.
    """

    def __init__(self, model: ScoreTreeModel) -> None:
        self._model = model
        self._tree = model.tree
        self._values = np.full((1, self._tree.terms.n_features), np.nan)
        self._output = model.prior
        self._heard: list[int] = []
        self._refused: frozenset[int] = frozenset()
        self._looked = False
        self._done = False
        self._call: int | None = None
        self._enter(0)

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the node or its call, moving down when the node has been evaluated."""
        self._looked = self._looked or bool(self._heard and ledger.owned[self._heard[-1]])
        while not self._done:
            if self._pending:
                column = self._pending[0]
                if self._call is None or ledger.affords_all((column, self._call)):
                    return column
                self.hear(column, np.nan)
            elif self._call is not None:
                if self._looked:
                    return self._call
                self._done = True
            else:
                self._evaluate()
        return None

    def hear(self, column: int, value: float) -> None:
        """Take the answer for the column just asked for, or whether the evaluation is paid: NaN if not."""
        if column == self._call:
            self._call = None
            self._done = bool(np.isnan(value))
            return
        self._pending.pop(0)
        self._heard.append(column)
        self._values[0, column] = value

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self.hear(column, np.nan)

    def output(self) -> Floats:
        """Return the output of the last node that was evaluated, shape (n_outputs,)."""
        return self._output

    def _enter(self, node: int) -> None:
        self._node = node
        self._pending = [column for column in self._tree.columns(node) if column not in self._heard]
        self._call = self._model.call_of(node)

    def _evaluate(self) -> None:
        """Evaluate the node, and move to its child."""
        scores = self._tree.scores(self._node, self._values, self._refused)
        self._output = self._model.read_out(self._node, scores)[0]
        child = int(self._tree.next_nodes(self._node, scores)[0])
        self._done = child == NO_CHILD
        if not self._done:
            self._enter(child)
