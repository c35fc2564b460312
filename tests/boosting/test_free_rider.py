"""Free-rider votes: every order of draws, weighted by its probability, gives the full vote."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.kernels.test_sampler import random_tree

from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier
from farthing.boosting.adaboost_rs import vote_policies
from farthing.boosting.adaboost_rs.free_rider import units_of, vote_moments
from farthing.boosting.adaboost_rs.sampling_plan import PlanSampler, SamplingPlan
from farthing.boosting.adaboost_rs.vote_policies import FreeRiderVotePolicy
from farthing.costs import CostSheet, Group, RowLedger
from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.trees import Forest
from farthing.walks.row_walk import RowWalk

PRIOR = np.array([0.5])
NAMES = [f"x{j}" for j in range(5)]
SHEETS = {
    "uniform": CostSheet([1.0] * 5),
    "various": CostSheet([0.7, 1.3, 2.9, 0.4, 1.1]),
    "some free": CostSheet([0.7, 0.0, 2.9, 0.4, 0.0]),
    "groups": CostSheet(
        dict(zip(NAMES, [0.7, 0.0, 0.5, 0.4, 1.1], strict=True)),
        groups={"a": Group(0.9, ["x0", "x1", "x3"]), "b": Group(0.3, ["x2"])},
    ),
}


def stumps_and_constant(rng: np.random.Generator) -> TreeVotes:
    """Return two stumps on most columns, and a constant learner."""
    trees = [random_tree(rng, 5, 1) for _ in range(8)]
    forest = Forest.concat([*trees, Forest.constant([1.0], 5)]).validate()
    return TreeVotes(rng.random(9) + 0.1, forest)


def trees_and_constant(rng: np.random.Generator) -> TreeVotes:
    """Return trees of up to three columns, whose sets overlap, and a constant learner."""
    trees = [random_tree(rng, 5, 2) for _ in range(5)]
    forest = Forest.concat([*trees, Forest.constant([-1.0], 5)]).validate()
    return TreeVotes(rng.random(6) + 0.1, forest)


def linear_with_intercept(rng: np.random.Generator) -> LinearVotes:
    column = np.array([0, 1, 2, 3, 4, -1])
    return LinearVotes(rng.random(6) + 0.1, column, rng.normal(size=6), rng.normal(size=6), 5)


def every_order(
    plan: SamplingPlan,
    row: NDArray[np.float64],
    budget: float | None,
    refused: frozenset[int],
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[tuple[float, float]]:
    """Yield the probability and the output of every way in which the draws may turn out."""
    scripts: list[tuple[list[int], float]] = [([], 1.0)]
    while scripts:
        script, chance = scripts.pop()
        taken = iter(script)
        forks: list[list[float]] = []

        def follow(scores: Sequence[float], taken: Any = taken, forks: Any = forks, **_: int) -> int:
            place = next(taken, None)
            if place is None:
                forks.append(list(scores))
                return 0
            return int(place)

        monkeypatch.setattr(vote_policies, "draw_by_score", follow)
        walk = RowWalk(FreeRiderVotePolicy(plan, PRIOR, 0), RowLedger(plan.sheet, budget))
        while walk.column is not None and not forks:
            if walk.column in refused:
                walk.refuse()
            else:
                walk.buy(row[walk.column])
        if not forks:
            yield chance, float(walk.output()[0])
            continue
        scores = forks[0]
        for place, score in enumerate(scores):
            scripts.append(([*script, place], chance * score / sum(scores)))


def full_votes(
    votes: TreeVotes | LinearVotes, row: NDArray[np.float64], refused: frozenset[int]
) -> NDArray[np.float64]:
    """Return each learner's vote times its alpha, evaluated without the refused columns."""
    found = []
    for learner in range(len(votes.alphas)):
        vote = votes.lazy_vote(learner)
        while (column := vote.wants()) is not None:
            if column in refused:
                vote.refuse()
            else:
                vote.hear(float(row[column]))
        found.append(vote.value() * votes.alphas[learner])
    return np.array(found)


