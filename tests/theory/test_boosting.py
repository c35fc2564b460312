"""What is proved about AdaBoost, on random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels.naive.boosting import product_bound

from farthing.base import TrainingSet
from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.boosting.adaboost_bt.selection_rules import RULES
from farthing.learning.voting import vote_targets
from farthing.learning.voting.margin_bounds import loss_factors


@given(st.integers(0, 10_000), st.integers(1, 3), st.booleans())
def test_the_training_error_stays_under_its_bound(seed: int, max_depth: int, intercept: bool) -> None:
    """Freund and Schapire: after every round the error is at most the product of sqrt(1 - edge^2)."""
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(50, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    y = rng.integers(0, 2, size=50)
    weights = rng.choice([1.0, 2.0, 5.0], size=50)
    model = AdaBoostClassifier(n_estimators=40, max_depth=max_depth, intercept=intercept)
    model.fit(X, y, sample_weight=weights)
    for number, labels in enumerate(model.staged_predict(X), start=1):
        error = weights[labels != y].sum() / weights.sum()
        assert error <= product_bound(model.edges_[:number]) + 1e-9


@pytest.mark.parametrize("rule", list(RULES))
def test_the_bound_holds_for_every_rule(rule: str) -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(80, 5))
    y = (X[:, 0] + X[:, 1] > rng.normal(size=80)).astype(int)
    model = AdaBoostBTClassifier(rule=rule, costs=[5.0, 1.0, 1.0, 0.1, 0.0], n_estimators=60).fit(X, y)
    for number, labels in enumerate(model.staged_predict(X), start=1):
        assert (labels != y).mean() <= product_bound(model.path_["edge"][:number]) + 1e-9


def test_the_last_learner_has_no_edge_in_the_next_round() -> None:
    """The new distribution makes the learner just taken worth nothing: sum of D y h = 0."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(60, 3))
    y = (X[:, 0] > rng.normal(size=60)).astype(int)
    model = AdaBoostClassifier(n_estimators=10).fit(X, y)
    signs = np.where(y == 1, 1.0, -1.0)
    votes, _ = model.fitted_.votes_by_tree(model.schema_.encode(X).values)
    weights = np.full(60, 1 / 60)
    for number in range(10):
        weights = weights * np.exp(-model.estimator_weights_[number] * signs * votes[:, number])
        weights /= weights.sum()
        assert abs((weights * signs) @ votes[:, number]) < 1e-8


def test_separable_data_is_learned_and_its_margins_grow() -> None:
    rng = np.random.default_rng(1)
    X = rng.integers(0, 2, size=(200, 9)).astype(float)
    y = (X[:, :5].sum(axis=1) >= 3).astype(int)
    margins = [AdaBoostClassifier(n_estimators=n).fit(X, y).margins(X, y).min() for n in (5, 300)]
    # Five votes of equal weight separate the classes with a margin of 1/5, which boosting approaches.
    assert margins[0] < margins[1]
    assert 0.1 < margins[1] <= 0.2 + 1e-9


# The bounds as methods of the fitted booster.


def table(seed: int, k: int) -> tuple[NDArray[np.float64], NDArray[np.int64], NDArray[np.float64]]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(70, 4)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    signal = np.nan_to_num(X[:, 0]) + np.nan_to_num(X[:, 1]) + rng.normal(size=70)
    y = np.digitize(signal, np.quantile(signal, np.arange(1, k) / k))
    return X, y, rng.choice([1.0, 2.0, 5.0], size=70)


