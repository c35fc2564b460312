"""The lazy view of a cascade: stage by stage, the cheapest question of a stage first."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.cascades.chain import by_price
from farthing.cascades.exits import NEVER
from farthing.costs import RowLedger
from farthing.trees import Progress

if TYPE_CHECKING:
    from farthing.cascades.miser_cascade import MiserCascade


class StagePolicy:
    """Ask for all that a stage buys, then stop if the risk is low enough or the next stage cannot be paid.

    A refused feature is missing, and the walk goes on without it.

    Parameters
    ----------
    model : MiserCascade
        The cascade.
    """

    def __init__(self, model: MiserCascade) -> None:
        self._model = model
        self._values = np.full((1, len(model.schema_.names)), np.nan)
        self._stage = 0
        self._pending = self._bought(0)
        self._told: tuple[int, NDArray[np.float64]] | None = None  # a stage and its raw output

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the stage, or of the next stage unless the row stops here."""
        while not self._pending:
            last = self._stage == len(self._model.chain_) - 1
            if last or not ledger.affords_all(bought := self._bought(self._stage + 1)):
                return None
            threshold = self._model.thresholds_[self._stage]
            if threshold > NEVER and self._model._risks(self._look())[0] <= threshold:
                return None
            self._stage += 1
            self._pending = bought
        return self._pending[0]

    def hear(self, column: int, value: float) -> None:
        """Take the answer."""
        self._values[0, column] = value
        self._pending.remove(column)

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the last stage that has all its answers, shape (n_outputs,)."""
        return np.asarray(self._look()[0])

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

    def _bought(self, stage: int) -> list[int]:
        """Return the columns that a stage buys beside those before it, the cheapest first."""
        owned = self._model._owned(self._model.chain_[: stage + 1])
        new = owned[-1] & ~owned[-2] if stage else owned[-1]
        columns: list[int] = by_price(self._model.costs_, np.flatnonzero(new).astype(np.int64)).tolist()
        return columns
