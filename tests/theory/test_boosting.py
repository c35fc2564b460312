"""What is proved about AdaBoost, on random tables."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.kernels.naive_boosting import product_bound

from farthing.boosting import AdaBoostBTClassifier, AdaBoostClassifier
from farthing.boosting.adaboost_bt.selection_rules import RULES


@settings(max_examples=40, deadline=None)
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
