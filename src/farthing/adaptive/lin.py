"""ADAPT-LIN: gate and cheap model are linear, and choose their columns together."""

from __future__ import annotations

import numpy as np
from scipy.special import expit
from sklearn.naive_bayes import GaussianNB

from farthing.adaptive.adapt import TEXTS, TOLERANCE
from farthing.adaptive.descent import Design, Smooth, descend
from farthing.adaptive.expensive import Rows
from farthing.adaptive.linear import LinearAdapt
from farthing.adaptive.objective import Problem, soft_values
from farthing.adaptive.pairs import Pair
from farthing.adaptive.penalty import BlockPenalty
from farthing.adaptive.projection import Floats, project
from farthing.adaptive.start import bend, f1_slope, first_pair
from farthing.base import documented, register


@register(
    grid={"gamma": [1e-4, 1e-3, 1e-2, 1e-1], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[{"expensive": GaussianNB(), "p_full": 0.9, "n_alternations": 3}],
)
@documented(TEXTS)
class AdaptLinClassifier(LinearAdapt):
    """A linear gate and a linear model, learned together, that answer what they can for an expensive model.

    (OPT) of the thesis: q, the probability that a row goes on, has at most the mean ``p_full``; the gate
    follows q in divergence; f1 learns from the rows that stay; and each column that gate or f1 uses costs
    gamma times its price, relaxed to the norm of its coefficients. Steps over q, in closed form, and over
    gate and f1, by accelerated proximal gradient steps, take turns, and the objective never rises. Columns
    are standardised, categories become indicators, a missing value counts as the mean.

    Parameters
    ----------
    {expensive}
    p_full : float
        Largest mean of q over the training rows, 0 to 1.
    gamma : float
        What a unit of price weighs against the mean loss.
    n_alternations : int
        Most turns; they end when the objective no longer falls.
    start : tuple (gate, f1), optional
        Coefficients to begin with, arrays of shape (n_features,) each, (n_classes, n_features) for the f1 of
        more than two classes, in units of the columns. None is zeros for the gate, and logistic regression
        with a ridge for f1.
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
    >>> model = AdaptLinClassifier(costs=heart.costs, gamma=0.001, p_full=0.3, random_state=0)
    >>> model = model.fit(heart.X, heart.y)
    >>> full = model.expensive_
    >>> bool(model.spend(heart.X).mean() < full.spend(heart.X).mean())
    True
    """

    def _learn_pair(self, rows: Rows, problem: Problem) -> tuple[Pair, list[float]]:
        design = Design.of(rows.values, self.schema_, problem.shares, 1 + problem.n_scores)
        penalty = BlockPenalty(self.costs_, float(self.gamma), design.blank.columns)
        pair = first_pair(design, problem, self.start)
        history: list[float] = []
        for _ in range(self.n_alternations):
            scores = design.scores(pair)
            q, _ = project(problem.excess(scores), problem.shares, self.p_full)
            history.append(problem.bound(q, scores) + penalty.value(pair.coef))
            pair = descend(design, pair, _smooth(problem, q), bend(problem), penalty)
            history.append(problem.bound(q, design.scores(pair)) + penalty.value(pair.coef))
            if len(history) > 2 and history[-3] - history[-1] <= TOLERANCE * abs(history[-1]):
                break
        return pair, history


def _smooth(problem: Problem, q: Floats) -> Smooth:
    """Return the loss of (OPT2) without its penalty, as a function of the scores."""
    shares = problem.shares
    stay = shares * (1 - q)

    def smooth(scores: Floats) -> tuple[float, Floats]:
        loss, slope = f1_slope(problem, stay, scores[1:])
        gate = (expit(scores[:1]) - q) * shares
        return loss + float(soft_values(q, scores) @ shares), np.concatenate([gate, slope])

    return smooth
