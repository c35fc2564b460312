"""Accelerated proximal gradient descent for linear models with a penalty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Protocol, TypeAlias

import numpy as np

from farthing.deadline import check_deadline
from farthing.learning.blas_threads import one_blas_thread
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.typing import Floats

# From scores, shape (n_outputs, n_rows), to a smooth loss and its gradient, of the same shape.
SmoothLoss: TypeAlias = Callable[[Floats], tuple[float, Floats]]


class Penalty(Protocol):
    """A convex function of the coefficients, (n_terms, n_outputs), that need not be smooth."""

    def value(self, coef: Floats) -> float:
        """Return the penalty."""
        ...

    def prox(self, coef: Floats, step: float) -> Floats:
        """Minimise |w - coef|^2 / 2 + step * value(w)."""
        ...


def proximal_descent(
    design: LinearDesign,
    start: LinearScores,
    loss: SmoothLoss,
    loss_curvature: float,
    penalty: Penalty,
    *,
    max_iter: int = 50,
    tol: float = 1e-7,
) -> LinearScores:
    """Minimise loss(scores) + penalty(coef) from a start; the objective never increases.

    FISTA (Beck and Teboulle 2009), restarted whenever the objective would increase. Intercepts are not
    penalised.

    Parameters
    ----------
    design : LinearDesign
        The rows.
    start : LinearScores
        Where to start, over the terms of the design.
    loss : callable
        From scores to the smooth loss and its gradient.
    loss_curvature : float
        The largest second derivative of the loss of one row of weight 1, in any direction of its scores.
    penalty : Penalty
        The penalty of the coefficients.
    max_iter : int
        Maximum number of steps.
    tol : float
        Stop when a step lowers the objective by less than this fraction of it.

    Returns
    -------
    LinearScores

    Examples
    --------
    >>> from farthing.learning.logistic import RidgePenalty
    >>> from farthing.table import Schema
    >>> X, y, shares = np.array([[0.0], [2.0]]), np.array([1.0, 5.0]), np.array([0.5, 0.5])
    >>> design = LinearDesign.of(X, Schema.learn(X), shares, n_outputs=1)
    >>> def squared(scores):
    ...     return float((scores[0] - y) ** 2 @ shares / 2), (scores - y) * shares
    >>> model = proximal_descent(design, design.zeros, squared, 1.0, RidgePenalty(0.0))
    >>> model.outputs(X)[0].ravel().round(6)
    array([1., 5.])
    """
    # The step is 1 / L, where L bounds the Lipschitz constant of the gradient in the coefficients.
    with one_blas_thread():
        return _descend(design, start, loss, 1 / (loss_curvature * design.curvature), penalty, max_iter, tol)


def _descend(  # noqa: PLR0917 - the arguments of `proximal_descent`
    design: LinearDesign,
    start: LinearScores,
    loss: SmoothLoss,
    step: float,
    penalty: Penalty,
    max_iter: int,
    tol: float,
) -> LinearScores:
    # coef, intercept and scores are the best point so far; scores are kept to save a matrix product.
    coef, intercept = start.coef, start.intercept
    scores = design.scores(start)
    best, slope = loss(scores)
    best += penalty.value(coef)
    # Where the gradient is taken: ahead of the best point by the momentum of the last step.
    ahead = (coef, intercept, scores)
    momentum, plain = 1.0, True
    for _ in range(max_iter):
        check_deadline()
        # At the best point itself, after the start and each restart, it is known.
        gradient = slope if ahead[2] is scores else loss(ahead[2])[1]
        new_coef = penalty.prox(ahead[0] - step * (design.terms.T @ gradient.T), step)
        new_intercept = ahead[1] - step * gradient.sum(axis=1)
        new_scores = (design.terms @ new_coef + new_intercept).T
        reached, new_slope = loss(new_scores)
        reached += penalty.value(new_coef)
        if reached > best:
            if plain:
                break  # without momentum, a step from the best point can increase by rounding only
            ahead, momentum, plain = (coef, intercept, scores), 1.0, True
            continue
        new_momentum = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        push = (momentum - 1) / new_momentum
        ahead = (new_coef, new_intercept, new_scores)
        if push > 0:
            ahead = (
                new_coef + push * (new_coef - coef),
                new_intercept + push * (new_intercept - intercept),
                new_scores + push * (new_scores - scores),  # scores are linear, which saves a matrix product
            )
        done = best - reached <= tol * abs(best)
        coef, intercept, scores = new_coef, new_intercept, new_scores
        best, slope = reached, new_slope
        if done and plain:
            break
        # A small gain with momentum may only mean that it points the wrong way: try once without.
        if done:
            ahead, new_momentum = (coef, intercept, scores), 1.0
        momentum, plain = new_momentum, done
    return replace(start, coef=coef, intercept=intercept)
