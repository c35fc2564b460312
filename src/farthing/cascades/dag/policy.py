"""The lazy view of a graph of states: all questions of a purchase, then the next decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from farthing.costs import RowLedger
from farthing.typing import Floats

if TYPE_CHECKING:
    from farthing.cascades.dag.model import StateGraphModel


class GraphPolicy:
    """Ask for what the state lacks, the cheapest column first; then stop, or buy what the policy says.

    A sensor is bought whole or not at all: one that the row cannot pay for is no action. After a refusal the
    walk goes on without the column, which is then missing for classifiers and policies.

    Parameters
    ----------
    model : StateGraphModel
        The fitted graph.
    """

    def __init__(self, model: StateGraphModel) -> None:
        self._model = model
        self._values = np.full((1, len(model.schema)), np.nan)
        self._refused: frozenset[int] = frozenset()
        self._state = 0
        # The last state all of whose columns were asked for; None before the root's are.
        self._complete: int | None = None
        self._pending = model.questions_of(0, np.zeros(len(model.schema), dtype=np.bool_))
        self._stopped = False

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the state, or of the one that its policy chooses."""
        model = self._model
        while not self._pending and not self._stopped:
            self._complete = self._state
            owned = model.states[self._state]
            ends = model.graph.next_states(self._state)
            paid = [ledger.affords_all(model.questions_of(end, owned)) for end in ends]
            actions, _ = model.act(self._state, self._values, np.array([[True, *paid]]), self._refused)
            self._stopped = not actions[0]
            if not self._stopped:
                self._state = ends[int(actions[0]) - 1]
                self._pending = model.questions_of(self._state, owned)
        return self._pending[0] if self._pending else None

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for."""
        self._values[0, column] = value
        self._pending.remove(column)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self.hear(column, np.nan)

    def output(self) -> Floats:
        """Return the probabilities by the last complete state, shape (n_classes,)."""
        model = self._model
        if self._complete is None:
            return model.prior
        # Columns of an incomplete purchase are not read: they are no columns of that state.
        return np.asarray(model.probabilities(self._complete, self._values, self._refused)[0])
