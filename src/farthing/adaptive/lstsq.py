"""ADAPT-LSTSQ: linear gate and model, with a symmetric distance between gate and q."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import logit
from sklearn.naive_bayes import GaussianNB

from farthing.adaptive import symmetric
from farthing.adaptive.adapt import TEXTS, TOLERANCE
from farthing.adaptive.descent import Design, Smooth, descend
from farthing.adaptive.expensive import Rows
from farthing.adaptive.linear import LinearAdapt
from farthing.adaptive.objective import Problem
from farthing.adaptive.pairs import LinearPair, Pair
from farthing.adaptive.penalty import BlockPenalty
from farthing.adaptive.projection import Floats, mean_of
from farthing.adaptive.start import f1_slope, first_pair, logistic
from farthing.base import documented, register


@register(
    grid={"gamma": [1e-4, 1e-3, 1e-2, 1e-1], "p_full": [0.1, 0.3, 0.5, 0.7]},
    auto=False,
    trials=[{"expensive": GaussianNB(), "p_full": 0.7, "n_alternations": 3}],
)
@documented(TEXTS)
class AdaptLstsqClassifier(LinearAdapt):
    """As `AdaptLinClassifier`, but the gate is fitted to the log-odds of q by least squares.

    The distance between q and the gate is the square of the difference of their log-odds. Then the gate is a
    least squares problem (OPT6), better conditioned than the divergence, and q has no closed form: it is
    found by the alternating direction method of multipliers (OPT5). f1 is a weighted logistic regression
    (OPT7). The appendix leaves prices out; here they are those of ADAPT-LIN, and at ``gamma=0`` the steps are
    those of the appendix.

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
    >>> model = AdaptLstsqClassifier(costs=heart.costs, gamma=0.001, p_full=0.3, random_state=0)
    >>> float(model.fit(heart.X, heart.y).gate_proba(heart.X).mean().round(1))
    0.3
    """

    def _learn_pair(self, rows: Rows, problem: Problem) -> tuple[Pair, list[float]]:
        shares = problem.shares
        design = Design.of(rows.values, self.schema_, shares, 1 + problem.n_scores)
        penalty = BlockPenalty(self.costs_, float(self.gamma), design.blank.columns)
        pair = first_pair(design, problem, self.start)
        constant = mean_of(-problem.log_own, shares)
        history: list[float] = []

        def objective(q: Floats, pair: LinearPair) -> float:
            scores = design.scores(pair)
            met = symmetric.objective(q, problem.loss_over(scores), scores[0], shares)
            return constant + met + penalty.value(pair.coef)

        for _ in range(self.n_alternations):
            scores = design.scores(pair)
            q = symmetric.split(problem.loss_over(scores), scores[0], shares, self.p_full)
            history.append(objective(q, pair))
            pair = self._fit_to(q, design, problem, pair, penalty)
            history.append(objective(q, pair))
            if len(history) > 2 and history[-3] - history[-1] <= TOLERANCE * abs(history[-1]):
                break
        return pair, history

    def _fit_to(
        self, q: Floats, design: Design, problem: Problem, pair: LinearPair, penalty: BlockPenalty
    ) -> LinearPair:
        """Solve (OPT6) and (OPT7), together if columns have prices."""
        goal = logit(q.clip(symmetric.LEAST, 1 - symmetric.LEAST))
        shares = problem.shares
        stay = shares * (1 - q)
        if penalty.free:
            return logistic(design, problem, stay, _least_squares(design, shares, goal, pair), penalty)
        return descend(design, pair, _smooth(problem, shares, stay, goal), 2.0, penalty)


def _least_squares(design: Design, shares: Floats, goal: Floats, pair: LinearPair) -> LinearPair:
    """Solve (OPT6): the gate of least squared error to the log-odds of q."""
    root = np.sqrt(shares)
    whole = np.column_stack([np.ones(len(goal)), design.terms]) * root[:, np.newaxis]
    solution = np.linalg.lstsq(whole, goal * root, rcond=None)[0]
    coef, intercept = pair.coef.copy(), pair.intercept.copy()
    coef[:, 0], intercept[0] = solution[1:], solution[0]
    return replace(pair, coef=coef, intercept=intercept)


def _smooth(problem: Problem, shares: Floats, stay: Floats, goal: Floats) -> Smooth:
    """Return the losses of (OPT6) and (OPT7) added up, as a function of the scores."""

    def smooth(scores: Floats) -> tuple[float, Floats]:
        loss, slope = f1_slope(problem, stay, scores[1:])
        off = scores[:1] - goal
        return loss + float((off[0] ** 2) @ shares), np.concatenate([2 * off * shares, slope])

    return smooth
