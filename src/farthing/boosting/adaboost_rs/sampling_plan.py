"""The sampling plan of a vote: which learners, with what probability, at what price.

A plan is made once for a fitted model, from its votes and its cost sheet. The walks and the compiled sampler
both run on it, so that they agree bit for bit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import accumulate, cycle
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import Sampler
from farthing.boosting.adaboost_rs.free_rider import VoteUnits
from farthing.costs import CostSheet
from farthing.costs.common_unit import in_unit, unit_of
from farthing.learning.voting.votes import LinearVotes, TreeVotes
from farthing.table.bins import plain
from farthing.trees import Predictor
from farthing.trees.progress import unpack

Sampling: TypeAlias = Literal["weight", "cost", "free_rider", "top"]
SAMPLINGS: Final = ("weight", "cost", "free_rider", "top")

# Sums of weighted votes below 2**52 steps of the grid are exact.
_SUM_BITS: Final = 52
# A finer grid than 2**-46 would have sums whose probability rounds to one half.
_GRID_BITS: Final = 46
# The shares of all learners add up to less than 2**62, so that no cumulative sum overflows.
_SHARE_BITS: Final = 62


@dataclass(frozen=True, eq=False)
class SamplingPlan:
    """Which learners vote, with what weight, in which order.

    Attributes
    ----------
    votes : TreeVotes or LinearVotes
        The learners.
    sheet : CostSheet
        The prices, in the order of the columns.
    columns : tuple of tuples of int
        The columns of each learner, ascending.
    relevant : tuple of int
        The columns of all learners, ascending.
    costs : ndarray of float64, shape (n_learners,)
        The total of each learner's columns, from an empty ledger.
    steps : float
        A weighted vote is rounded to a multiple of one over this power of two.
    cumulative : ndarray of uint64, shape (n_learners,)
        Sums of the shares by which learners are drawn; a share of zero is never drawn.
    weights : ndarray of float64, shape (n_learners,)
        The factor of a drawn vote.
    scale : float
        The factor from the mean of the draws to the full vote.
    exact : ndarray of int64
        Learners that are not drawn but always vote with their alpha.
    by_cost : ndarray of int64
        One learner per distinct set of columns, by descending cost.
    full_vote : bool
        Whether all learners vote as soon as all remaining columns are affordable.
    max_samples : int
        Maximum number of draws, or of learners from the top.
    order : ndarray of int64
        Learners from the top of the list; empty if they are drawn.
    reach : ndarray of float64, shape (len(order) + 1,)
        How far the votes from each position on can move the sum.
    curtail : bool
        Whether a row stops when the remaining votes cannot change its label.
    stops : ndarray of float64, shape (2, n_learners), or None
        The votes at which a row stops before each learner of the list, if it may stop with some error.
    units : VoteUnits or None
        What is drawn without replacement, if free riders vote.
    """

    votes: TreeVotes | LinearVotes
    sheet: CostSheet
    columns: tuple[tuple[int, ...], ...]
    relevant: tuple[int, ...]
    costs: NDArray[np.float64]
    steps: float
    cumulative: NDArray[np.uint64]
    weights: NDArray[np.float64]
    scale: float
    exact: NDArray[np.int64]
    by_cost: NDArray[np.int64]
    full_vote: bool
    max_samples: int
    order: NDArray[np.int64]
    reach: NDArray[np.float64]
    curtail: bool
    stops: NDArray[np.float64] | None
    units: VoteUnits | None

    @property
    def top(self) -> bool:
        """Whether learners come from the top of a list."""
        return len(self.order) > 0

    def weighted(self, learner: int, vote: Any) -> Any:
        """Return a vote, or an array of votes, times its alpha, on the grid."""
        return np.rint(self.votes.alphas[learner] * vote * self.steps) / self.steps

    @property
    def counts_constants(self) -> bool:
        """Whether a row that bought nothing but drew constant learners has a vote of its own."""
        return not self.top and self.units is None

    @classmethod
    def make(
        cls,
        votes: TreeVotes | LinearVotes,
        sheet: CostSheet,
        sampling: Sampling,
        *,
        n_samples: int | None = None,
        max_samples: int = 50_000,
        curtail: bool = False,
        moments: tuple[NDArray[np.float64], NDArray[np.float64]] | None = None,
        stops: NDArray[np.float64] | None = None,
    ) -> SamplingPlan:
        """Make the plan of a model.

        The arguments are those of `AdaBoostRSClassifier`; ``moments`` of "free_rider" come from
        `farthing.boosting.adaboost_rs.free_rider.vote_moments`, ``stops`` of "top" from
        `farthing.learning.voting.stochastic_curtailment.stopping_thresholds`.
        """
        columns = votes.columns()
        costs = _costs(columns, sheet)
        # Algorithm 3 draws in proportion to alpha / cost. Where the cost is zero, learners vote exactly
        # instead.
        free = costs == 0 if sampling == "cost" else np.zeros(len(costs), dtype=np.bool_)
        # Importance sampling: the vote of a learner drawn with probability ~ alpha / cost is multiplied by
        # its cost. For any fixed number of draws, their mean times the sum of alpha / cost, `scale`, is then
        # an unbiased estimate of the vote of all learners that are drawn (theorem 5 and its proof).
        weights = in_unit(costs, unit_of(costs)) if sampling == "cost" else np.ones(len(costs))
        ratios = np.divide(votes.alphas, weights, out=np.zeros_like(weights), where=~free)
        steps = _steps(votes)
        order = _order(votes.alphas, costs) if sampling == "top" else []
        limit = max_samples if sampling != "top" else len(costs)
        units = None
        if moments is not None:
            means, spreads = moments
            # On the grid, so that the mean votes of learners that are known leave their sum exactly.
            on_grid = np.rint((votes.alphas * means.T).T * steps) / steps
            units = VoteUnits.make(columns, sheet, on_grid, spreads)
        return cls(
            votes=votes,
            sheet=sheet,
            columns=columns,
            relevant=tuple(sorted(set().union(*columns))),
            costs=costs,
            steps=steps,
            cumulative=_cumulative(votes.alphas, costs if sampling == "cost" else np.ones(len(costs))),
            weights=weights,
            scale=math.fsum(ratios.tolist()),
            exact=np.flatnonzero(free),
            by_cost=_by_cost(columns, costs),
            full_vote=n_samples is None,
            max_samples=limit if n_samples is None else n_samples,
            order=np.array(order, dtype=np.int64),
            reach=_reach(votes, order, steps),
            curtail=curtail,
            stops=stops,
            units=units,
        )


class PlanSampler:
    """A plan compiled for many rows.

    Parameters
    ----------
    plan : SamplingPlan
        The plan.
    """

    def __init__(self, plan: SamplingPlan) -> None:
        self.plan = plan
        # A core for each of several classes, whose votes have means of their own.
        means = [None] if plan.units is None else np.atleast_2d(plan.units.means.T)
        self._cores = [self._compiled(one) for one in means]
        votes = plan.votes
        # Draws depend on the seed and on purchases, never on votes: the votes on each of several classes are
        # sampled one after another, with the same draws for all of them.
        forests = [part.forest for part in votes.by_output()] if isinstance(votes, TreeVotes) else []
        self._predictors = [Predictor(forest) for forest in forests]
        self._joint = Predictor(votes.forest) if isinstance(votes, TreeVotes) else None

    def _compiled(self, means: NDArray[np.float64] | None) -> Sampler:
        """Return the plan for votes of these means, if units are drawn."""
        plan = self.plan
        stop_low, stop_high = np.zeros((2, 0)) if plan.stops is None else plan.stops
        sizes = [len(columns) for columns in plan.columns]
        return Sampler(
            alphas=plan.votes.alphas,
            set_offsets=np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]),
            set_features=np.array([c for columns in plan.columns for c in columns], dtype=np.int64),
            all_features=np.array(plan.relevant, dtype=np.int64),
            steps=plan.steps,
            cumulative=plan.cumulative,
            weights=plan.weights,
            exact=plan.exact,
            scale=plan.scale,
            costly=plan.by_cost,
            costly_prices=plan.costs[plan.by_cost],
            full_vote=plan.full_vote,
            max_samples=plan.max_samples,
            top=plan.top,
            order=plan.order,
            reach=plan.reach,
            curtail=plan.curtail,
            stop_low=stop_low,
            stop_high=stop_high,
            **_unit_arrays(plan.units, means),
            own=plan.sheet.own,
            shared=plan.sheet.shared,
            group_of=plan.sheet.group_of,
        )

    def sample(
        self,
        values: NDArray[np.floating],
        budget: NDArray[np.float64] | None,
        seeds: NDArray[np.int64],
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Sample the votes of every row.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            An encoded table.
        budget : ndarray of float64, shape (n_rows,), optional
            What each row may spend.
        seeds : ndarray of int64, shape (n_rows,)
            The seed of each row.
        n_threads : int
            Threads to use; any number gives the same bits.

        Returns
        -------
        outputs : ndarray of float64, shape (n_rows, n_outputs)
            The votes.
        acquired : ndarray of bool, shape (n_rows, n_features)
            What each row bought.
        samples : ndarray of int64, shape (n_rows,)
            Learners drawn, or taken from the top.
        """
        caps = np.full(len(values), np.inf) if budget is None else budget
        votes, table = self.plan.votes, plain(values)
        if isinstance(votes, LinearVotes):
            outputs, words, samples = self._cores[0].linear(
                votes.column, votes.factor, votes.missing, table, caps, seeds, n_threads
            )
        elif self.plan.top and votes.n_outputs > 1:
            assert self._joint is not None
            outputs, words, samples = self._cores[0].top_classes(self._joint.core, table, caps, n_threads)
        else:
            parts = [
                core.trees(one.core, table, caps, seeds, n_threads)
                for core, one in zip(cycle(self._cores), self._predictors, strict=False)
            ]
            outputs, (_, words, samples) = np.hstack([part[0] for part in parts]), parts[0]
        return outputs, unpack(words, votes.n_features), samples

    def trace(
        self, values: NDArray[np.floating], budget: float | None = None, n_threads: int = 1
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the votes of trees from the top of the list as they grow, without curtailment.

        Returns
        -------
        sums : ndarray of float64, shape (n_rows, n_learners)
            The vote before each learner of the list; NaN before the first purchase.
        votes : ndarray of float64, shape (n_rows,)
        """
        caps = np.full(len(values), np.inf if budget is None else budget)
        votes, sums = self._cores[0].trace_trees(self._predictors[0].core, plain(values), caps, n_threads)
        return sums, votes


def full_vote(
    votes: TreeVotes | LinearVotes, sheet: CostSheet, values: NDArray[np.floating], n_threads: int = 1
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Return the full vote of all learners, regardless of its cost.

    Parameters
    ----------
    votes : TreeVotes or LinearVotes
        The learners.
    sheet : CostSheet
        The prices, in the order of the columns.
    values : ndarray, shape (n_rows, n_features)
        An encoded table.
    n_threads : int
        Threads to use; any number gives the same bits.

    Returns
    -------
    votes : ndarray of float64, shape (n_rows,) or (n_rows, n_classes)
    acquired : ndarray of bool, shape (n_rows, n_features)
    """
    # Without a budget everything is affordable, so the sampler takes the full vote at once.
    sampler = PlanSampler(SamplingPlan.make(votes, sheet, "weight"))
    outputs, acquired, _ = sampler.sample(values, None, np.zeros(len(values), dtype=np.int64), n_threads)
    return outputs[:, 0] if votes.n_outputs == 1 else outputs, acquired


def _unit_arrays(units: VoteUnits | None, means: NDArray[np.float64] | None) -> dict[str, Any]:
    """Return the units as the compiled sampler takes them."""
    learners = () if units is None else units.learners
    none: NDArray[np.float64] = np.zeros(0)
    return {
        "free_rider": units is not None,
        "unit_offsets": np.cumsum([0, *map(len, learners)], dtype=np.int64),
        "unit_members": np.array([t for members in learners for t in members], dtype=np.int64),
        "constants": np.array(() if units is None else units.constants, dtype=np.int64),
        "spreads": none if units is None else units.spreads,
        "means": none if means is None else np.ascontiguousarray(means),
        "mean_total": 0.0 if means is None else float(means.sum()),  # exact, on the grid
        "price_exponent": 0 if units is None else units.price_exponent,
        "additive": units is not None and units.additive,
    }


def _costs(columns: tuple[tuple[int, ...], ...], sheet: CostSheet) -> NDArray[np.float64]:
    names = sheet.features
    totals = {own: sheet.total([names[column] for column in own]) for own in set(columns)}
    return np.array([totals[own] for own in columns], dtype=np.float64)


def _cumulative(alphas: NDArray[np.float64], costs: NDArray[np.float64]) -> NDArray[np.uint64]:
    """Return the cumulative sums of integer shares in proportion to alpha over cost; free learners have none.

    The shares fill 62 bits and come from exact fractions, so that scaling all costs does not change them.
    """
    ratios = [_ratio(alpha, cost) for alpha, cost in zip(alphas.tolist(), costs.tolist(), strict=True)]
    largest = max(ratios)
    # Room for the sum: each share is at most `unit`, and there are fewer than 2**bit_length of them.
    unit = 2 ** (_SHARE_BITS - len(ratios).bit_length())
    # At least 1: a learner that rounding made impossible to draw would bias the estimate.
    shares = [max(round(ratio / largest * unit), 1) if ratio else 0 for ratio in ratios]
    return np.array(list(accumulate(shares)), dtype=np.uint64)


def _ratio(alpha: float, cost: float) -> Fraction:
    """Return alpha over cost, exactly; zero for what is free."""
    return Fraction(alpha) / Fraction(cost) if cost else Fraction(0)


def _by_cost(columns: tuple[tuple[int, ...], ...], costs: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return one learner for each set of columns that costs something, the most expensive first."""
    # Learners with the same columns have the same price at all times, so one of each set is enough.
    first: dict[tuple[int, ...], int] = {}
    for learner, own in enumerate(columns):
        first.setdefault(own, learner)
    paid = [learner for learner in first.values() if costs[learner] > 0]
    return np.array(sorted(paid, key=lambda learner: -costs[learner]), dtype=np.int64)


def _order(alphas: NDArray[np.float64], costs: NDArray[np.float64]) -> list[int]:
    """Return the learners by descending alpha over cost, exactly; free ones first, by descending alpha.

    Ties go to the larger alpha, then the earlier learner.
    """

    def rank(learner: int) -> tuple[bool, Fraction, float, int]:
        alpha, cost = float(alphas[learner]), float(costs[learner])
        # Fractions, as rounded ratios could turn near-equal learners into ties, or swap them when costs
        # scale.
        return cost > 0, -_ratio(alpha, cost), -alpha, learner

    return sorted(range(len(costs)), key=rank)


def _steps(votes: TreeVotes | LinearVotes) -> float:
    """Return the finest grid, one over a power of two, on which all sums of weighted votes are exact."""
    # The features of a linear model are unbounded; values of about 1 are assumed for them.
    reach = np.where(np.isfinite(votes.reach()), votes.reach(), 1.0)
    most = math.fsum((votes.alphas * reach).tolist())
    _, exponent = math.frexp(most)
    return math.ldexp(1.0, max(min(_SUM_BITS - exponent, _GRID_BITS), -1000))


def _reach(votes: TreeVotes | LinearVotes, order: list[int], steps: float) -> NDArray[np.float64]:
    # Rounded as the votes are, so that the bound holds for the sums as they are computed.
    furthest = votes.reach()[order] * votes.alphas[order]
    on_grid = np.where(np.isfinite(furthest), np.rint(furthest * steps) / steps, np.inf)
    return np.append(np.cumsum(on_grid[::-1])[::-1], 0.0)
