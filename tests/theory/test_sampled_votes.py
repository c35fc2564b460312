"""What Reyzin (2011) proves of sampled votes, and what holds of free riders.

Statistical tests run over fixed seeds, so they never change their mind; each is a z-test at a significance of
1e-6, two-sided, which a correct sampler would fail once in a million choices of the seeds.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farthing.boosting import AdaBoostRSClassifier
from farthing.costs import CostSheet, Group
from farthing.learning.voting import LinearVotes, TreeVotes
from farthing.trees import Forest

Z = 4.9  # the standard normal is further from zero with a probability of 1e-6
N_SEEDS = 20_000


def stumps(columns: list[int], signs: list[float], n_features: int) -> Forest:
    """Return stumps on binary features; a positive sign votes +1 where the feature is 1."""
    trees = [
        Forest.from_arrays(
            n_features=n_features,
            feature=[column, -1, -1],
            threshold=[0.5, 0.0, 0.0],
            left=[1, -1, -1],
            right=[2, -1, -1],
            value=[[0.0], [-sign], [sign]],
        )
        for column, sign in zip(columns, signs, strict=True)
    ]
    return Forest.concat(trees)


def vote(seed: int = 0, n_features: int = 12, n_learners: int = 30) -> TreeVotes:
    rng = np.random.default_rng(seed)
    columns = rng.integers(0, n_features, n_learners).tolist()
    signs = rng.choice([-1.0, 1.0], n_learners).tolist()
    return TreeVotes(rng.exponential(size=n_learners) + 0.01, stumps(columns, signs, n_features))


def table(n_rows: int = 40, n_features: int = 12) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    rng = np.random.default_rng(9)
    return rng.integers(0, 2, (n_rows, n_features)).astype(float), np.arange(n_rows) % 2


COSTS = np.random.default_rng(5).uniform(0.1, 2.0, 12)
SHEETS = {
    "uniform costs": CostSheet([1.0] * 12),
    "random costs": CostSheet(COSTS.tolist()),
    "free ones": CostSheet(np.where(np.arange(12) < 4, 0.0, COSTS).tolist()),
    "groups": CostSheet(COSTS.tolist(), groups={"a": Group(0.8, ["x0", "x5"]), "b": Group(2.0, ["x7"])}),
}


def model_of(votes: TreeVotes, **params: Any) -> AdaBoostRSClassifier:
    X, y = table(n_features=votes.n_features)
    return AdaBoostRSClassifier(estimator=votes, random_state=0, **params).fit(X, y)


def full_vote(votes: TreeVotes | LinearVotes, X: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(votes.table(X) @ votes.alphas)


def assert_mean(sample: NDArray[np.float64], expected: float) -> None:
    error = sample.std(ddof=1) / np.sqrt(len(sample))
    assert error > 0
    assert abs(sample.mean() - expected) < Z * error


@pytest.mark.parametrize("sampling", ["weight", "cost"])
@pytest.mark.parametrize("prices", SHEETS)
@pytest.mark.parametrize("n_samples", [1, 7])
def test_a_fixed_number_of_draws_is_unbiased(sampling: Any, prices: str, n_samples: int) -> None:
    """Theorem 5, and its likeness for draws by weight: E[v] is the full vote for any number of draws."""
    votes = vote()
    model = model_of(votes, sampling=sampling, n_samples=n_samples, costs=SHEETS[prices])
    for row in table()[0][:2]:
        X = np.tile(row, (N_SEEDS, 1))
        sampled = model.decision_function(X, seeds=np.arange(N_SEEDS))
        assert_mean(sampled, float(full_vote(votes, row[np.newaxis])[0]))


def linear_with_intercept() -> tuple[LinearVotes, NDArray[np.float64]]:
    """Return votes of three features and an intercept that outweighs them, and a row."""
    votes = LinearVotes(
        np.array([1.0, 0.5, 0.8, 4.0]),
        np.array([0, 1, 2, -1]),
        np.array([1.0, -1.0, 1.0, -1.0]),
        np.zeros(4),
        3,
    )
    return votes, np.array([[0.9, -0.4, 0.7]])


@pytest.mark.parametrize("sampling", ["weight", "cost"])
@pytest.mark.parametrize("n_samples", [1, 3])
def test_draws_are_unbiased_with_an_intercept_among_the_learners(sampling: Any, n_samples: int) -> None:
    """A row that drew nothing but the intercept has bought nothing; its estimate is not the prior."""
    votes, row = linear_with_intercept()
    X, y = np.tile(row, (10, 1)), np.arange(10) % 5 // 4
    model = AdaBoostRSClassifier(
        estimator=votes, sampling=sampling, n_samples=n_samples, costs=[1.0, 2.0, 0.5], random_state=0
    ).fit(X, y)
    sampled = model.decision_function(np.tile(row, (N_SEEDS, 1)), seeds=np.arange(N_SEEDS))
    assert_mean(sampled, float(full_vote(votes, row)[0]))


def test_a_walk_counts_the_intercept_that_it_drew() -> None:
    votes, row = linear_with_intercept()
    X, y = np.tile(row, (10, 1)), np.arange(10) % 2
    model = AdaBoostRSClassifier(estimator=votes, n_samples=1, random_state=0).fit(X, y)
    seeds = np.arange(40)
    decided = model.decide(np.tile(row, (40, 1)), seeds=seeds)
    assert decided.probabilities is not None
    empty = ~decided.acquired.any(axis=1)
    assert 0 < empty.sum() < 40
    for seed in seeds:
        walk = model.walk(seed=int(seed))
        while walk.ask is not None:
            walk.tell(row[0, int(walk.ask.feature[1:])])
        assert walk.decision.probabilities is not None
        assert walk.decision.probabilities[1] == decided.probabilities[seed, 1]
    # The vote of the intercept alone is -1 times the sum of all weights, 6.3.
    assert decided.probabilities[empty, 1] == pytest.approx(1 / (1 + np.exp(2 * 6.3)))
    # What is refused tells nothing: a row that was refused what it drew has the prior.
    refused = model.predict_proba(np.tile(row, (40, 1)), refused=["x0", "x1", "x2"], seeds=seeds)
    prior = 1 / (1 + np.exp(-2 * model.prior_[0]))
    assert set(refused[:, 1].round(6)) == {round(prior, 6), round(1 / (1 + np.exp(2 * 6.3)), 6)}
    assert (model.predict_proba(X, budget=0.0)[:, 1] == prior).all()


@pytest.mark.parametrize("sampling", ["weight", "cost"])
@pytest.mark.parametrize("prices", ["uniform costs", "random costs", "groups"])
def test_walds_identity_at_the_stopping_time_of_the_budget(sampling: Any, prices: str) -> None:
    """E[v] = E[tau] mu: the number of draws depends on the draws before, yet v - tau mu has mean zero."""
    votes, sheet = vote(), SHEETS[prices]
    budget = 0.5 * sheet.total(sheet.features)
    model = model_of(votes, sampling=sampling, budget=budget, costs=sheet)
    plan = model.fitted_.sampler.plan
    for row in table()[0][:2]:
        X, seeds = np.tile(row, (N_SEEDS, 1)), np.arange(N_SEEDS)
        taken = model.samples_taken(X, seeds=seeds)
        assert taken.min() > 0
        assert taken.std() > 0.5  # a stopping time, not a number
        sums = model.decision_function(X, seeds=seeds) * taken / plan.scale
        mu = float(full_vote(votes, row[np.newaxis])[0]) / plan.scale
        assert_mean(sums - taken * mu, 0.0)
        assert (model.spend(X, seeds=seeds) <= budget * (1 + 1e-12)).all()


def test_the_mean_of_the_draws_is_biased_where_a_budget_ends_them() -> None:
    """Draw +1 for free until one of two paid features, which say -1, spends the budget."""
    forest = Forest.concat([stumps([0, 1], [1.0, 1.0], 2), Forest.constant([1.0], 2)])
    votes = TreeVotes(np.array([1.0, 1.0, 2.5]), forest)
    X = np.zeros((N_SEEDS, 2))
    model = AdaBoostRSClassifier(estimator=votes, costs=[6.0, 6.0], budget=6.0, random_state=0)
    model = model.fit(X[:4], [0, 0, 1, 1])
    output = model.decision_function(X, seeds=np.arange(N_SEEDS))
    share = 2.5 / 4.5  # of draws that are free
    # k free draws and a paid one have the mean (k - 1) / (k + 1), with probability share^k (1 - share).
    expected = 4.5 * (1 + 2 * (1 - share) / share * np.log(1 - share))
    assert_mean(output, expected)
    assert full_vote(votes, X[:1])[0] == 0.5
    assert expected < -1.3  # the other sign, and further from zero
    # Their sum keeps the sign: E[sum] = E[number] * mean.
    taken = model.samples_taken(X, seeds=np.arange(N_SEEDS))
    assert_mean(output * taken / 4.5, 0.5 / 4.5 / (1 - share))


@pytest.mark.parametrize("prices", ["random costs", "groups"])
def test_free_riders_are_unbiased_where_a_budget_ends_the_draws(prices: str) -> None:
    """On every row, with a constant learner; the mean of draws by weight is not, on the same rows."""
    stump_votes, sheet = vote(), SHEETS[prices]
    votes = TreeVotes(
        np.append(stump_votes.alphas, 4.0), Forest.concat([stump_votes.forest, Forest.constant([1.0], 12)])
    )
    budget = 0.35 * sheet.total(sheet.features)
    free = model_of(votes, sampling="free_rider", budget=budget, costs=sheet)
    by_weight = model_of(votes, sampling="weight", budget=budget, costs=sheet)
    n_seeds = 4000
    seeds, deviations = np.arange(n_seeds), []
    for row in table()[0][:12]:
        X, expected = np.tile(row, (n_seeds, 1)), float(full_vote(votes, row[np.newaxis])[0])
        assert_mean(free.decision_function(X, seeds=seeds), expected)
        drawn = by_weight.decision_function(X, seeds=seeds)
        deviations.append((drawn.mean() - expected) / (drawn.std(ddof=1) / np.sqrt(n_seeds)))
    assert np.abs(deviations).max() > Z
    spends = free.spend(X, seeds=seeds)
    assert (spends <= budget * (1 + 1e-12)).all()
    assert np.array_equal(spends, sheet.total_rows(free.acquired(X, seeds=seeds)))
    assert free.samples_taken(X, seeds=seeds).std() > 0.3  # a stopping time, not a number


@pytest.mark.parametrize("sampling", ["weight", "cost"])
@pytest.mark.parametrize("prices", SHEETS)
def test_disagreement_stays_under_its_bound(sampling: Any, prices: str) -> None:
    votes = vote(seed=2)
    X, _ = table(200)
    right = full_vote(votes, X) > 0
    rates = []
    for n_samples in (5, 40, 300):
        model = model_of(votes, sampling=sampling, n_samples=n_samples, costs=SHEETS[prices])
        seeds = np.arange(len(X) * 20)
        labels = model.predict(np.tile(X, (20, 1)), seeds=seeds)
        rates.append(float(np.mean(labels.astype(bool) != np.tile(right, 20))))
        bound = model.disagreement_bound(X, n_samples)
        assert 0 < rates[-1] <= bound <= 1
    assert rates[0] > rates[1] > rates[2]


def test_the_bound_is_that_of_the_margins() -> None:
    """By weight: the mean of exp(-n margin^2 / 2), margins of the full vote over the sum of the alphas."""
    votes = vote(seed=2)
    X, _ = table(50)
    model = model_of(votes, n_samples=1)
    margins = full_vote(votes, X) / votes.alphas.sum()
    assert model.disagreement_bound(X, 60) == pytest.approx(np.exp(-60 * margins**2 / 2).mean(), rel=1e-9)
    own = table()
    signed = np.where(own[1] == 1, 1.0, -1.0) * full_vote(votes, own[0]) / votes.alphas.sum()
    assert model.margins_ == pytest.approx(signed, abs=1e-9)
    bound = model.margin_bound(0.3, 100)
    assert bound.low_margins == np.mean(signed <= 0.3)
    assert bound.sampling == pytest.approx(np.exp(-100 * 0.09 / 8))
    assert bound.complexity == pytest.approx(np.sqrt(np.log(12) / (40 * 0.09)))


@pytest.mark.parametrize("sampling", ["weight", "cost"])
def test_many_draws_give_the_label_of_the_full_vote(sampling: Any) -> None:
    """Propositions 4 and 6."""
    votes = vote(seed=3)
    X, _ = table(100)
    right = full_vote(votes, X)
    clear = np.abs(right) / votes.alphas.sum() > 0.1
    model = model_of(votes, sampling=sampling, n_samples=5000, costs=SHEETS["random costs"])
    labels = model.predict(X[clear], seeds=np.arange(clear.sum()))
    assert np.array_equal(labels.astype(bool), right[clear] > 0)


@pytest.mark.parametrize("n_samples", [3, 12, 40])
def test_unsampled_features_by_balls_and_bins(n_samples: int) -> None:
    """Uniform draws leave out n (1 - 1/n)^k features on average, under the bound; uneven draws leave more."""
    n = 12
    even = TreeVotes(np.ones(n), stumps(list(range(n)), [1.0] * n, n))
    uneven = TreeVotes(1.5 ** np.arange(n), even.forest)
    expected = n * (1 - 1 / n) ** n_samples
    X, seeds = np.zeros((4000, n)), np.arange(4000)
    model = model_of(even, n_samples=n_samples)
    left_out = n - model.acquired(X, seeds=seeds).sum(axis=1)
    assert_mean(left_out.astype(float), expected)
    assert expected <= model.unsampled_bound(n_samples) == pytest.approx(n * np.exp(-n_samples / n))
    more = n - model_of(uneven, n_samples=n_samples).acquired(X, seeds=seeds).sum(axis=1)
    shares = uneven.alphas / uneven.alphas.sum()
    assert_mean(more.astype(float), float(((1 - shares) ** n_samples).sum()))
    assert ((1 - shares) ** n_samples).sum() > expected
