"""Convex losses of scores, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.learning.losses import logistic_values, scores_to_probabilities
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class SquaredRowLoss:
    """Half of the squared error.

    Parameters
    ----------
    target : ndarray of float64, shape (n_rows,)

    Examples
    --------
    >>> SquaredRowLoss(np.array([1.0]))(np.array([[3.0]]))
    (array([2.]), array([[2.]]))
    """

    target: Floats

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the losses (n_rows,) and their gradients (n_rows, 1)."""
        error = scores - self.target[:, np.newaxis]
        return np.asarray((error[:, 0] ** 2) / 2), error

    def take(self, rows: NDArray[np.int64]) -> SquaredRowLoss:
        """Return the loss of some of the rows."""
        return SquaredRowLoss(self.target[rows])


@dataclass(frozen=True, eq=False)
class LogRowLoss:
    """The log loss: one score for two classes, else one per class.

    Parameters
    ----------
    target : ndarray of int64, shape (n_rows,)
        Class codes.
    n_classes : int
        Number of classes.

    Examples
    --------
    >>> losses, gradients = LogRowLoss(np.array([1]), 2)(np.array([[0.0]]))
    >>> losses.round(3), gradients
    (array([0.693]), array([[-0.5]]))
    """

    target: NDArray[np.int64]
    n_classes: int

    def __call__(self, scores: Floats) -> tuple[Floats, Floats]:
        """Return the losses (n_rows,) and their gradients (n_rows, n_outputs)."""
        p = scores_to_probabilities(scores, self.n_classes)
        if self.n_classes == 2:
            return logistic_values(self.target, scores.T), (p[:, 1] - self.target)[:, np.newaxis]
        rows = np.arange(len(scores))
        # From the scores, not from p, which may underflow.
        top = scores.max(axis=1)
        losses = np.log(np.exp(scores - top[:, np.newaxis]).sum(axis=1)) + top - scores[rows, self.target]
        p[rows, self.target] -= 1
        return losses, p

    def take(self, rows: NDArray[np.int64]) -> LogRowLoss:
        """Return the loss of some of the rows."""
        return LogRowLoss(self.target[rows], self.n_classes)
