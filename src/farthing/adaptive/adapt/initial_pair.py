"""Where linear pairs begin: a gate that says nothing, and logistic regression on all columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.special import expit

from farthing.adaptive.adapt.gate_pairs import LinearPair
from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.projection import Floats
from farthing.learning.proximal_descent import Design, descend


@dataclass(frozen=True)
class Ridge:
    """A ridge in place of a price: strength / 2 times the squares of the coefficients."""

    strength: float

    def value(self, coef: Floats) -> float:
        """Return the penalty of coefficients."""
        return float(self.strength / 2 * (coef**2).sum())

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w)."""
        return coef / (1 + step * self.strength)


def bend(problem: Problem) -> float:
    """Return the largest second derivative of the log loss of one row."""
    return 0.25 if problem.n_classes == 2 else 0.5


def f1_slope(problem: Problem, shares: Floats, scores: Floats) -> tuple[float, Floats]:
    """Return the weighted log loss of f1 and its gradient; ``scores`` are those of f1 alone."""
    if problem.n_classes == 2:
        slope = expit(scores) - problem.target
        return float(problem.loss.values(problem.target, scores) @ shares), slope * shares
    # Loss and gradient have their exponentials in common.
    top = scores.max(axis=0)
    p = np.exp(scores - top)
    total = p.sum(axis=0)
    rows = np.arange(scores.shape[1])
    loss = np.log(total) + top - scores[problem.target, rows]
    p /= total
    p[problem.target, rows] -= 1
    return float(loss @ shares), p * shares


def logistic(design: Design, problem: Problem, shares: Floats, start: LinearPair, penalty: Any) -> LinearPair:
    """Fit f1 alone, by rows of the given weights; the gate stays as it is."""

    def smooth(scores: Floats) -> tuple[float, Floats]:
        loss, slope = f1_slope(problem, shares, scores[1:])
        return loss, np.concatenate([np.zeros_like(scores[:1]), slope])

    return descend(design, start, smooth, bend(problem), penalty)


def first_pair(design: Design, problem: Problem, start: Any) -> LinearPair:
    """Return a gate of zeros and a logistic regression, or what the user gave to begin with.

    The ridge is that of scikit-learn at C = 1.
    """
    if start is None:
        ridge = Ridge(1 / problem.weights.sum())
        return logistic(design, problem, problem.shares, design.blank, ridge)
    if not isinstance(start, tuple | list) or len(start) != 2:
        raise ValueError("start must be a pair (gate, f1) of coefficients")
    blank = design.blank
    f1_rows = np.atleast_2d(np.asarray(start[1], dtype=np.float64))
    given = np.vstack([np.asarray(start[0], dtype=np.float64)[np.newaxis], f1_rows])
    expected = (blank.n_outputs, blank.n_features)
    if given.shape != expected or not np.isfinite(given).all():
        raise ValueError(
            f"start must have finite coefficients of {blank.n_features} columns for the gate and for each of "
            f"the {problem.n_scores} scores of f1; got {given.shape[0] - 1} of {given.shape[1]}"
        )
    number = np.isnan(blank.category)[:, np.newaxis]
    raw = np.where(number, given.T[blank.columns], 0.0)
    return replace(
        blank, coef=raw * blank.scale[:, np.newaxis], intercept=(raw * blank.mean[:, np.newaxis]).sum(axis=0)
    )
