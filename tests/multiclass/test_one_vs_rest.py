"""`OneVsRestClassifier`: binary methods for many classes, with one account."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone

from farthing import CostSheet, Group, consult, load
from farthing.adaptive import EdgeClassifier
from farthing.boosting import (
    AdaBoostBTClassifier,
    AdaBoostClassifier,
    AdaBoostRSClassifier,
    GreedyMiserClassifier,
)
from farthing.multiclass import OneVsRestClassifier
from farthing.neighbors import MarginNeighborsClassifier, ValueOfClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(120, 4))
y = np.array(["fir", "oak", "yew"])[np.digitize(X[:, 0] + X[:, 1], [-0.7, 0.7])]
SHEET = CostSheet([1, 2, 3, 4], groups={"lab": Group(2, ["x1", "x2"])})

BINARY = [
    AdaBoostClassifier(n_estimators=10),
    AdaBoostBTClassifier(n_estimators=10, budget=12),
    AdaBoostRSClassifier(n_estimators=10, n_samples=4, random_state=0),
    MarginNeighborsClassifier(n_neighbors=10, budget=6.0, random_state=0),
    ValueOfClassifier(budget=9.0),
]


@pytest.fixture(params=BINARY, ids=lambda model: type(model).__name__)
def model(request: Any) -> OneVsRestClassifier:
    return OneVsRestClassifier(clone(request.param), costs=SHEET).fit(X, y)


def test_binary_methods_name_the_remedy() -> None:
    with pytest.raises(ValueError, match=r"farthing\.multiclass\.OneVsRestClassifier"):
        ValueOfClassifier().fit(X, y)


def test_many_classes_are_learned(model: OneVsRestClassifier) -> None:
    assert model.score(X, y) > 0.55
    assert len(model.models_) == 3
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_a_feature_is_paid_once(model: OneVsRestClassifier) -> None:
    decided = model.decide(X)
    np.testing.assert_array_equal(decided.spent, SHEET.total_rows(decided.acquired))
    # With a budget, what one model saves the next may spend.
    if model.budget_ is None:
        assert decided.spent.mean() < sum(one.spend(X) for one in model.models_).mean()


@pytest.mark.parametrize("budget", [None, 0.0, 2.5, 6.0])
def test_a_walk_is_the_array_call(model: OneVsRestClassifier, budget: float | None) -> None:
    decided = model.decide(X[:15], budget=budget)
    for row in range(15):
        walked = consult(model, dict(zip(SHEET.features, X[row], strict=True)), budget=budget)
        assert walked.prediction == decided.prediction[row]
        assert list(walked.probabilities.values()) == decided.probabilities[row].tolist()
        assert walked.spent == decided.spent[row]
        assert budget is None or walked.spent <= budget + 1e-9


def test_the_fast_path_is_the_walk() -> None:
    fast = OneVsRestClassifier(AdaBoostClassifier(n_estimators=10), costs=SHEET).fit(X, y).fitted_
    assert fast.ignore_prices
    outputs, acquired = fast.outputs(X)
    slow, bought = fast.outputs(X, budget=np.full(len(X), np.inf))
    np.testing.assert_array_equal(outputs, slow)
    np.testing.assert_array_equal(acquired, bought)


def test_the_budget_of_the_estimator_is_that_of_the_row() -> None:
    model = OneVsRestClassifier(ValueOfClassifier(budget=6.0), costs=SHEET).fit(X, y)
    assert [one.budget_ for one in model.models_] == [2.0, 2.0, 2.0]
    assert model.budget_ == 6.0
    assert model.spend(X).max() <= 6.0
    assert model.spend(X, budget=3.0).max() <= 3.0


def test_without_money_the_prior_is_predicted(model: OneVsRestClassifier) -> None:
    p = model.predict_proba(X, budget=0.0)
    shares = [np.mean(y == label) for label in model.classes_]
    np.testing.assert_allclose(p, np.tile(shares, (len(X), 1)), atol=0.02)


def test_two_classes_are_those_of_the_estimator() -> None:
    two = y == "oak"
    model = OneVsRestClassifier(AdaBoostClassifier(n_estimators=10)).fit(X, two)
    plain = AdaBoostClassifier(n_estimators=10).fit(X, two)
    assert model.predict_proba(X).tobytes() == plain.predict_proba(X).tobytes()
    assert model.spend(X).tobytes() == plain.spend(X).tobytes()


def test_files(model: OneVsRestClassifier, tmp_path: Path) -> None:
    model.save(tmp_path / "model.farthing")
    loaded = load(tmp_path / "model.farthing")
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()
    assert loaded.spend(X).tobytes() == model.spend(X).tobytes()


def test_multiclass_methods_may_be_used_as_well() -> None:
    assert OneVsRestClassifier(GreedyMiserClassifier(n_estimators=5)).fit(X, y).score(X, y) > 0.8


@pytest.mark.parametrize("estimator", [EdgeClassifier(), "AdaBoost", AdaBoostClassifier])
def test_other_estimators_are_refused(estimator: Any) -> None:
    with pytest.raises(TypeError, match="estimator must be a classifier of this library that buys columns"):
        OneVsRestClassifier(estimator).fit(X, y)
