"""ADAPT-LIN: gate and cheap model are linear, and select their columns together."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from farthing.adaptive.adapt.base import TOLERANCE
from farthing.adaptive.adapt.linear_base import LinearAdapt
from farthing.adaptive.adapt.objective import Problem, soft_log_loss
from farthing.adaptive.adapt.parameter_docs import TEXTS
from farthing.adaptive.adapt.projection import project
from farthing.base import documented, register
from farthing.boosting import GreedyMiserClassifier
from farthing.learning.group_penalty import GroupPenalty
from farthing.learning.linear_design import LinearDesign
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import log_loss, log_loss_curvature
from farthing.learning.proximal_descent import SmoothLoss, proximal_descent
from farthing.typing import Floats


@register(
    grid={"tradeoff": [1e-4, 1e-3, 1e-2, 1e-1], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[
        {
            "expensive": GreedyMiserClassifier(n_estimators=5),
            "p_full": 0.9,
            "n_alternations": 2,
            "n_starts": 2,
        }
    ],
)
@documented(TEXTS)
class AdaptLinClassifier(LinearAdapt):
    """A linear gate and a linear model f1, learned together to answer easy rows for an expensive model.

    It minimises (OPT) of the thesis. q, the probability that a row goes to the expensive model, has a mean of
    at most ``p_full``. The gate follows q in divergence, f1 learns from the rows that stay with it, and each
    column that gate or f1 uses costs tradeoff times its price, relaxed to the norm of its coefficients. Steps
    over q, in closed form, alternate with accelerated proximal gradient steps over gate and f1, and the
    objective never rises. Columns are standardised, categories become indicators, and a missing value counts
    as the mean.

    Parameters
    ----------
    {expensive}
    {p_full}
    tradeoff : float
        Weight of a unit of price against the mean loss.
    n_alternations : int
        Maximum number of alternations; they stop early when the objective no longer falls.
    start : tuple (gate, f1), optional
        Coefficients to start from, arrays of shape (n_features,) each, (n_classes, n_features) for the f1 of
        more than two classes, in units of the columns. None means ``n_starts`` of its own.
    n_starts : int
        Number of starts, 1 or more. The first has zeros for the gate, and logistic regression with an L2
        penalty for f1; each of the others has a gate of one term, and the f1 of that term for the rows that
        stay. Of the systems that are learned from them, the one of the least objective on the training rows
        is kept: its mean loss, cut as it is, plus tradeoff times its mean spend.
    {shared}

    Attributes
    ----------
    {attributes}

    References
    ----------
    Nan: Learning to Predict under a Budget. Thesis, Boston University, 2018. Chapter 5, Algorithm 4.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> model = AdaptLinClassifier(costs=heart.costs, tradeoff=0.001, p_full=0.3, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> full = model.expensive_
    >>> bool(model.spend(heart.X).mean() < full.spend(heart.X).mean())
    True
    """

    def _alternate(
        self, design: LinearDesign, problem: Problem, penalty: GroupPenalty, start: LinearScores
    ) -> tuple[LinearScores, list[float]]:
        curvature = log_loss_curvature(problem.n_classes)
        pair = start
        history: list[float] = []
        for _ in range(self.n_alternations):
            scores = design.scores(pair)
            q, _ = project(problem.excess(scores), problem.shares, self.p_full)
            history.append(problem.bound(q, scores) + penalty.value(pair.coef))
            # Each half step starts at the last pair and can only lower the objective, so the history falls.
            pair = proximal_descent(design, pair, _opt2_loss(problem, q), curvature, penalty)
            history.append(problem.bound(q, design.scores(pair)) + penalty.value(pair.coef))
            # The history has two entries per alternation: this compares the ends of the last two.
            if len(history) > 2 and history[-3] - history[-1] <= TOLERANCE * abs(history[-1]):
                break
        return pair, history


def _opt2_loss(problem: Problem, q: Floats) -> SmoothLoss:
    """Return the loss of (OPT2) without its penalty, as a function of the scores."""
    shares = problem.shares
    cheap_shares = shares * (1 - q)

    def loss(scores: Floats) -> tuple[float, Floats]:
        of_f1, f1_gradient = log_loss(problem.target, cheap_shares, scores[1:], problem.n_classes)
        # Both gate terms of (OPT2), (1 - q) log(1 + e^g) and q log(1 + e^-g), are one cross entropy with the
        # soft target q.
        gate_gradient = (expit(scores[:1]) - q) * shares
        of_gate = float(soft_log_loss(q, scores) @ shares)
        return of_f1 + of_gate, np.concatenate([gate_gradient, f1_gradient])

    return loss
