"""Convex losses of scores, row by row."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.learning.logistic import log_loss_curvature
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

    @property
    def curvature(self) -> float:
        """The second derivative."""
        return 1.0

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
        if self.n_classes == 2:
            margins = np.where(self.target == 1, scores[:, 0], -scores[:, 0])
            # One exponential for both; it cannot overflow.
            small = np.exp(-np.abs(margins))
            losses = np.log1p(small) + np.maximum(-margins, 0.0)
            wrong = np.where(margins < 0, 1.0, small) / (1 + small)
            return losses, np.where(self.target == 1, -wrong, wrong)[:, np.newaxis]
        # Class by class in memory, where sums over the few classes are fast.
        by_class = np.ascontiguousarray(scores.T)
        rows = np.arange(len(scores))
        # From the scores, not from the probabilities, which may underflow.
        top = by_class.max(axis=0)
        of_class = by_class[self.target, rows]
        by_class -= top
        np.exp(by_class, out=by_class)
        total = by_class.sum(axis=0)
        by_class /= total
        by_class[self.target, rows] -= 1
        return np.log(total) + top - of_class, by_class.T

    @property
    def curvature(self) -> float:
        """A bound on the second derivatives."""
        return log_loss_curvature(self.n_classes)

    def take(self, rows: NDArray[np.int64]) -> LogRowLoss:
        """Return the loss of some of the rows."""
        return LogRowLoss(self.target[rows], self.n_classes)
