"""``class_weight`` of the classifiers: it multiplies the weights of the rows, alike for all methods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.utils.class_weight import compute_sample_weight

from farthing.base import ContractClassifier, get, registered
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier

# An imported model learns nothing; the others have the class weights of their estimator.
WITHOUT = {
    *("ImportedClassifier", "ImportedLinearClassifier"),
    *("EarlyExitClassifier", "OneVsRestClassifier", "PipelineClassifier"),
    "DiagnosticPolicyClassifier",  # its errors have prices
    *("LookaheadClassifier", "OptimalTreeClassifier"),  # so have theirs
}
QUICK: dict[str, dict[str, Any]] = {
    "AdaBoostBTClassifier": {"n_estimators": 6, "budget": 2.0},
    "AdaBoostClassifier": {"n_estimators": 6},
    "AdaBoostRSClassifier": {"n_estimators": 6, "n_samples": 3, "random_state": 0},
    "AdaptGbrtClassifier": {"n_estimators": 3, "n_alternations": 1, "random_state": 0},
    "AdaptLinClassifier": {"n_alternations": 1, "random_state": 0},
    "AdaptLstsqClassifier": {"n_alternations": 1, "random_state": 0},
    "BranchingCascadeClassifier": {"n_estimators": 4, "random_state": 0},
    "BudgetForestClassifier": {"n_estimators": 4, "random_state": 0},
    "BudgetTreeClassifier": {"max_depth": 2},
    "EdgeClassifier": {"max_steps": 5, "n_alternations": 1},
    "GreedyMiserClassifier": {"n_estimators": 4},
    "GreedySelectionClassifier": {"n_epochs": 2, "hidden_units": (8,), "random_state": 0},
    "InformationGainClassifier": {"n_epochs": 2, "hidden_units": (8,), "random_state": 0},
    "L1GateClassifier": {"random_state": 0},
    "MarginNeighborsClassifier": {"n_neighbors": 5, "random_state": 0},
    "MiserCascadeClassifier": {"n_estimators": 4, "random_state": 0},
    "PrunedForestClassifier": {"n_estimators": 3, "random_state": 0},
    "RandomOrderClassifier": {"n_neighbors": 5, "random_state": 0},
    "ValueOfClassifier": {},
}

rng = np.random.default_rng(0)
X = rng.normal(size=(80, 3))
y = np.where(X[:, 0] + 0.6 * rng.normal(size=80) > 0.7, "sick", "well")


def make(name: str, **params: Any) -> Any:
    method = get(name)
    return method(**QUICK[name], **params)


def test_every_classifier_has_it() -> None:
    classifiers = {
        name
        for name in registered()
        if issubclass(get(name), ContractClassifier) and get(name).__module__.startswith("farthing.")
    }
    having = {name for name in classifiers if "class_weight" in get(name)().get_params()}
    assert classifiers - having <= WITHOUT
    assert set(QUICK) <= having


@pytest.mark.parametrize("name", sorted(QUICK))
def test_it_multiplies_the_weights_of_the_rows(name: str) -> None:
    weights = rng.integers(1, 3, size=80).astype(float)
    by_class = make(name, class_weight={"sick": 4.0}).fit(X, y, weights)
    by_row = make(name).fit(X, y, np.where(y == "sick", 4.0, 1.0) * weights)
    assert by_class.predict_proba(X).tobytes() == by_row.predict_proba(X).tobytes()
    assert by_class.prior_.tobytes() == by_row.prior_.tobytes()


@pytest.mark.parametrize("name", sorted(QUICK))
def test_what_it_may_be(name: str) -> None:
    with pytest.raises(ValueError, match="class_weight"):
        make(name, class_weight="even").fit(X, y)
    with pytest.raises(ValueError, match="class_weight names 'dead', which is not a class"):
        make(name, class_weight={"dead": 1.0}).fit(X, y)


def test_balanced_is_that_of_scikit_learn() -> None:
    balanced = BudgetTreeClassifier(max_depth=2, class_weight="balanced").fit(X, y)
    by_row = BudgetTreeClassifier(max_depth=2).fit(X, y, compute_sample_weight("balanced", y))
    np.testing.assert_allclose(balanced.predict_proba(X), by_row.predict_proba(X))
    assert balanced.walk(budget=0.0).decision.probabilities["sick"] == pytest.approx(0.5)


def test_validation_rows_have_the_same_factors() -> None:
    held = slice(50, None)
    weights = np.where(y == "sick", 4.0, 1.0)
    params: dict[str, Any] = {
        "n_estimators": 8,
        "impurity": "pairs",
        "alpha": [0.0, 3.0, 30.0],
        "random_state": 0,
    }
    by_class = BudgetForestClassifier(class_weight={"sick": 4.0}, **params)
    by_class.fit(X[:50], y[:50], validation=(X[held], y[held]))
    by_row = BudgetForestClassifier(**params)
    by_row.fit(X[:50], y[:50], weights[:50], validation=(X[held], y[held], weights[held]))
    assert by_class.alpha_ == by_row.alpha_
    assert by_class.predict_proba(X).tobytes() == by_row.predict_proba(X).tobytes()
