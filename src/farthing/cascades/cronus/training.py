"""Training of Cronus: algorithm 2 finds a start stage by stage, algorithm 1 improves it in cycles."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from farthing.cascades.cronus.objective import CronusObjective, Stage, StageObjective, weighed_squares
from farthing.deadline import check_deadline
from farthing.learning.priced_regression import priced_regression
from farthing.learning.scaled_descent import descend
from farthing.typing import Floats

# Of a stage within a cycle: updates of the bounds, and steps of the quasi-Newton method between two of them.
_UPDATES: Final = 3
_STEPS: Final = 25


@dataclass(frozen=True)
class Trace:
    """The start, and what each cycle over the stages made of it.

    Attributes
    ----------
    cascades : list of list of Stage
        The stages.
    values : list of float
        Their objective, which never rises.
    """

    cascades: list[list[Stage]]
    values: list[float]


def train_cascade(
    objective: CronusObjective, *, reject_fraction: float, inflation: float, max_cycles: int, tol: float
) -> Trace:
    """Minimise the objective over all stages.

    Parameters
    ----------
    objective : CronusObjective
        What is minimised.
    reject_fraction : float
        Share of the rows of a stage that leave there at the start, epsilon.
    inflation : float
        Factor of the trade-off of a stage at the start, relative to that of the next one, delta.
    max_cycles : int
        Most cycles over the stages.
    tol : float
        A cycle that lowers the objective by less than this share of it is the last.

    Returns
    -------
    Trace
        The cascades on the way; the last has the least objective.
    """
    stages = start(objective, reject_fraction, inflation)
    least = objective.value(stages)
    cascades, values = [stages], [least]
    # A single stage is convex, and solved already.
    for _ in range(max_cycles if len(stages) > 1 else 0):
        for number in range(len(stages)):
            check_deadline()
            moved = [*stages[:number], _improved(objective, stages, number), *stages[number + 1 :]]
            value = objective.value(moved)
            if value < least:
                stages, least = moved, value
        cascades.append(stages)
        values.append(least)
        if values[-2] - values[-1] <= tol * abs(values[-2]):
            break
    return Trace(cascades, values)


def start(objective: CronusObjective, reject_fraction: float, inflation: float) -> list[Stage]:
    """Solve one stage after another as if it were the last, which is convex (algorithm 2).

    The trade-off of stage k of K is lambda * delta^(K - k): inflated at first, and lambda itself at the last.
    """
    stages: list[Stage] = []
    reached = np.ones(len(objective.shares))
    for number in range(objective.n_stages):
        check_deadline()
        inflated = replace(
            objective, tradeoff=objective.tradeoff * inflation ** (objective.n_stages - 1 - number)
        )
        mass = np.array([*_masses(objective, stages), float(objective.shares @ reached)])
        stage = solve_last(inflated, stages, reached, mass, None)
        if number < objective.n_stages - 1:
            scores = objective.scores(stage)
            stage = replace(stage, threshold=_threshold(objective, scores, reached, reject_fraction))
            reached = reached * objective.stays(stage)
        stages.append(stage)
    return stages


def solve_last(
    objective: CronusObjective, before: list[Stage], reached: Floats, mass: Floats, now: Stage | None
) -> Stage:
    """Return the best last stage in closed form, norms and bounds in turn.

    Parameters
    ----------
    objective : CronusObjective
        The objective, with the trade-off of this stage.
    before : list of Stage
        The stages before it.
    reached : ndarray of float64, shape (n_rows,)
        The probability of each row to reach it.
    mass : ndarray of float64, shape (n_stages,)
        The share of the rows that reaches each stage up to this one.
    now : Stage or None
        Where to start; None means the solution without prices.
    """
    squares = np.zeros(objective.learners.shape[1])
    if before:
        squares = weighed_squares(before, mass[:-1]).sum(axis=0)
    found = priced_regression(
        objective.learners,
        objective.target,
        objective.omega * reached,
        objective.norm,
        tradeoff=objective.tradeoff,
        sparsity=float(objective.sparsity[len(before)]),
        before=squares,
        factor=float(mass[-1]) ** 2,
        start=None if now is None else np.append(now.coef, now.intercept),
    )
    return Stage(found[:-1], float(found[-1]), 0.0)


def _improved(objective: CronusObjective, stages: list[Stage], number: int) -> Stage:
    """Return a stage after some steps down its bounds, all others fixed."""
    if number == len(stages) - 1:
        reach = objective.reach(stages)
        return solve_last(objective, stages[:-1], reach[-1], reach @ objective.shares, stages[-1])
    moved = list(stages)
    for _ in range(_UPDATES):
        bound = StageObjective(objective, moved, number)
        before = moved[number].vector()
        after = descend(bound, before, bound.metric(), max_steps=_STEPS, tol=1e-7)
        if after is before:
            break
        moved[number] = moved[number].moved(after)
    return moved[number]


def _masses(objective: CronusObjective, stages: list[Stage]) -> list[float]:
    """Return the share of the rows that reaches each of the first stages."""
    return (objective.reach(stages) @ objective.shares).tolist() if stages else []


def _threshold(objective: CronusObjective, scores: Floats, reached: Floats, fraction: float) -> float:
    """Return the threshold at which a share of the rows that reach a stage leaves there."""
    weights = objective.shares * reached
    goal = (1 - fraction) * float(weights.sum())

    def surplus(threshold: float) -> float:
        return float(weights @ expit(objective.steepness * (scores - threshold))) - goal

    # Far enough out that the sigmoid is 1, or 0, for all rows.
    reach = 40.0 / objective.steepness
    low, high = float(scores.min()) - reach, float(scores.max()) + reach
    return float(brentq(surplus, low, high, xtol=1e-13, rtol=1e-13, maxiter=200))
