"""The lazy view of a cascade: stage by stage, the cheapest feature of a stage first."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from farthing.costs import RowLedger
from farthing.learning.exits import ALWAYS, NEVER
from farthing.learning.score_bounds import certain
from farthing.trees import Progress
from farthing.walks import Expectation

if TYPE_CHECKING:
    from farthing.cascades.miser_cascade.staged_model import StagedModel


class StagePolicy:
    """Ask for all that a stage buys, then stop if the risk is low enough or the next stage is unaffordable.

    At the stage where a row must stop in any case, a model that curtails asks only while the label may still
    change. After a refusal, the walk continues without the feature.

    Parameters
    ----------
    model : StagedModel
        The cascade.
    """

    def __init__(self, model: StagedModel) -> None:
        self._model = model
        self._values = np.full((1, len(model.schema.names)), np.nan)
        self._refused: frozenset[int] = frozenset()
        self._stage = 0
        self._pending = model.bought(0)
        # The last finished stage that was evaluated, and its raw output.
        self._evaluated: tuple[int, NDArray[np.float64]] | None = None
        # The last finished stage whose risk was asked for, and that risk.
        self._risked: tuple[int, float] | None = None
        # The raw output of a curtailed stage.
        self._early: NDArray[np.float64] | None = None
        # The stage whose expectation was asked for last, and what `_held_errors` says of it.
        self._expected: tuple[int, tuple[int, list[float]] | None] | None = None

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the next column of the stage, or of the next stage unless the row stops here."""
        if self._early is not None:
            return None
        model = self._model
        while not self._pending:
            if self._is_last(ledger):
                return None
            # The risk is needed only where some row may stop; at NEVER the trees are not evaluated.
            threshold = model.thresholds[self._stage]
            if threshold > NEVER and self._risk() <= threshold:
                return None
            self._stage += 1
            self._pending = model.bought(self._stage)
        if model.curtails and self._is_last(ledger) and self._curtail():
            return None
        return self._pending[0]

    def _is_last(self, ledger: RowLedger) -> bool:
        """Return whether the row stops at this stage in any case."""
        model = self._model
        if self._stage == len(model.chain) - 1 or model.thresholds[self._stage] == ALWAYS:
            return True
        # A stage is bought whole or not at all: its booster is calibrated with all of its features, and the
        # array calls compare whole stages with the budget too.
        return not ledger.affords_all([*self._pending, *model.bought(self._stage + 1)])

    def _curtail(self) -> bool:
        """Return whether the label is certain, and store the output if it is."""
        model, stage = self._model, self._stage
        place, columns = int(model.chain[stage]), model.bought(stage)
        step = len(columns) - len(self._pending)
        known = model.owned_before(stage)
        known[columns[:step]] = True
        known[list(self._refused)] = False  # the bounds hold whichever way the trees send it
        low, high = model.bounds(place, step, known).scores(self._values)
        if certain(low, high)[0]:
            # The middle of the bounds: any score between them has this label.
            self._early = model.readout.read(place, (low + high) / 2)
        return self._early is not None

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just asked for."""
        self._values[0, column] = value
        self._pending.remove(column)

    def refuse(self, column: int) -> None:
        """Go on without the column just asked for."""
        self._refused |= {column}
        self.hear(column, np.nan)

    @property
    def stage(self) -> int:
        """The stage whose answers are being collected; they are looked at together."""
        return self._stage

    def expectation(self) -> Expectation | None:
        """Return what the answers of this stage are expected to do together; None if no rows are kept."""
        model, stage = self._model, self._stage
        if stage == 0:
            return None
        # The same for all questions of a stage, whose answers are looked at together.
        if self._expected is None or self._expected[0] != stage:
            self._expected = stage, self._held_errors((int(model.chain[stage - 1]), int(model.chain[stage])))
        found = self._expected[1]
        if found is None:
            return None
        n_alike, (now, then), n_left = *found, len(self._pending)
        return Expectation(
            model.readout.measure,
            now,
            now - then,
            f"{n_alike} held-out rows of similar risk; the fall is that of stage {stage + 1}, of which "
            f"{n_left} {'answer is' if n_left == 1 else 'answers are'} left",
        )

    def _held_errors(self, places: Sequence[int]) -> tuple[int, list[float]] | None:
        """Return how many held-out rows had the risk of this one at the first of some boosters.

        With their mean errors at each of these boosters; None if no rows are kept.
        """
        model = self._model
        return None if model.held_risks is None else model.similar_errors(places[0], self._risk(), places)

    def _risk(self) -> float:
        """Return the risk of the last stage that has all its answers."""
        if self._early is not None:
            return float(self._model.readout.risks(self._early)[0])
        stage = self._stage - bool(self._pending)
        if self._risked is None or self._risked[0] != stage:
            self._risked = stage, float(self._model.readout.risks(self._look())[0])
        return self._risked[1]

    def standing(self) -> tuple[str, float] | None:
        """Return the measure of `expectation` and the risk of a row that has stopped; None without rows."""
        found = self._held_errors([int(self._model.chain[self._stage])])
        return None if found is None else (self._model.readout.measure, found[1][0])

    def why_ended(self) -> str:
        """Return why the row has stopped, in words."""
        model, stage = self._model, self._stage
        place = f"stage {stage + 1} of {len(model.chain)}"
        if self._early is not None:
            return f"at {place} no answer that is left can change the label"
        if stage == len(model.chain) - 1 or model.thresholds[stage] == ALWAYS:
            return f"{place} is the last one of the budget"
        risk, threshold = self._risk(), float(model.thresholds[stage])
        if threshold > NEVER and risk <= threshold:
            return f"at {place} the risk is low enough: {risk:.3g}, at most {threshold:.3g}"
        return f"after {place} the next one costs more than is left"

    def output(self) -> NDArray[np.float64]:
        """Return the raw output of the last stage that has all its answers, shape (n_outputs,)."""
        return np.asarray((self._look() if self._early is None else self._early)[0])

    def _look(self) -> NDArray[np.float64]:
        """Return the raw output of the last finished stage, shape (1, n_outputs)."""
        model = self._model
        # A stage with open questions has not been evaluated yet.
        stage = self._stage - bool(self._pending)
        if stage < 0:
            return model.prior[np.newaxis]
        if self._evaluated is None or self._evaluated[0] != stage:
            progress = Progress(self._values, model.forest.n_outputs, model.costs)
            row, place = np.zeros(1, dtype=np.int64), int(model.chain[stage])
            outputs = model.look(progress, place, row, self._refused)
            self._evaluated = stage, outputs
        return self._evaluated[1]
