"""Early stopping: what validation rows say after each round."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from farthing.trees import Forest, Predictor, Progress


class EarlyStopping:
    """The validation rows of an ensemble in the making.

    Parameters
    ----------
    progress : Progress
        The rows, before the first tree.
    before : Forest
        The trees that stand before the first round.
    judge : callable
        From scores, shape (n_outputs, n_rows), to how bad they are.

    Attributes
    ----------
    losses : list of float
        After each round.
    best : int
        Rounds up to the best of them, the first if there are several; 0 if none is better than none at all.
    """

    def __init__(
        self, progress: Progress, before: Forest, judge: Callable[[NDArray[np.float64]], float]
    ) -> None:
        self.losses: list[float] = []
        self.best = 0
        self._progress = progress
        self._judge = judge
        self._advance(before)
        self._least = self._loss()

    @property
    def idle(self) -> int:
        """Rounds since the best one."""
        return len(self.losses) - self.best

    def add(self, trees: Forest) -> None:
        """Take the trees of one more round."""
        self._advance(trees)
        self.losses.append(self._loss())
        if self.losses[-1] < self._least:
            self._least = self.losses[-1]
            self.best = len(self.losses)

    def _advance(self, trees: Forest) -> None:
        Predictor(trees).advance(self._progress, 0, trees.n_trees)

    def _loss(self) -> float:
        return self._judge(np.ascontiguousarray(self._progress.outputs.T))
