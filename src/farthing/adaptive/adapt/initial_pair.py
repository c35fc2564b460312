"""Initial linear pairs: a logistic regression without a gate, gates of one term, or given coefficients."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.projection import project
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import RidgePenalty, fit_logistic
from farthing.learning.proximal_descent import Penalty
from farthing.typing import Floats

# The slope of a gate of one standardised term: steep enough that f1 learns from one side of it.
_SLOPE: Final = 2.0
# Terms that are tried for each gate of one term.
_TRIED: Final = 4


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


def initial_pairs(
    design: LinearDesign, problem: Problem, start: Any, n_starts: int, p_full: float
) -> list[LinearScores]:
    """Return the pairs to start from.

    The alternation ends in a local minimum. A gate of zeros leaves f1 the best model of all rows, and the
    gate then follows its errors; a pair that answers a part of the rows from a column that tells little about
    the rest is found only from a gate that has chosen this part.

    Parameters
    ----------
    design : LinearDesign
        The rows.
    problem : Problem
        Their target and weights.
    start : tuple (gate, f1) or None
        As in `initial_pair`; if it is given, the only start.
    n_starts : int
        Number of starts at most. The first has a gate of zeros, each of the others a gate of one term.
    p_full : float
        Largest mean of q.

    Returns
    -------
    list of LinearScores
    """
    first = initial_pair(design, problem, start)
    if start is not None or n_starts == 1:
        return [first]
    tried = []
    for term in _strongest_terms(design, problem)[: _TRIED * (n_starts - 1)]:
        pairs = [_one_term_pair(design, problem, int(term), sign * _SLOPE) for sign in (1, -1)]
        tried.append(min(((_bound(design, problem, pair, p_full), pair) for pair in pairs), key=_value))
    return [first, *(pair for _, pair in sorted(tried, key=_value)[: n_starts - 1])]


def _value(tried: tuple[float, LinearScores]) -> float:
    return tried[0]


def _bound(design: LinearDesign, problem: Problem, pair: LinearScores, p_full: float) -> float:
    """Return the objective of (OPT), without prices, at the best q for a pair."""
    scores = design.scores(pair)
    return problem.bound(project(problem.excess(scores), problem.shares, p_full)[0], scores)


def _strongest_terms(design: LinearDesign, problem: Problem) -> NDArray[np.int64]:
    """Return the terms by their covariance with the classes, the largest first; none without any."""
    classes = (problem.target[:, np.newaxis] == np.arange(problem.n_classes)) * problem.shares[:, np.newaxis]
    with one_blas_thread():
        strength = np.abs(design.terms.T @ (classes - problem.shares[:, np.newaxis] * classes.sum(axis=0)))
    largest = strength.max(axis=1)
    order = np.argsort(-largest, kind="stable")
    return np.asarray(order[largest[order] > 1e-12])


def _one_term_pair(design: LinearDesign, problem: Problem, term: int, slope: float) -> LinearScores:
    """Return a gate of one term, and the f1 of the same term for the rows that stay."""
    zeros = design.zeros
    only = replace(
        zeros,
        columns=zeros.columns[[term]],
        category=zeros.category[[term]],
        mean=zeros.mean[[term]],
        scale=zeros.scale[[term]],
        coef=np.zeros((1, zeros.n_outputs)),
    )
    # A standardised term and the intercept have a second moment of 1 each, and none in common.
    narrow = replace(design, zeros=only, terms=design.terms[:, [term]], curvature=1.0)
    stays = problem.shares * expit(-slope * design.terms[:, term])
    f1 = fit_f1(narrow, problem, stays, only, RidgePenalty(1 / problem.weights.sum()))
    coef = zeros.coef.copy()
    coef[term] = f1.coef[0]
    coef[term, 0] = slope
    return replace(zeros, coef=coef, intercept=f1.intercept)
