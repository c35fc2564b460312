"""The lazy view of a graph of states: all questions of a purchase, then the next decision."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.typing import Floats

if TYPE_CHECKING:
    from farthing.cascades.dag.model import StateGraphModel


class GraphPolicy:
    """Ask for what the state lacks, the cheapest column first; then stop, or buy what the policy says.

    A sensor is bought whole or not at all: one that the row cannot pay for, with the evaluation of the state
    that it leads to, is no action. After a refusal the walk goes on without the column, which is then missing
    for classifiers and policies.

    Parameters
    ----------
    model : StateGraphModel
        The fitted graph.
    """

    def __init__(self, model: StateGraphModel) -> None:
        self._model = model
        self._values = np.full((1, len(model.schema)), np.nan)
        self._refused: frozenset[int] = frozenset()
        self._looked = False
        # The state whose columns are asked for; None before the root.
        self._state: int | None = None
        # The last state whose classifier was evaluated.
        self._evaluated: int | None = None
        self._pending: list[int] = []
        self._stopped = model.is_idle

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the state, the call of its classifier, or what its policy chooses."""
        model = self._model
        while not self._pending and not self._stopped:
            if self._state is None:
                self._enter(0, np.zeros(len(model.schema), dtype=np.bool_), ledger)
                continue
            state, owned = self._state, model.states[self._state]
            if model.is_evaluated(state) and self._must_call(state):
                return self._call(state)
            ends = model.graph.next_states(state)
            paid = [ledger.affords_all(model.price_of(end, owned)) for end in ends]
            actions, _ = model.act(state, self._values, np.array([[True, *paid]]), self._refused)
            if actions[0]:
                self._enter(ends[int(actions[0]) - 1], owned, ledger)
            elif self._must_call(state):
                return self._call(state)
            else:
                self._stopped = True
        return self._pending[0] if self._pending else None

    def _enter(self, state: int, owned: NDArray[np.bool_], ledger: RowLedger) -> None:
        if state == 0 and not ledger.affords_all(self._model.price_of(0, owned)):
            self._stopped = True
            return
        self._state, self._pending = state, self._model.questions_of(state, owned)

    def _must_call(self, state: int) -> bool:
        """Evaluate a state, and return whether that has a price which is not paid yet."""
        if self._evaluated == state:
            return False
        # Of a row that refused everything nothing is known, and a classifier would answer what it answers
        # for all such rows: that needs no call.
        if self._looked and self._call(state) >= 0:
            return True
        self._evaluated = state
        return False

    def _call(self, state: int) -> int:
        return int(self._model.calls[state])

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for, or that of a call."""
        if column >= len(self._model.schema):
            if np.isnan(value):  # it is over the budget, so no more can be known
                self._stopped = True
            else:
                self._evaluated = self._state
            return
        self._looked = True
        self._take(column, value)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self._take(column, np.nan)

    def _take(self, column: int, value: float) -> None:
        self._values[0, column] = value
        self._pending.remove(column)

    def output(self) -> Floats:
        """Return the probabilities by the last state that was evaluated, shape (n_classes,)."""
        if self._evaluated is None:
            return self._model.prior
        # Columns of an incomplete purchase are not read: they are no columns of that state.
        return np.asarray(self._model.probabilities(self._evaluated, self._values, self._refused)[0])
