"""The objective of Cronus: the expected loss at the exits of a cascade, and the price of its stages."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from farthing.learning.mixed_norm import MixedNorm, without_small
from farthing.learning.scaled_descent import Metric, sampled_gram
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class Stage:
    """The parameters of a stage.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_learners,)
    intercept : float
    threshold : float
        Rows with a lower score leave. That of the last stage is not used.
    """

    coef: Floats
    intercept: float
    threshold: float

    def vector(self) -> Floats:
        """Return coefficients, intercept and threshold as one vector."""
        return np.append(self.coef, [self.intercept, self.threshold])

    def moved(self, vector: Floats) -> Stage:
        """Return the stage with the parameters of a vector."""
        return Stage(vector[:-2], float(vector[-2]), float(vector[-1]))

    def without_small(self) -> Stage:
        """Return the stage without the learners that the optimisation has left near zero."""
        return replace(self, coef=without_small(self.coef))


@dataclass(frozen=True, eq=False)
class CronusObjective:
    """Equation 8 of the paper, per row: its loss, sparsity and trade-off divided by the number of rows.

    Parameters
    ----------
    learners : ndarray of float64, shape (n_rows, n_learners)
        The outputs of the learners, h.
    target : ndarray of float64, shape (n_rows,)
        -1 and 1, or numbers of that scale.
    omega : ndarray of float64, shape (n_rows,)
        Weights of the rows in the loss, with those of their classes; they sum to 1.
    shares : ndarray of float64, shape (n_rows,)
        Weights of the rows in the price, without those of classes; they sum to 1.
    norm : MixedNorm
        The price.
    tradeoff : float
        Weight of the price against the loss, lambda.
    sparsity : ndarray of float64, shape (n_stages,)
        Weight of the L1 norm of each stage, rho.
    steepness : float
        Factor of the distance to the threshold in the sigmoid by which rows leave, 50 in the paper.
    """

    learners: Floats
    target: Floats
    omega: Floats
    shares: Floats
    norm: MixedNorm
    tradeoff: float
    sparsity: Floats
    steepness: float

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self.sparsity)

    def scores(self, stage: Stage) -> Floats:
        """Return the scores of a stage, shape (n_rows,)."""
        return np.asarray(self.learners @ stage.coef + stage.intercept)

    def stays(self, stage: Stage, scores: Floats | None = None) -> Floats:
        """Return the probability of each row to go on after a stage, shape (n_rows,)."""
        scores = self.scores(stage) if scores is None else scores
        return np.asarray(expit(self.steepness * (scores - stage.threshold)))

    def reach(self, stages: list[Stage], scores: list[Floats] | None = None) -> Floats:
        """Return the probability to get from the first to each of some stages, shape (n_stages, n_rows).

        Scores that are known already, one array for each stage, need not be computed again.
        """
        scores = [self.scores(stage) for stage in stages[:-1]] if scores is None else scores[:-1]
        going = [self.stays(*each) for each in zip(stages[:-1], scores, strict=True)]
        return np.asarray(np.cumprod([np.ones(len(self.shares)), *going], axis=0))

    def errors(self, scores: list[Floats]) -> Floats:
        """Return the squared errors of the scores of stages, shape (n_stages, n_rows)."""
        return np.array([(self.target - each) ** 2 for each in scores])

    def value(self, stages: list[Stage]) -> float:
        """Return the objective of a cascade."""
        scores = [self.scores(stage) for stage in stages]
        reach = self.reach(stages, scores)
        risk = float(self.omega @ (exits(reach) * self.errors(scores)).sum(axis=0)) / 2
        return risk + self.penalty(stages, reach @ self.shares)

    def penalty(self, stages: list[Stage], mass: Floats) -> float:
        """Return the norms of stages that a share of the rows reaches, shape (n_stages,)."""
        size = sum(
            float(rho) * self.absolute(stage) for rho, stage in zip(self.sparsity, stages, strict=True)
        )
        return size + self.tradeoff * self.norm.value(weighed_squares(stages, mass).sum(axis=0))

    def absolute(self, stage: Stage) -> float:
        """Return the smoothed L1 norm of a stage."""
        return float(np.sqrt(stage.coef**2 + self.norm.eps**2).sum())


def exits(reach: Floats) -> Floats:
    """Return the probability to leave at each stage from that to reach it; none is left after the last.

    Examples
    --------
    >>> exits(np.array([[1.0], [0.75], [0.5]])).ravel()
    array([0.25, 0.25, 0.5 ])
    """
    return np.asarray(np.vstack([reach[:-1] - reach[1:], reach[-1:]]))


def weighed_squares(stages: list[Stage], mass: Floats) -> Floats:
    """Return (beta d)^2 for each stage and learner, shape (n_stages, n_learners)."""
    coef = np.array([stage.coef for stage in stages])
    return np.asarray((coef * mass[:, np.newaxis]) ** 2)


class StageObjective:
    """The objective as a function of one stage but the last, all others fixed, its norms under their bounds.

    At the present parameters it equals the objective but for a constant, elsewhere it is no less.

    Parameters
    ----------
    objective : CronusObjective
        The objective.
    stages : list of Stage
        All stages.
    number : int
        The stage to be moved, from 0.
    """

    def __init__(self, objective: CronusObjective, stages: list[Stage], number: int) -> None:
        self._objective, self._stage = objective, stages[number]
        scores = [objective.scores(stage) for stage in stages]
        reach = objective.reach(stages, scores)
        mass = reach @ objective.shares
        self._reached = reach[number]
        self._rho = float(objective.sparsity[number])
        self._mass = float(mass[number])
        later = stages[number + 1 :]
        #: The chances of a row that goes on to reach the later stages, and its expected error there.
        self._onward = objective.reach(later, scores[number + 1 :])
        self._later_errors = (exits(self._onward) * objective.errors(scores[number + 1 :])).sum(axis=0)
        squares = weighed_squares(stages, mass)
        self._bound = objective.norm.bound(squares.sum(axis=0))
        # The bound of the later stages is a multiple of their share of the rows, squared.
        self._later_prices = np.array([self._bound.curvature @ stage.coef**2 for stage in later]) / 2
        self._earlier_price = float(self._bound.curvature @ squares[:number].sum(axis=0)) / 2
        self._absolute = np.sqrt(self._stage.coef**2 + objective.norm.eps**2)

    def __call__(self, vector: Floats) -> tuple[float, Floats]:
        """Return the bound and its gradient at the parameters of a vector."""
        objective, stage = self._objective, self._stage.moved(vector)
        scores = objective.scores(stage)
        stays, gaps, along = self._exit(stage, scores)
        squares = stage.coef**2
        errors = (1 - stays) * gaps**2 + stays * self._later_errors
        value = float((objective.omega * self._reached) @ errors) / 2
        own_pull = self._mass**2 * self._bound.curvature
        price = self._bound.constant + self._earlier_price + float(own_pull @ squares) / 2
        price += float(self._later_mass(stays) ** 2 @ self._later_prices)
        value += objective.tradeoff * price
        value += self._rho * float(
            ((squares + objective.norm.eps**2) / self._absolute + self._absolute).sum() / 2
        )
        by_score = along - objective.omega * self._reached * (1 - stays) * gaps
        slope = by_score @ objective.learners
        slope += (objective.tradeoff * own_pull + self._rho / self._absolute) * stage.coef
        return value, np.append(slope, [by_score.sum(), -along.sum()])

    def metric(self) -> Metric:
        """Return the curvature of the loss and of the norms, and a bound on that of the exits."""
        objective, stage = self._objective, self._stage
        stays, _, along = self._exit(stage, objective.scores(stage))
        # The derivative of the exits' slope is at most that slope times the steepness.
        steep = objective.steepness * np.abs(along)
        gram = sampled_gram(objective.learners, objective.omega * self._reached * (1 - stays) + steep)
        n_learners = len(stage.coef)
        gram[np.arange(n_learners), np.arange(n_learners)] += (
            objective.tradeoff * self._mass**2 * self._bound.curvature + self._rho / self._absolute
        )
        of_threshold = np.array([[max(float(steep.sum()), np.finfo(np.float64).tiny)]])
        return Metric.of([(np.arange(n_learners + 1), gram), (np.array([n_learners + 1]), of_threshold)])

    def _exit(self, stage: Stage, scores: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the chances to stay, the gaps to the target, and the slope of what staying brings."""
        objective = self._objective
        stays = np.asarray(expit(objective.steepness * (scores - stage.threshold)))
        gaps = objective.target - scores
        price = (2 * self._later_mass(stays) * self._later_prices) @ self._onward
        gain = objective.omega * (self._later_errors - gaps**2) / 2
        gain += objective.tradeoff * objective.shares * price
        return stays, gaps, objective.steepness * stays * (1 - stays) * self._reached * gain

    def _later_mass(self, stays: Floats) -> Floats:
        """Return the share of the rows that reaches each later stage."""
        return np.asarray(self._onward @ (self._objective.shares * self._reached * stays))
