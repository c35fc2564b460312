"""The fitted model of AdaBoostRS: the learners, and how a row samples their votes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.boosting.adaboost_rs.drawn_plan import drawn_vote_plan
from farthing.boosting.adaboost_rs.free_rider import units_of
from farthing.boosting.adaboost_rs.sampling_plan import SAMPLINGS, PlanSampler, Sampling, SamplingPlan
from farthing.boosting.adaboost_rs.vote_policies import (
    FreeRiderVotePolicy,
    SampledVotePolicy,
    TopVotePolicy,
)
from farthing.learning.voting import LinearVotes, TreeVotes, VoteModel
from farthing.learning.voting.stochastic_curtailment import check_stops, stopping_thresholds
from farthing.walks import Policy
from farthing.walks.plans import Plan

MAX_SAMPLES: Final = 2**31
"""Maximum number of draws per row, also for a model loaded from a file."""


@dataclass(frozen=True, eq=False, kw_only=True)
class AdaBoostRSModel(VoteModel):
    """A weighted vote that each row samples within its budget.

    Parameters
    ----------
    votes : TreeVotes or LinearVotes
        The learners and their weights.
    sampling, n_samples, max_samples, curtail
        As the parameters of `AdaBoostRSClassifier`.
    seed : int
        The seed of rows without a seed of their own.
    margins, margin_weights : ndarray of float64, shape (n_rows,)
        The margins of the full vote on the training rows, and the weights of the rows.
    mean_votes : ndarray of float64, shape (n_learners,) or (n_learners, n_classes), or None
        For "free_rider": the mean vote of each learner on the training rows.
    spreads : ndarray of float64, shape (n_units,), or None
        For "free_rider": how far the votes of each distinct set of columns are from their means.
    stops : ndarray of float64, shape (2, n_learners), or None
        For "top" with a ``curtailment_error``: the votes at which a row stops before each learner.
    """

    votes: TreeVotes | LinearVotes
    sampling: Sampling
    n_samples: int | None
    max_samples: int
    curtail: bool
    seed: int
    margins: NDArray[np.float64]
    margin_weights: NDArray[np.float64]
    mean_votes: NDArray[np.float64] | None = None
    spreads: NDArray[np.float64] | None = None
    stops: NDArray[np.float64] | None = None

    @cached_property
    def sampler(self) -> PlanSampler:
        """The compiled sampler."""
        return PlanSampler(
            SamplingPlan.make(
                self.votes,
                self.costs,
                self.sampling,
                n_samples=self.n_samples,
                max_samples=self.max_samples,
                curtail=self.curtail,
                moments=self._moments(),
                stops=self.stops,
            )
        )

    def _moments(self) -> tuple[NDArray[np.float64], NDArray[np.float64]] | None:
        if self.mean_votes is None or self.spreads is None:
            return None
        return self.mean_votes, self.spreads

    def plan(self) -> Plan:
        """Return the learners and how they are chosen."""
        return drawn_vote_plan(self.sampler.plan, self.prior, self.seed)

    def policy(self, seed: int | None = None) -> Policy:
        """Return the policy that draws learners, or takes them from the top of the list."""
        plan = self.sampler.plan
        if plan.top:
            return TopVotePolicy(plan, self.prior)
        kind = SampledVotePolicy if plan.units is None else FreeRiderVotePolicy
        return kind(plan, self.prior, self.seed if seed is None else seed)

    def outputs(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """Sample the votes of many rows in the compiled core; see `FittedModel.outputs`."""
        outputs, acquired, samples = self.sample(values, budget=budget, seeds=seeds, n_threads=n_threads)
        has_voted: NDArray[np.bool_] = np.asarray(acquired.any(axis=1))
        if self.sampler.plan.counts_constants:
            # The budget covers whatever is drawn, so a row without a purchase drew nothing but constants.
            has_voted |= samples > 0
        return np.where(has_voted[:, np.newaxis], outputs, self.prior), acquired

    def settle(self, outputs: NDArray[np.float64], looked: NDArray[np.bool_]) -> NDArray[np.float64]:
        """Return the outputs as they are: they have the prior already; see `VotePolicy.output`."""
        return outputs

    def sample(
        self,
        values: NDArray[np.floating],
        *,
        budget: NDArray[np.float64] | None = None,
        seeds: NDArray[np.int64] | None = None,
        n_threads: int = 1,
    ) -> tuple[NDArray[np.float64], NDArray[np.bool_], NDArray[np.int64]]:
        """Return what `outputs` does, and how many learners each row drew, shape (n_rows,)."""
        # One seed for all rows: equal rows get equal labels, wherever they are in the table.
        own = np.full(len(values), self.seed, dtype=np.int64) if seeds is None else seeds
        return self.sampler.sample(values, budget, own, n_threads)

    def curtailed_with(
        self, error: float, learned: TrainingSet, held_out: TrainingSet | None, n_threads: int = 1
    ) -> Self:
        """Return the vote that stops with this error probability, calibrated on rows that were held out.

        The vote itself if no rows were; see `farthing.learning.voting.stochastic_curtailment`.
        """
        if held_out is None:
            return self
        whole = replace(self, curtail=False)
        trace = partial(whole.sampler.trace, budget=self.budget, n_threads=n_threads)
        return replace(self, stops=stopping_thresholds(trace, learned.values, held_out.values, error))

    def may_buy(self) -> NDArray[np.bool_]:
        """Return which columns the learners read, shape (n_features,)."""
        return np.isin(
            np.arange(self.votes.n_features),
            self.votes.column if isinstance(self.votes, LinearVotes) else self.votes.forest.feature,
        )

    def check(self) -> None:
        """Raise ValueError if the fields are inconsistent."""
        super().check()
        n_features = len(self.schema.names)
        if self.votes.n_features != n_features:
            raise ValueError(f"the votes have {self.votes.n_features} features, the table {n_features}")
        n_outputs = 1 if len(self.classes) <= 2 else len(self.classes)
        if self.votes.n_outputs != n_outputs or len(self.prior) != n_outputs:
            raise ValueError(
                f"a vote on {len(self.classes)} classes has {n_outputs} outputs; got {self.votes.n_outputs}"
            )
        if self.sampling not in SAMPLINGS:
            raise ValueError(f"sampling must be one of {SAMPLINGS}; got {self.sampling!r}")
        if self.curtail and (self.sampling != "top" or not np.isfinite(self.votes.reach()).all()):
            raise ValueError("curtail needs sampling='top' and votes with a bound")
        if self.stops is not None and not self.curtail:
            raise ValueError("stops belong to a vote with curtail=True")
        check_stops(self.stops, len(self.votes.alphas))
        samples = (self.max_samples, 1 if self.n_samples is None else self.n_samples)
        if not all(1 <= count <= MAX_SAMPLES for count in samples):
            raise ValueError(f"max_samples and n_samples must lie between 1 and {MAX_SAMPLES}")
        if not 0 <= self.seed < 2**63:
            raise ValueError(f"seed must lie between 0 and 2**63 - 1; got {self.seed}")
        for name in ("margins", "margin_weights"):
            array = getattr(self, name)
            if array.dtype != np.float64 or array.ndim != 1 or not np.isfinite(array).all():
                raise ValueError(f"{name} must be a list of finite floats")
        if len(self.margins) != len(self.margin_weights) or not (self.margin_weights > 0).all():
            raise ValueError("margins must have a positive weight each")
        self._check_moments()
        SamplingPlan.make(self.votes, self.costs, self.sampling)  # raises if votes and prices make no plan

    def _check_moments(self) -> None:
        drawn = self.sampling == "free_rider"
        columns = self.votes.columns()
        by_class = () if self.votes.n_outputs == 1 else (self.votes.n_outputs,)
        shapes = {"mean_votes": (len(columns), *by_class), "spreads": (len(units_of(columns)),)}
        for name, shape in shapes.items():
            array = getattr(self, name)
            if (array is not None) != drawn:
                raise ValueError(f"{name} belongs to sampling='free_rider', and to no other")
            if array is None:
                continue
            if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite floats of shape {shape}")
            if name == "spreads" and not (array > 0).all():
                raise ValueError("spreads must be above zero")
