"""(OPT) of the thesis: the joint objective of gate, cheap model f1 and q."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import entr

from farthing.adaptive.adapt.projection import weighted_mean
from farthing.learning.logistic import n_class_scores
from farthing.learning.losses import Loss, classification_loss
from farthing.typing import Floats


def soft_log_loss(q: NDArray[np.generic], scores: Floats) -> Floats:
    """Return the cross entropy between a probability q of each row and the log-odds in row 0 of the scores.

    Examples
    --------
    >>> soft_log_loss(np.array([0.5]), np.array([[0.0]])).round(4)
    array([0.6931])
    """
    # log(1 + e^g) - q g; logaddexp does not overflow for large g.
    target = np.asarray(q, dtype=np.float64)
    return np.asarray(np.logaddexp(0.0, scores[0]) - target * scores[0])


@dataclass(frozen=True, eq=False)
class Problem:
    """The training rows, and what the expensive model f0 predicts for them.

    Scores are of shape (1 + n_scores, n_rows): the gate's log-odds of sending the row to f0, then the scores
    of f1, which are the log-odds of class 1 if there are two classes and one score per class if there are
    more.

    Parameters
    ----------
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers from 0.
    weights : ndarray of float64, shape (n_rows,)
        Weight of each row.
    own_log_proba : ndarray of float64, shape (n_rows,)
        log p(y | x; f0), the log probability that the expensive model gives to each row's own class.
    n_classes : int
        Number of classes.
    cache : dict
        Results that fits on the same rows share, keyed by all that they depend on.
    """

    target: NDArray[np.int64]
    weights: Floats
    own_log_proba: Floats
    n_classes: int
    cache: dict[Any, Any] = field(default_factory=dict)

    @property
    def loss(self) -> Loss:
        """The loss of f1."""
        return classification_loss(self.n_classes)

    @property
    def n_scores(self) -> int:
        """Scores of f1 for each row."""
        return n_class_scores(self.n_classes)

    @property
    def shares(self) -> Floats:
        """The weights, as shares of their sum."""
        return np.asarray(self.weights / self.weights.sum())

    def extra_loss(self, scores: Floats) -> Floats:
        """Return l(f1) - l(f0) of each row: how much more it loses with the cheap model."""
        return self.loss.values(self.target, scores[1:]) + self.own_log_proba

    def excess(self, scores: Floats) -> Floats:
        """Return A_i - B_i of (OPT1).

        A_i = l(f1) + log(1 + e^g) and B_i = l(f0) + log(1 + e^-g), and the two logarithms differ by g.
        """
        return np.asarray(self.extra_loss(scores) + scores[0])

    def bound(self, q: Floats, scores: Floats) -> float:
        """Return the losses and the divergence of (OPT): the mean of (1 - q) A + q B - H(q)."""
        # Cross entropy minus entropy is the divergence of q from the gate. With the losses it bounds the log
        # loss of the whole system from above (section 5.2).
        cheap = self.loss.values(self.target, scores[1:])
        parts = (1 - q) * cheap - q * self.own_log_proba + soft_log_loss(q, scores) - entr(q) - entr(1 - q)
        return self.mean(parts)

    def mean(self, values: Floats) -> float:
        """Return the weighted mean over the rows."""
        return weighted_mean(values, self.shares)

    def system_loss(self, scores: Floats, sent: NDArray[np.bool_]) -> float:
        """Return the mean loss of a system that sends some rows to f0 and leaves the others to f1."""
        return self.mean(np.where(sent, -self.own_log_proba, self.loss.values(self.target, scores[1:])))
