"""Early stopping: the validation loss after each round of boosting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Forest, Predictor, Progress


class EarlyStopping:
    """The validation loss, round by round.

    Parameters
    ----------
    progress : Progress
        The validation rows, before the first tree.
    before : Forest
        The trees before the first round.
    loss : callable
        From scores, shape (n_outputs, n_rows), to a number; smaller is better.

    Attributes
    ----------
    losses : list of float
        After each round.
    best : int
        Number of rounds with the least loss, the smallest of equals; 0 if no round improves on the start.
    """

    def __init__(
        self, progress: Progress, before: Forest, loss: Callable[[NDArray[np.float64]], float]
    ) -> None:
        self.losses: list[float] = []
        self.best = 0
        self._progress = progress
        self._loss_of = loss
        self._advance(before)
        self._least = self._loss()

    @property
    def rounds_since_best(self) -> int:
        """Rounds without an improvement."""
        return len(self.losses) - self.best

    def is_over(self, patience: int | None) -> bool:
        """Return whether so many rounds were without an improvement; None never ends."""
        return patience is not None and self.rounds_since_best >= patience

    def add(self, trees: Forest) -> None:
        """Add the trees of one more round."""
        self._advance(trees)
        self.losses.append(self._loss())
        if self.losses[-1] < self._least:
            self._least = self.losses[-1]
            self.best = len(self.losses)

    def _advance(self, trees: Forest) -> None:
        # Only the new trees: the rows keep their sums, purchases and budgets from round to round.
        Predictor(trees).advance(self._progress, 0, trees.n_trees)

    def _loss(self) -> float:
        # Losses take one contiguous row per output; the predictor writes one row per sample.
        return self._loss_of(np.ascontiguousarray(self._progress.outputs.T))
