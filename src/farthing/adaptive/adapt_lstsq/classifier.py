"""ADAPT-LSTSQ: linear gate and model, with a symmetric distance between gate and q."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logit

from farthing.adaptive.adapt.base import TOLERANCE
from farthing.adaptive.adapt.initial_pair import fit_f1
from farthing.adaptive.adapt.linear_base import LinearAdapt
from farthing.adaptive.adapt.objective import Problem
from farthing.adaptive.adapt.parameter_docs import TEXTS
from farthing.adaptive.adapt.projection import weighted_mean
from farthing.adaptive.adapt_lstsq import symmetric_divergence as symmetric
from farthing.base import documented, register
from farthing.boosting import GreedyMiserClassifier
from farthing.learning.group_penalty import GroupPenalty
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import log_loss
from farthing.learning.proximal_descent import SmoothLoss, proximal_descent
from farthing.typing import Floats


@register(
    grid={"tradeoff": [1e-4, 1e-3, 1e-2, 1e-1], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[
        {
            "expensive": GreedyMiserClassifier(n_estimators=5),
            "p_full": 0.7,
            "n_alternations": 2,
            "n_starts": 2,
        }
    ],
)
@documented(TEXTS)
class AdaptLstsqClassifier(LinearAdapt):
    """Like `AdaptLinClassifier`, but the gate is fitted to the log-odds of q by least squares.

    The distance between q and the gate is the squared difference of their log-odds. The gate is then a least
    squares problem (OPT6), better conditioned than the divergence. q has no closed form: it is found by the
    alternating direction method of multipliers (OPT5). f1 is a weighted logistic regression (OPT7). The
    appendix leaves prices out; here they are those of ADAPT-LIN, and at ``tradeoff=0`` the steps are those of
    the appendix.

    Parameters
    ----------
    {expensive}
    {p_full}
    tradeoff : float
        Weight of a unit of price against the mean loss.
    n_alternations : int
        Maximum number of alternations; they stop early when the objective no longer falls.
    start : tuple (gate, f1), optional
    n_starts : int
        As in `AdaptLinClassifier`.
    {shared}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Appendix A.1, Algorithm 7.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaptLstsqClassifier(costs=heart.costs, tradeoff=0.001, p_full=0.3, random_state=0)
    >>> float(model.fit(heart.X, heart.y).gate_proba(heart.X).mean().round(1))
    0.3
    """

    def _alternate(
        self, design: LinearDesign, problem: Problem, penalty: GroupPenalty, start: LinearScores
    ) -> tuple[LinearScores, list[float]]:
        shares = problem.shares
        pair = start
        # (OPT5) leaves out the mean loss of f0, which no step changes. With it the history is the objective
        # of (OPT).
        constant = weighted_mean(-problem.own_log_proba, shares)
        history: list[float] = []

        def objective(q: Floats, pair: LinearScores) -> float:
            scores = design.scores(pair)
            reached = symmetric.objective(q, problem.extra_loss(scores), scores[0], shares)
            return constant + reached + penalty.value(pair.coef)

        for _ in range(self.n_alternations):
            scores = design.scores(pair)
            q = symmetric.solve_q(problem.extra_loss(scores), scores[0], shares, self.p_full)
            history.append(objective(q, pair))
            pair = _fit_pair(q, design, problem, pair, penalty)
            history.append(objective(q, pair))
            if len(history) > 2 and history[-3] - history[-1] <= TOLERANCE * abs(history[-1]):
                break
        return pair, history


def _fit_pair(
    q: Floats, design: LinearDesign, problem: Problem, pair: LinearScores, penalty: GroupPenalty
) -> LinearScores:
    """Solve (OPT6) and (OPT7), together if columns have prices."""
    goal = logit(q.clip(symmetric.MARGIN, 1 - symmetric.MARGIN))
    shares = problem.shares
    cheap_shares = shares * (1 - q)
    # Without prices nothing couples the gate and f1, so each is solved on its own, as in Algorithm 7.
    if penalty.is_zero:
        return fit_f1(design, problem, cheap_shares, _least_squares(design, shares, goal, pair), penalty)
    loss = _joint_loss(problem, shares, cheap_shares, goal)
    # The squared error has a second derivative of 2, more than the log loss.
    return proximal_descent(design, pair, loss, 2.0, penalty)


def _least_squares(design: LinearDesign, shares: Floats, goal: Floats, pair: LinearScores) -> LinearScores:
    """Solve (OPT6): the gate of least squared error to the log-odds of q."""
    # Weighted least squares: both sides are scaled by the square roots of the weights.
    root = np.sqrt(shares)
    with_intercept = np.column_stack([np.ones(len(goal)), design.terms]) * root[:, np.newaxis]
    solution = np.linalg.lstsq(with_intercept, goal * root, rcond=None)[0]
    coef, intercept = pair.coef.copy(), pair.intercept.copy()
    coef[:, 0], intercept[0] = solution[1:], solution[0]
    return replace(pair, coef=coef, intercept=intercept)


def _joint_loss(problem: Problem, shares: Floats, cheap_shares: Floats, goal: Floats) -> SmoothLoss:
    """Return the losses of (OPT6) and (OPT7) added up, as a function of the scores."""

    def loss(scores: Floats) -> tuple[float, Floats]:
        of_f1, f1_gradient = log_loss(problem.target, cheap_shares, scores[1:], problem.n_classes)
        residual = scores[:1] - goal
        of_gate = float((residual[0] ** 2) @ shares)
        return of_f1 + of_gate, np.concatenate([2 * residual * shares, f1_gradient])

    return loss
