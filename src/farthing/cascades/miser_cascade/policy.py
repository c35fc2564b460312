"""The lazy view of a cascade: stage by stage, the cheapest question of a stage first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.learning.exits import ALWAYS, NEVER
from farthing.learning.score_bounds import certain
from farthing.trees import Progress

if TYPE_CHECKING:
    from farthing.cascades.miser_cascade.staged_model import Staged


class StagePolicy:
    """Ask for all that a stage buys, then stop if the risk is low enough or the next stage cannot be paid.

    At the stage where a row must stop whatever it says, a model that curtails asks only as long as the label
    may still change. A refused feature is missing, and the walk goes on without it.

    Parameters
    ----------
    model : Staged
        The cascade.
    """

    def __init__(self, model: Staged) -> None:
        self._model = model
        self._values = np.full((1, len(model.schema_.names)), np.nan)
        self._stage = 0
        self._pending = model._bought(0)
        self._told: tuple[int, NDArray[np.float64]] | None = None  # a stage and its raw output
        self._early: NDArray[np.float64] | None = None  # the raw output of a curtailed stage

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the stage, or of the next stage unless the row stops here."""
        if self._early is not None:
            return None
        while not self._pending:
            if self._is_last(ledger):
                return None
            threshold = self._model.thresholds_[self._stage]
            if threshold > NEVER and self._model._risks(self._look())[0] <= threshold:
                return None
            self._stage += 1
            self._pending = self._model._bought(self._stage)
        if self._model._curtails() and self._is_last(ledger) and self._curtail():
            return None
        return self._pending[0]

    def _is_last(self, ledger: RowLedger) -> bool:
        """Tell whether the row stops at this stage whatever it says."""
        model = self._model
        if self._stage == len(model.chain_) - 1 or model.thresholds_[self._stage] == ALWAYS:
            return True
        return not ledger.affords_all([*self._pending, *model._bought(self._stage + 1)])

    def _curtail(self) -> bool:
        """Tell whether the label is certain, and remember the output if it is."""
        model, stage = self._model, self._stage
        place, columns = int(model.chain_[stage]), model._bought(stage)
        step = len(columns) - len(self._pending)
        owned = model._owned(model.chain_[: stage + 1])
        known = owned[-2].copy() if stage else np.zeros_like(owned[-1])
        known[columns[:step]] = True
        low, high = model._bounds(place, step, known).scores(self._values)
        if certain(low, high)[0]:
            self._early = model._read(place, (low + high) / 2)
        return self._early is not None

    def hear(self, column: int, value: float) -> None:
        """Take the answer."""
        self._values[0, column] = value
        self._pending.remove(column)

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the last stage that has all its answers, shape (n_outputs,)."""
        return np.asarray((self._look() if self._early is None else self._early)[0])

    def _look(self) -> NDArray[np.float64]:
        """Return the raw output of the last finished stage, shape (1, n_outputs)."""
        stage = self._stage - bool(self._pending)
        if stage < 0:
            return self._model.prior_[np.newaxis]
        if self._told is None or self._told[0] != stage:
            model = self._model
            progress = Progress(self._values, model.forest_.n_outputs, model.costs_)
            self._told = stage, model._look(progress, int(model.chain_[stage]), np.zeros(1, dtype=np.int64))
        return self._told[1]
