"""`predict_log_proba` and `decision_function` of every classifier, from one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from farthing.base import ContractClassifier, get, registered
from farthing.boosting import AdaBoostClassifier
from farthing.cascades import EarlyExitClassifier
from farthing.errors import OneClassWarning
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 3))
two = np.where(X[:, 0] + X[:, 1] > 0, "sick", "healthy")
three = np.digitize(X[:, 0], [-0.5, 0.5])

BINARY = [
    BudgetTreeClassifier(max_depth=2),
    BudgetForestClassifier(n_estimators=5, random_state=0),
    EarlyExitClassifier(),
    AdaBoostClassifier(n_estimators=5),
]


def test_every_classifier_has_them() -> None:
    for name in registered():
        if issubclass(get(name), ContractClassifier):
            assert callable(get(name).predict_log_proba)
            assert callable(get(name).decision_function)


@pytest.mark.parametrize("model", BINARY, ids=lambda model: type(model).__name__)
def test_two_classes(model: Any) -> None:
    model.fit(X, two)
    p, scores = model.predict_proba(X), model.decision_function(X)
    assert scores.shape == (90,)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(model.classes_[(scores > 0).astype(int)], model.predict(X))
    assert roc_auc_score(two, scores) == roc_auc_score(two, p[:, 1])


@pytest.mark.parametrize("model", BINARY[:3], ids=lambda model: type(model).__name__)
def test_three_classes(model: Any) -> None:
    model.fit(X, three)
    scores = model.decision_function(X)
    assert scores.shape == (90, 3)
    assert np.isfinite(scores).all()
    np.testing.assert_array_equal(model.classes_[scores.argmax(axis=1)], model.predict(X))


@pytest.mark.parametrize("model", BINARY, ids=lambda model: type(model).__name__)
@pytest.mark.parametrize("budget", [None, 1.0, 0.0])
def test_the_logarithm_is_that_of_the_probabilities(model: Any, budget: float | None) -> None:
    model.fit(X, two)
    with np.errstate(divide="ignore"):
        expected = np.log(model.predict_proba(X, budget=budget))
    np.testing.assert_array_equal(model.predict_log_proba(X, budget=budget), expected)


def test_a_walk_ends_with_the_same_scores() -> None:
    model = BudgetForestClassifier(n_estimators=5, random_state=0).fit(X, two)
    for row, score in zip(X[:10], model.decision_function(X[:10]), strict=True):
        walk = model.walk()
        while walk.ask is not None:
            walk.tell(row[int(walk.ask.feature[1:])])
        healthy, sick = (max(p, np.finfo(float).tiny) for p in walk.decision.probabilities.values())
        assert score == pytest.approx(np.log(sick) - np.log(healthy), abs=1e-12)


def test_one_class_has_one_score() -> None:
    with pytest.warns(OneClassWarning):
        model = BudgetTreeClassifier().fit(X, ["only"] * 90)
    np.testing.assert_array_equal(model.decision_function(X), np.zeros(90))
