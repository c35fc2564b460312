"""Logistic regression on a linear design, for two or more classes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.losses import logistic_values
from farthing.learning.proximal_descent import Penalty, proximal_descent
from farthing.typing import Floats


@dataclass(frozen=True)
class RidgePenalty:
    """strength / 2 times the sum of the squared coefficients.

    Examples
    --------
    >>> ridge = RidgePenalty(0.5)
    >>> ridge.value(np.array([[2.0]])), ridge.prox(np.array([[3.0]]), step=1.0)
    (1.0, array([[2.]]))
    """

    strength: float

    def value(self, coef: Floats) -> float:
        """Return the penalty of coefficients."""
        return float(self.strength / 2 * (coef**2).sum())

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w)."""
        return coef / (1 + step * self.strength)


def n_class_scores(n_classes: int) -> int:
    """Return the number of scores of a linear classifier: 1 for two classes, else one per class."""
    return 1 if n_classes == 2 else n_classes


def log_loss_curvature(n_classes: int) -> float:
    """Return the largest second derivative of the log loss of one row, in any direction of its scores."""
    # p (1 - p) is at most 1/4; diag(p) - p p^T has eigenvalues of at most 1/2 (Boehning 1992).
    return 0.25 if n_classes == 2 else 0.5


def log_loss(
    target: NDArray[np.int64], shares: Floats, scores: Floats, n_classes: int
) -> tuple[float, Floats]:
    """Return the weighted mean log loss and its gradient.

    Parameters
    ----------
    target : ndarray of int64, shape (n_rows,)
        Class codes from 0.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    scores : ndarray of float64, shape (n_scores, n_rows)
        The log-odds of class 1 if there are two classes, else the scores of the classes.
    n_classes : int
        Number of classes.

    Returns
    -------
    loss : float
    gradient : ndarray of float64, shape (n_scores, n_rows)

    Examples
    --------
    >>> loss, gradient = log_loss(np.array([0, 1]), np.array([0.5, 0.5]), np.zeros((1, 2)), n_classes=2)
    >>> round(loss, 4), gradient
    (0.6931, array([[ 0.25, -0.25]]))
    """
    if n_classes == 2:
        gradient = expit(scores) - target
        return float(logistic_values(target, scores) @ shares), gradient * shares
    # Loss and gradient share the exponentials, which are most of the work.
    top = scores.max(axis=0)
    p = np.exp(scores - top)
    total = p.sum(axis=0)
    rows = np.arange(scores.shape[1])
    loss = np.log(total) + top - scores[target, rows]
    p /= total
    p[target, rows] -= 1
    return float(loss @ shares), p * shares


def fit_logistic(
    design: LinearDesign,
    target: NDArray[np.int64],
    start: LinearScores,
    penalty: Penalty,
    *,
    shares: Floats,
    n_classes: int,
    n_fixed: int = 0,
) -> LinearScores:
    """Fit a logistic regression with a penalty.

    Parameters
    ----------
    design : LinearDesign
        The rows.
    target : ndarray of int64, shape (n_rows,)
        Classes as numbers from 0.
    start : LinearScores
        Where to start.
    penalty : Penalty
        Of the coefficients.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    n_classes : int
        Number of classes; see `n_class_scores` for the number of outputs.
    n_fixed : int
        Outputs before the scores of the classes, which get no gradient, such as that of a gate.

    Returns
    -------
    LinearScores

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X, y, shares = np.array([[0.0], [1.0], [2.0]]), np.array([0, 1, 1]), np.full(3, 1 / 3)
    >>> design = LinearDesign.of(X, Schema.learn(X), shares, n_outputs=1)
    >>> model = fit_logistic(design, y, design.zeros, RidgePenalty(0.1), shares=shares, n_classes=2)
    >>> (model.outputs(X)[0].ravel() > 0).astype(int)
    array([0, 1, 1])
    """

    def loss(scores: Floats) -> tuple[float, Floats]:
        value, gradient = log_loss(target, shares, scores[n_fixed:], n_classes)
        return value, np.concatenate([np.zeros_like(scores[:n_fixed]), gradient])

    return proximal_descent(design, start, loss, log_loss_curvature(n_classes), penalty)
