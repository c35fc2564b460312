"""(OPT) of the thesis: what gate, f1 and q minimise together."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from farthing.adaptive.adapt.projection import Floats, mean_of
from farthing.learning import losses


def soft_values(q: NDArray[np.generic], scores: Floats) -> Floats:
    """Return the cross entropy between a probability q of each row and the log-odds of row 0 of the scores.

    Examples
    --------
    >>> soft_values(np.array([0.5]), np.array([[0.0]])).round(4)
    array([0.6931])
    """
    target = np.asarray(q, dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, scores[0]) - target * scores[0])


@dataclass(frozen=True, eq=False)
class Problem:
    """The training rows, and what the expensive model says of them.

    Scores are of shape (1 + n_scores, n_rows): the gate's log-odds of going on, then those of f1, the
    log-odds of class 1 if there are two classes and one score a class if there are more.

    Parameters
    ----------
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers from 0.
    weights : ndarray of float64, shape (n_rows,)
        How much each row counts.
    log_own : ndarray of float64, shape (n_rows,)
        log p(y | x; f0), the log probability that the expensive model gives to each row's own class.
    n_classes : int
        Number of classes.
    kept : dict
        What was learned from these rows before, by all that it depends on.
    """

    target: NDArray[np.int64]
    weights: Floats
    log_own: Floats
    n_classes: int
    kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def loss(self) -> losses.Loss:
        """The loss of f1."""
        return losses.LOGISTIC if self.n_classes == 2 else losses.softmax(self.n_classes)

    @property
    def n_scores(self) -> int:
        """Scores of f1 for each row."""
        return 1 if self.n_classes == 2 else self.n_classes

    @property
    def shares(self) -> Floats:
        """The weights, as shares of their sum."""
        return np.asarray(self.weights / self.weights.sum())

    def loss_over(self, scores: Floats) -> Floats:
        """Return l(f1) - l(f0) of each row: what it loses by staying."""
        return self.loss.values(self.target, scores[1:]) + self.log_own

    def excess(self, scores: Floats) -> Floats:
        """Return A_i - B_i of (OPT1).

        A_i = l(f1) + log(1 + e^g) and B_i = l(f0) + log(1 + e^-g), so their difference has g itself.
        """
        return np.asarray(self.loss_over(scores) + scores[0])

    def bound(self, q: Floats, scores: Floats) -> float:
        """Return the losses and the divergence of (OPT): the mean of (1 - q) A + q B - H(q)."""
        stays = self.loss.values(self.target, scores[1:])
        parts = (1 - q) * stays - q * self.log_own + soft_values(q, scores) - entr(q) - entr(1 - q)
        return mean_of(parts, self.shares)