@given(st.integers(0, 10_000), st.integers(1, 3), st.integers(2, 5), st.booleans())
def test_the_bounds_hold_on_random_tables(seed: int, max_depth: int, k: int, budgeted: bool) -> None:
    """On the training rows, the error and the share of low margins are below their bounds."""
    X, y, weights = table(seed, k)
    model: AdaBoostClassifier | AdaBoostBTClassifier = (
        AdaBoostBTClassifier(n_estimators=8, max_depth=max_depth, costs=[3.0, 1.0, 1.0, 0.5], budget=4.0)
        if budgeted
        else AdaBoostClassifier(n_estimators=30, max_depth=max_depth)
    )
    model.fit(X, y, sample_weight=weights)
    shares = weights / weights.sum()
    assert shares[model.predict(X) != y].sum() <= model.training_error_bound() + 1e-9
    margins = model.margins(X, y)
    for theta in (0.0, 0.05, 0.2, 1.0):
        assert shares[margins <= theta].sum() <= model.margin_bound(theta) + 1e-9
    edges = model.fitted_.round_edges
    product = product_bound(edges) * np.sqrt(k - 1)
    if edges.max() < 1:
        errors = (1 - edges) / 2
        assert model.training_error_bound() == pytest.approx(min(product, 1.0), rel=1e-6)
        assert product == pytest.approx(np.prod(2 * np.sqrt(errors * (1 - errors))) * np.sqrt(k - 1))
        alphas = np.arctanh(edges)
        assert model.margin_bound(0.1) == pytest.approx(
            min(product * np.exp(0.1 * alphas.sum()), 1), rel=1e-6
        )


@pytest.mark.parametrize("k", [2, 3])
def test_the_bound_is_the_exponential_loss(k: int) -> None:
    """The product of Z_t is the loss itself: the mean over rows and classes of exp(-y f)."""
    X, y, weights = table(3, k)
    model = AdaBoostClassifier(n_estimators=12).fit(X, y, sample_weight=weights)
    rows = TrainingSet.of(X, y, weights, classes=np.arange(k))
    labels, cases = vote_targets(rows)
    loss = (cases * np.exp(-labels * model.decision_function(X))).sum() / cases.sum()
    factors = loss_factors(model.estimator_weights_, model.edges_)
    assert np.prod(factors) == pytest.approx(loss, rel=1e-6)


def test_bounds_of_a_vote_without_error_and_without_rounds() -> None:
    X = np.arange(8.0).reshape(-1, 1)
    model = AdaBoostClassifier().fit(X, np.arange(8) > 2)
    # One learner without error, of weight ln(2 * 8): all margins are 1, and the bound there is 1.
    assert model.margin_bound(0.0) == pytest.approx(1 / 16)
    assert model.margin_bound(1.0) == pytest.approx(1.0)
    nothing = AdaBoostClassifier().fit(np.ones((4, 1)), [0, 0, 0, 1])
    assert nothing.training_error_bound() <= 1.0
    with pytest.raises(ValueError, match="theta must lie between 0 and 1"):
        model.margin_bound(-0.1)


def test_the_bound_of_a_budget_is_that_of_the_rounds_that_it_pays_for() -> None:
    X, y, _ = table(1, 2)
    prices = [3.0, 1.0, 2.0, 0.5]
    model = AdaBoostBTClassifier(rule="greedy", costs=prices, n_estimators=30, price="marginal").fit(X, y)
    bounds = [model.training_error_bound(budget=budget) for budget in (0.0, 0.5, 1.5, 6.5)]
    assert bounds == sorted(bounds, reverse=True)
    path = model.path_
    affordable = path["edge"][path["spent"] <= 1.5]
    assert bounds[2] == pytest.approx(product_bound(affordable), rel=1e-6)
    assert bounds[3] == model.training_error_bound()


@pytest.mark.parametrize("rule", ["greedy", "smoothed"])
def test_the_forecast_is_what_the_rule_minimises(rule: str) -> None:
    """Section 4: the bound at the end of the budget if all later rounds were like this one."""
    X, y, _ = table(2, 2)
    prices = np.array([1.0, 0.5, 2.0, 0.25])
    model = AdaBoostBTClassifier(rule=rule, costs=prices, budget=3.0, n_estimators=6, intercept=False).fit(
        X, y
    )
    path, before, left = model.path_, 1.0, 3.0
    for number, forecast in enumerate(model.error_bound_forecast()):
        edge, cost, spent = path["edge"][number], path["cost"][number], 3.0 - left
        rounds = left / cost if rule == "greedy" else left * (number + 1) / (spent + cost)
        assert forecast == pytest.approx(before * (1 - edge**2) ** (rounds / 2), rel=1e-6)
        before *= np.sqrt(1 - edge**2)
        left = path["left"][number]
    with pytest.raises(ValueError, match="needs a budget"):
        AdaBoostBTClassifier(n_estimators=2).fit(X, y).error_bound_forecast()
