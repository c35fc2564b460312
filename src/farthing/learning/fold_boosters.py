"""The boosters of all folds, grown round by round, with scores of the rows that each fold holds out."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer
from farthing.typing import Floats


class FoldBoosters:
    """The boosters of all folds of a trainer, side by side.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows and folds, and how trees are grown.
    """

    def __init__(self, trainer: OutOfFoldTrainer) -> None:
        self._trainer = trainer
        self._boostings = [trainer.boosting(fold.learn) for fold in trainer.folds]

    def boost(self, columns: Columns, n_rounds: int) -> None:
        """Add rounds over some columns; none without a column."""
        for boosting, fold in zip(self._boostings, self._trainer.folds, strict=True):
            grow = self._trainer.grow(fold.learn, columns)
            for _ in range(n_rounds if len(columns) else 0):
                if not boosting.round(grow, must_split=True):
                    break

    def loss(self) -> float:
        """Return the mean loss of the held-out rows."""
        return self._trainer.held_out_loss(self._held_out())

    def loss_after(self, columns: Columns, n_rounds: int) -> float:
        """Return the loss after more rounds over some columns; the rounds are undone."""
        # A stack, since the number of folds, and so of contexts to undo, varies.
        with ExitStack() as trials:
            for boosting in self._boostings:
                trials.enter_context(boosting.on_trial())
            self.boost(columns, n_rounds)
            return self.loss()

    def steps(self) -> tuple[Floats, Floats]:
        """Return weighted negative gradients and hessians at held-out scores, both (n_outputs, n_rows)."""
        rows = self._trainer.rows
        gradients, hessians = self._trainer.loss.steps(rows.target, self._held_out())
        # None stands for hessians of 1.
        curvature = np.ones_like(gradients) if hessians is None else hessians
        return gradients * rows.weights, curvature * rows.weights

    def _held_out(self) -> Floats:
        """Return scores in which those of each held-out row come from a booster that has not seen it."""
        # Rows that no fold holds out keep the scores of the first booster; nothing reads them.
        held_out = self._boostings[0].scores.copy()
        for boosting, fold in zip(self._boostings, self._trainer.folds, strict=True):
            held_out[:, fold.held_out] = boosting.scores[:, fold.held_out]
        return held_out
