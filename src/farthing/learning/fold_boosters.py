"""Boosters in the making: each fold grows its own, and tells the rows that it holds out."""

from __future__ import annotations

from contextlib import ExitStack

import numpy as np

from farthing.learning.booster import Floats
from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer


class FoldBoosters:
    """The boosters of all folds of a nursery, side by side.

    Parameters
    ----------
    nursery : OutOfFoldTrainer
        The rows and folds, and how trees are grown.
    """

    def __init__(self, nursery: OutOfFoldTrainer) -> None:
        self._nursery = nursery
        self._makings = [nursery.boosting(fold.learn) for fold in nursery.folds]

    def go_on(self, columns: Columns, n_rounds: int) -> None:
        """Make rounds over some columns; none without a column."""
        for making, fold in zip(self._makings, self._nursery.folds, strict=True):
            grow = self._nursery.grow(fold.learn, columns)
            for _ in range(n_rounds if len(columns) else 0):
                making.round(grow)

    def loss(self) -> float:
        """Return the mean loss of the rows held out."""
        return self._nursery.held_loss(self._held())

    def loss_after(self, columns: Columns, n_rounds: int) -> float:
        """Return the loss that rounds over some columns would lead to; they are taken back."""
        with ExitStack() as trials:
            for making in self._makings:
                trials.enter_context(making.on_trial())
            self.go_on(columns, n_rounds)
            return self.loss()

    def steps(self) -> tuple[Floats, Floats]:
        """Return weighted negative gradients and second derivatives, both (n_outputs, n_rows)."""
        nursery = self._nursery
        gradients, hessians = nursery.loss.steps(nursery.target, self._held())
        curvature = np.ones_like(gradients) if hessians is None else hessians
        return gradients * nursery.weights, curvature * nursery.weights

    def _held(self) -> Floats:
        """Return scores in which each row held out is told by a booster that has not seen it."""
        held = self._makings[0].scores.copy()
        for making, fold in zip(self._makings, self._nursery.folds, strict=True):
            held[:, fold.held] = making.scores[:, fold.held]
        return held