@pytest.mark.parametrize("make", [stumps_and_constant, trees_and_constant, linear_with_intercept])
@pytest.mark.parametrize("prices", SHEETS)
@pytest.mark.parametrize("budget", [1.0, 2.0, 3.4])
def test_the_mean_over_all_orders_is_the_full_vote(
    make: Any, prices: str, budget: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng([len(prices), int(10 * budget)])
    votes, sheet = make(rng), SHEETS[prices]
    values = rng.integers(-2, 3, (20, 5)).astype(float)
    values[rng.random(values.shape) < 0.1] = np.nan
    means, spreads = vote_moments(votes, values, np.ones(20))
    plan = SamplingPlan.make(votes, sheet, "free_rider", moments=(means, spreads))
    for row, refused in ((values[0], frozenset[int]()), (values[1], frozenset({2}))):
        if refused and budget == 1.0:
            continue  # a row that obtains nothing has the prior
        chances, outputs = np.array(list(every_order(plan, row, budget, refused, monkeypatch))).T
        assert chances.sum() == pytest.approx(1.0, abs=1e-12)
        covered = [
            sheet.total([sheet.features[column] for column in own]) <= budget * (1 + 1e-12)
            for own in votes.columns()
        ]
        # Learners that the budget does not cover count with their mean.
        expected = np.where(covered, full_votes(votes, row, refused), plan.units.means).sum()
        if not any(known and own for known, own in zip(covered, votes.columns(), strict=True)):
            expected = PRIOR[0]
        assert chances @ outputs == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n_samples", [1, 2])
def test_the_mean_over_all_orders_of_a_fixed_number_of_draws(
    n_samples: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(n_samples)
    for make in (stumps_and_constant, trees_and_constant):
        votes = make(rng)
        values = rng.integers(-2, 3, (20, 5)).astype(float)
        plan = SamplingPlan.make(
            votes,
            SHEETS["groups"],
            "free_rider",
            n_samples=n_samples,
            moments=vote_moments(votes, values, np.ones(20)),
        )
        for budget in (None, 2.5):
            chances, outputs = np.array(
                list(every_order(plan, values[0], budget, frozenset(), monkeypatch))
            ).T
            assert len(outputs) > 1
            covered = [
                budget is None or SHEETS["groups"].total([NAMES[column] for column in own]) <= budget
                for own in votes.columns()
            ]
            votes_now = np.where(covered, full_votes(votes, values[0], frozenset()), plan.units.means)
            assert chances @ outputs == pytest.approx(votes_now.sum(), abs=1e-12)


def test_equal_units_are_a_simple_random_sample() -> None:
    """With N units alike and n bought, the weight of each is N / n, whatever its place."""
    n_units, n_bought = 8, 3
    votes = LinearVotes(np.ones(8), np.arange(8), np.ones(8), np.zeros(8), 8)
    plan = SamplingPlan.make(votes, CostSheet([1.0] * 8), "free_rider", moments=(np.zeros(8), np.ones(8)))
    powers = 2.0 ** np.arange(8)
    rows, seeds = np.tile(powers, (200, 1)), np.arange(200)
    outputs, acquired, samples = PlanSampler(plan).sample(rows, np.full(200, 3.0), seeds)
    assert (samples == n_bought).all()
    assert outputs[:, 0] == pytest.approx(n_units / n_bought * (acquired * powers).sum(axis=1), rel=1e-12)


def test_learners_alike_are_known_before_they_are_bought() -> None:
    """Votes that are in proportion to the scores have no variance at all, with equal prices."""
    alphas = np.array([0.3, 1.0, 2.0, 0.7, 5.0, 0.2])
    votes = LinearVotes(alphas, np.arange(6), np.ones(6), np.zeros(6), 6)
    plan = SamplingPlan.make(
        votes, CostSheet([1.0] * 6), "free_rider", n_samples=3, moments=(np.zeros(6), alphas)
    )
    outputs, acquired, _ = PlanSampler(plan).sample(np.ones((50, 6)), None, np.arange(50))
    assert len(np.unique(acquired, axis=0)) > 5
    assert outputs[:, 0] == pytest.approx(alphas.sum(), rel=1e-12)


def test_moments_are_those_of_the_training_rows() -> None:
    rng = np.random.default_rng(0)
    votes = stumps_and_constant(rng)
    values = rng.integers(-2, 3, (2500, 5)).astype(float)
    weights = rng.random(2500)
    means, spreads = vote_moments(votes, values, weights)
    table = votes.table(values)
    assert means == pytest.approx(np.average(table, axis=0, weights=weights))
    for learners, spread in zip(units_of(votes.columns()), spreads, strict=True):
        unit = table[:, learners] @ votes.alphas[list(learners)]
        variance = np.cov(unit, aweights=weights, ddof=0)
        assert spread == pytest.approx(max(np.sqrt(variance), 0.05 * votes.alphas[list(learners)].sum()))


def test_a_smaller_error_than_other_draws_at_the_same_budget() -> None:
    """The mean squared error to the full vote, over rows and seeds, of one table."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(600, 12))
    y = (X[:, :6] @ [1.0, 0.8, -0.6, 0.5, -0.4, 0.3] + 0.5 * rng.normal(size=600) > 0).astype(int)
    costs = rng.uniform(0.5, 2.0, 12)
    stumps = AdaBoostClassifier(n_estimators=80).fit(X[:300], y[:300])
    fresh, seeds = np.tile(X[300:], (5, 1)), np.arange(1500)
    whole = stumps.decision_function(fresh)
    errors = {}
    for sampling in ("weight", "cost", "free_rider"):
        model = AdaBoostRSClassifier(
            estimator=stumps, sampling=sampling, budget=6.0, costs=costs, random_state=0
        )
        model = model.fit(X[:300], y[:300])
        assert model.spend(fresh, seeds=seeds).max() <= 6.0
        errors[sampling] = float(np.mean((model.decision_function(fresh, seeds=seeds) - whole) ** 2))
    assert errors["free_rider"] < 0.5 * min(errors["weight"], errors["cost"])


def test_several_classes_share_their_draws_and_each_is_unbiased() -> None:
    rng = np.random.default_rng(4)
    X = rng.normal(size=(200, 6))
    y = np.digitize(X[:, 0] + 0.7 * X[:, 1] - 0.5 * X[:, 2], [-0.5, 0.5])
    costs = [1.0, 2.0, 0.7, 1.5, 0.4, 1.2]
    model = AdaBoostRSClassifier(
        sampling="free_rider", n_estimators=30, budget=3.0, costs=costs, random_state=0
    ).fit(X, y)
    n_seeds = 4000
    for row in X[:4]:
        drawn = model.decision_function(np.tile(row, (n_seeds, 1)), seeds=np.arange(n_seeds))
        full = model.decision_function(row[np.newaxis], budget=np.inf)[0]
        error = drawn.std(axis=0, ddof=1) / np.sqrt(n_seeds)
        assert (np.abs(drawn.mean(axis=0) - full) < 4.9 * error).all()  # a z-test at 1e-6
        assert (error > 0).all()


def test_a_walk_may_start_with_known_columns() -> None:
    rng = np.random.default_rng(1)
    X = rng.normal(size=(80, 4))
    y = (X.sum(axis=1) > 0).astype(int)
    model = AdaBoostRSClassifier(sampling="free_rider", n_estimators=20, budget=1.0, random_state=0).fit(X, y)
    walk = model.walk(known={"x0": 0.3, "x1": -0.2, "x2": 1.0})
    assert walk.ask is not None  # the rest is affordable
    assert walk.ask.feature == "x3"
    walk.tell(0.1)
    assert walk.ask is None
    plain = AdaBoostClassifier(n_estimators=20).fit(X, y)
    assert walk.decision.probabilities is not None
    assert walk.decision.probabilities[1] == plain.predict_proba([[0.3, -0.2, 1.0, 0.1]])[0, 1]


def test_disagreement_has_no_bound_here() -> None:
    X, y = np.arange(20.0).reshape(10, 2), np.arange(10) % 2
    model = AdaBoostRSClassifier(sampling="free_rider", n_estimators=3).fit(X, y)
    with pytest.raises(ValueError, match="draws with replacement"):
        model.disagreement_bound(X, 5)
