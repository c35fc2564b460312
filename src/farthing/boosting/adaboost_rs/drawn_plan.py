"""A sampling plan as tables, from which an export writes it in another language."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from farthing._core import purchase_bits
from farthing.boosting.adaboost_rs.sampling_plan import SamplingPlan
from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.walks.drawn_votes import (
    DrawnVotePlan,
    Draws,
    LinearLearners,
    TopOrder,
    TreeLearners,
    UnitDraws,
)


def drawn_vote_plan(plan: SamplingPlan, prior: NDArray[np.float64], seed: int) -> DrawnVotePlan:
    """Return the tables of a sampling plan.

    Parameters
    ----------
    plan : SamplingPlan
    prior : ndarray of float64, shape (n_outputs,)
        The output of a row without a vote of its own.
    seed : int
        The seed of rows without one of their own.
    """
    return DrawnVotePlan(
        learners=_tree_learners(plan, plan.votes)
        if isinstance(plan.votes, TreeVotes)
        else _linear_learners(plan, plan.votes),
        columns=plan.columns,
        choice=_choice(plan),
        max_samples=plan.max_samples,
        full_vote=plan.full_vote,
        prior=prior,
        seed=seed,
        keys={column: purchase_bits(column) for column in plan.relevant},
    )


def _tree_learners(plan: SamplingPlan, votes: TreeVotes) -> TreeLearners:
    sizes = np.diff(votes.forest.offsets)
    alphas, weights = np.repeat(votes.alphas, sizes), np.repeat(plan.weights, sizes)
    value = votes.forest.value
    # Node by node what `SamplingPlan.weighted` makes of a vote, and what a draw adds.
    exact = np.rint(alphas[:, np.newaxis] * value * plan.steps) / plan.steps
    return TreeLearners(votes.weighted_predictor, exact, weights[:, np.newaxis] * value)


def _linear_learners(plan: SamplingPlan, votes: LinearVotes) -> LinearLearners:
    return LinearLearners(votes.column, votes.factor, votes.missing, votes.alphas, plan.weights, plan.steps)


def _choice(plan: SamplingPlan) -> TopOrder | Draws | UnitDraws:
    if plan.top:
        return TopOrder(plan.order, plan.reach, plan.curtail, plan.stops)
    if plan.units is None:
        return Draws(plan.cumulative, plan.exact, plan.by_cost, plan.costs, plan.scale)
    units = plan.units
    return UnitDraws(
        learners=units.learners,
        constants=units.constants,
        spreads=units.spreads,
        means=units.means.reshape(len(units.means), -1),
        start=np.atleast_1d(units.mean_total),
        price_exponent=units.price_exponent,
        additive=units.additive,
    )
