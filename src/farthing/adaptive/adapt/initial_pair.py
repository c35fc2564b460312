"""The initial linear pair: a gate of zeros and a logistic regression, or given coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from farthing.adaptive.adapt.objective import Problem
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import RidgePenalty, fit_logistic
from farthing.learning.proximal_descent import Penalty
from farthing.typing import Floats


def fit_f1(
    design: LinearDesign, problem: Problem, shares: Floats, start: LinearScores, penalty: Penalty
) -> LinearScores:
    """Fit f1 alone, on rows of the given weights; the gate's score, output 0, stays as it is."""
    return fit_logistic(
        design, problem.target, start, penalty, shares=shares, n_classes=problem.n_classes, n_fixed=1
    )


def initial_pair(design: LinearDesign, problem: Problem, start: Any) -> LinearScores:
    """Return a gate of zeros and a logistic regression, or the coefficients that the user gave.

    Parameters
    ----------
    design : LinearDesign
        The rows.
    problem : Problem
        Their target and weights.
    start : tuple (gate, f1) or None
        Coefficients in units of the columns, (n_features,) for the gate and (n_scores, n_features) for f1.

    Returns
    -------
    LinearScores
    """
    if start is None:
        ridge = RidgePenalty(1 / problem.weights.sum())  # as scikit-learn's at C = 1
        return fit_f1(design, problem, problem.shares, design.zeros, ridge)
    if not isinstance(start, tuple | list) or len(start) != 2:
        raise ValueError("start must be a pair (gate, f1) of coefficients")
    zeros = design.zeros
    f1 = np.atleast_2d(np.asarray(start[1], dtype=np.float64))
    given = np.vstack([np.asarray(start[0], dtype=np.float64)[np.newaxis], f1])
    if given.shape != (zeros.n_outputs, zeros.n_features) or not np.isfinite(given).all():
        raise ValueError(
            f"start must have finite coefficients of {zeros.n_features} columns for the gate and for each of "
            f"the {problem.n_scores} scores of f1; got {given.shape[0] - 1} of {given.shape[1]}"
        )
    # Terms are standardised, so coefficients change their unit, and the means go into the intercepts.
    numeric = np.isnan(zeros.category)[:, np.newaxis]
    raw = np.where(numeric, given.T[zeros.columns], 0.0)
    return replace(
        zeros, coef=raw * zeros.scale[:, np.newaxis], intercept=(raw * zeros.mean[:, np.newaxis]).sum(axis=0)
    )
