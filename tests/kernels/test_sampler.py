"""The compiled sampler and the walks against the twin, bit by bit."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive import sampler as naive
from tests.kernels.strategies import SEEDS, sheets

from farthing._core import draw_index, purchase_bits, seed_key
from farthing.boosting.adaboost_rs.free_rider import vote_moments
from farthing.boosting.adaboost_rs.sampling_plan import PlanSampler, SamplingPlan
from farthing.boosting.adaboost_rs.vote_policies import FreeRiderVotePolicy, SampledVotePolicy, TopVotePolicy
from farthing.costs import CostSheet, Group
from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.trees import Forest
from farthing.walks import walk_rows

SAMPLINGS = ("weight", "cost", "top")
ALL_SAMPLINGS = (*SAMPLINGS, "free_rider")


def random_tree(rng: np.random.Generator, n_features: int, depth: int) -> Forest:
    """Return a tree of votes; a split may send missing values either way or keep them."""
    nodes: list[list[Any]] = []

    def grow(level: int) -> int:
        place = len(nodes)
        nodes.append([-1, 0.0, -1, -1, 2, float(rng.choice([-1.0, 1.0, 0.25]))])
        if level < depth and rng.random() < 0.9:
            column, missing = int(rng.integers(n_features)), int(rng.integers(3))
            nodes[place] = [column, float(rng.integers(-1, 2)), grow(level + 1), -1, missing, 0.0]
            nodes[place][3] = grow(level + 1)
        return place

    grow(0)
    feature, threshold, left, right, missing, value = (list(field) for field in zip(*nodes, strict=True))
    return Forest.from_arrays(
        n_features=n_features,
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        missing=missing,
        value=[[v] for v in value],
    )


def random_votes(rng: np.random.Generator, n_features: int, linear: bool) -> TreeVotes | LinearVotes:
    n_learners = int(rng.integers(1, 9))
    alphas = rng.choice([0.25, 0.5, 1.0, 0.1, 1 / 3, 2.7], n_learners)
    if linear:
        column = rng.integers(-1, n_features, n_learners)
        factor, missing = rng.normal(size=(2, n_learners))
        return LinearVotes(alphas, column, factor, missing, n_features)
    trees = [random_tree(rng, n_features, int(rng.integers(0, 3))) for _ in range(n_learners)]
    return TreeVotes(alphas, Forest.concat(trees).validate())


PRIOR = np.array([0.123])


def naive_vote(votes: TreeVotes | LinearVotes) -> naive.Vote:
    if isinstance(votes, TreeVotes):
        return naive.Vote.of_forest(votes.forest, votes.alphas)
    return naive.Vote.of_linear(votes)


def walked(
    plan: SamplingPlan, values: NDArray[Any], budget: NDArray[np.float64] | None, seeds: NDArray[np.int64]
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    def policy(seed: int | None) -> Any:
        assert seed is not None
        if plan.units is not None:
            return FreeRiderVotePolicy(plan, PRIOR, seed)
        return TopVotePolicy(plan, PRIOR) if plan.top else SampledVotePolicy(plan, PRIOR, seed)

    return walk_rows(policy, plan.sheet, values, 1, budget=budget, seeds=seeds)


def settled(
    plan: SamplingPlan, outputs: NDArray[Any], acquired: NDArray[Any], samples: NDArray[Any]
) -> NDArray[Any]:
    """Return the prior for rows that read nothing, unless they drew learners that need no column."""
    has_voted = acquired.any(axis=1) | ((samples > 0) & plan.counts_constants)
    return np.where(has_voted[:, np.newaxis], outputs, PRIOR)


@given(st.data())
def test_kernel_walk_and_twin_are_the_same_bits(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(SEEDS))
    n_features, n_rows = data.draw(st.integers(1, 5)), 6
    sheet, _ = data.draw(sheets(n_features))
    votes = random_votes(rng, n_features, data.draw(st.booleans()))
    sampling = data.draw(st.sampled_from(SAMPLINGS))
    n_samples = data.draw(st.sampled_from([None, None, 1, 7]))
    dtype = data.draw(st.sampled_from([np.float64, np.float32]))
    plan = SamplingPlan.make(votes, sheet, sampling, n_samples=n_samples, max_samples=40)
    values = rng.integers(-2, 3, (n_rows, n_features)).astype(dtype)
    values[rng.random(values.shape) < 0.2] = np.nan
    budget = rng.choice([0.0, 0.5, 1.5, 2.5, 4.0, 6.0, math.inf], n_rows)
    seeds = rng.integers(0, 2**40, n_rows)

    outputs, acquired, samples = PlanSampler(plan).sample(values, budget, seeds)
    vote = naive_vote(votes)
    for row in range(n_rows):
        account = naive.Row(values[row], sheet, float(budget[row]))
        expected = naive.sample(
            vote,
            account,
            plan,
            sampling=sampling,
            seed=int(seeds[row]),
            n_samples=n_samples,
            max_samples=40,
        )
        assert (float(outputs[row, 0]), int(samples[row])) == expected
        assert set(np.flatnonzero(acquired[row]).tolist()) == account.bought
    by_walk, bought = walked(plan, values, budget, seeds)
    assert by_walk.tobytes() == settled(plan, outputs, acquired, samples).tobytes()
    assert np.array_equal(bought, acquired)


@given(st.data())
def test_free_riders_of_kernel_and_walk_are_the_same_bits(data: st.DataObject) -> None:
    rng = np.random.default_rng(data.draw(SEEDS))
    n_features, n_rows = data.draw(st.integers(1, 5)), 6
    sheet, _ = data.draw(sheets(n_features))
    votes = random_votes(rng, n_features, data.draw(st.booleans()))
    values = rng.integers(-2, 3, (n_rows, n_features)).astype(
        data.draw(st.sampled_from([np.float64, np.float32]))
    )
    values[rng.random(values.shape) < 0.2] = np.nan
    n_samples = data.draw(st.sampled_from([None, None, 1, 3]))
    moments = vote_moments(votes, values, np.ones(n_rows))
    plan = SamplingPlan.make(votes, sheet, "free_rider", n_samples=n_samples, moments=moments)
    budget = rng.choice([0.0, 0.5, 1.5, 2.5, 4.0, 6.0, math.inf], n_rows)
    seeds = rng.integers(0, 2, n_rows)  # some are equal: rows of one seed and budget share their draws
    outputs, acquired, samples = PlanSampler(plan).sample(values, budget, seeds)
    by_walk, bought = walked(plan, values, budget, seeds)
    assert by_walk.tobytes() == settled(plan, outputs, acquired, samples).tobytes()
    assert np.array_equal(bought, acquired)
    assert (sheet.total_rows(acquired) <= budget * (1 + 1e-12)).all()
    assert n_samples is None or samples.max() <= n_samples


@settings(deadline=None)
@given(st.integers(0, 2**63 - 1), st.sets(st.integers(0, 500)), st.integers(0, 2**40), st.data())
def test_the_lot_is_the_one_of_the_definition(
    seed: int, bought: set[int], counter: int, data: st.DataObject
) -> None:
    key = seed_key(seed)
    for column in data.draw(st.permutations(sorted(bought))):  # a set has one key, in whatever order
        key ^= purchase_bits(column)
    assert key == naive.key_of(seed, bought)
    shares = data.draw(st.lists(st.integers(0, 2**58), min_size=1, max_size=9).filter(any))
    cumulative = np.cumsum(np.array(shares, dtype=np.uint64), dtype=np.uint64)
    drawn = draw_index(cumulative, key, counter)
    assert drawn == naive.draw(shares, key, counter)
    assert shares[drawn] > 0


def test_an_empty_urn_is_an_error() -> None:
    with pytest.raises(ValueError, match="nothing to draw"):
        draw_index(np.zeros(3, dtype=np.uint64), 1, 1)


def many(sampling: Any, **options: Any) -> tuple[PlanSampler, NDArray[Any], NDArray[Any]]:
    """Return a sampler over groups and awkward costs, a table and seeds."""
    rng = np.random.default_rng(4)
    own = rng.random(70)
    own[::9] = 0.0
    names = [f"x{j}" for j in range(70)]
    sheet = CostSheet(
        dict(zip(names, own.tolist(), strict=True)),
        groups={"a": Group(0.7, names[3:9]), "b": Group(0.1, names[40:44])},
    )
    trees = [random_tree(rng, 70, 2) for _ in range(60)]
    votes = TreeVotes(rng.random(60) + 0.01, Forest.concat(trees).validate())
    values = rng.integers(-2, 3, (300, 70)).astype(float)
    if sampling == "free_rider":
        options["moments"] = vote_moments(votes, values, np.ones(300))
    return PlanSampler(SamplingPlan.make(votes, sheet, sampling, **options)), values, np.arange(300)


@pytest.mark.parametrize("sampling", ALL_SAMPLINGS)
def test_threads_places_and_neighbours_do_not_matter(sampling: Any) -> None:
    sampler, values, seeds = many(sampling)
    budget = np.linspace(0.0, 16.0, len(values))
    expected = sampler.sample(values, budget, seeds)
    for n_threads in (2, 3):
        for left, right in zip(sampler.sample(values, budget, seeds, n_threads), expected, strict=True):
            assert left.tobytes() == right.tobytes()
    some = np.random.default_rng(0).permutation(300)[:40]
    for left, right in zip(sampler.sample(values[some], budget[some], seeds[some]), expected, strict=True):
        assert np.array_equal(left, right[some])
    by_walk, bought = walked(sampler.plan, values[some], budget[some], seeds[some])
    assert by_walk.tobytes() == settled(sampler.plan, *expected)[some].tobytes()
    assert np.array_equal(bought, expected[1][some])


def test_budgets_hold_to_the_last_bit() -> None:
    """Budgets that are sums of the sheet, where the sum of the parts may round to more."""
    for sampling in ALL_SAMPLINGS:
        sampler, values, seeds = many(sampling)
        sheet = sampler.plan.sheet
        rng = np.random.default_rng(1)
        budget = sheet.total_rows(rng.random((len(values), 70)) < 0.3)
        _, acquired, _ = sampler.sample(values, budget, seeds)
        assert (sheet.total_rows(acquired) <= budget * (1 + 1e-12)).all()
        assert acquired.any(axis=1).mean() > 0.9


def test_curtailed_votes_have_the_label_of_all_votes_for_less() -> None:
    for budget in (None, np.full(300, 6.0)):
        whole, values, seeds = many("top")
        short, _, _ = many("top", curtail=True)
        outputs, bought, _ = whole.sample(values, budget, seeds)
        early, less, _ = short.sample(values, budget, seeds)
        assert np.array_equal(early > 0, outputs > 0)
        assert not (less & ~bought).any()
        assert less.sum() < bought.sum()
        by_walk, _ = walked(short.plan, values[:40], None if budget is None else budget[:40], seeds[:40])
        assert by_walk.tobytes() == early[:40].tobytes()


@settings(deadline=None)
@given(st.lists(st.sampled_from([1e-300, 1e-9, 0.5, 1.0, 3.0, 1e300]), min_size=1, max_size=8), SEEDS)
def test_shares_are_in_proportion_and_the_vote_unbiased(costs: list[float], seed: int) -> None:
    """Exactly: the shares as fractions, against alpha over cost and against the full vote."""
    rng = np.random.default_rng(seed)
    n = len(costs)
    alphas, signs = rng.random(n) + 0.01, rng.choice([-1.0, 1.0], n)
    votes = LinearVotes(alphas, np.arange(n), signs, np.zeros(n), n)
    plan = SamplingPlan.make(votes, CostSheet(costs), "cost")
    shares = [Fraction(s) for s in np.diff(plan.cumulative, prepend=np.uint64(0)).tolist()]
    due = [Fraction(a) / Fraction(c) for a, c in zip(alphas.tolist(), costs, strict=True)]
    for share, ratio in zip(shares, due, strict=True):
        assert abs(share / sum(shares) - ratio / sum(due)) < Fraction(1, 2**52)
    if max(costs) / min(costs) < 1e12:
        mean = sum(s * Fraction(w * v) for s, w, v in zip(shares, plan.weights.tolist(), signs, strict=True))
        full = float((alphas * signs).sum())
        assert float(mean / sum(shares)) * plan.scale == pytest.approx(full, rel=1e-3, abs=1e-3)
