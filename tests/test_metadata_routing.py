"""scikit-learn around models of this library: routing, pipelines, calibration, searches, frames."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from farthing.forests import BudgetTreeClassifier


@pytest.fixture(autouse=True)
def routing() -> Iterator[None]:
    with config_context(enable_metadata_routing=True):
        yield


@pytest.fixture(scope="module")
def rows() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, 4))
    # Weights that are not of the target, so that a fit without them differs.
    return X, (X[:, 0] + X[:, 1] > 0).astype(int), np.where(X[:, 2] > 0, 5.0, 0.2)


def tree() -> Any:
    return BudgetTreeClassifier(max_depth=3).set_fit_request(sample_weight=True)


def test_weights_reach_the_model_through_a_pipeline(rows: Any) -> None:
    X, y, weights = rows
    steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), tree())
    found = steps.fit(X, y, sample_weight=weights)[-1]
    scaled = StandardScaler().fit_transform(X)
    alone = BudgetTreeClassifier(max_depth=3).fit(scaled, y, weights)
    assert found.forest_ == alone.forest_
    assert found.forest_ != BudgetTreeClassifier(max_depth=3).fit(scaled, y).forest_


def test_a_budget_reaches_predict_through_a_pipeline(rows: Any) -> None:
    X, y, _ = rows
    model = BudgetTreeClassifier(max_depth=3).set_predict_request(budget=True)
    steps = make_pipeline(StandardScaler(), model).fit(X, y)
    scaled = steps[0].transform(X)
    for budget in (0, 1, 4):
        np.testing.assert_array_equal(
            steps.predict(X, budget=budget), steps[1].predict(scaled, budget=budget)
        )
    assert len(set(steps.predict(X, budget=0))) == 1 < len(set(steps.predict(X, budget=4)))


def test_weights_reach_folds_searches_and_calibration(rows: Any) -> None:
    X, y, weights = rows
    weighted = tree().set_score_request(sample_weight=True)
    folds = cross_validate(weighted, X, y, params={"sample_weight": weights})["test_score"]
    assert not np.array_equal(folds, cross_validate(BudgetTreeClassifier(max_depth=3), X, y)["test_score"])
    search = GridSearchCV(weighted, {"max_depth": [1, 3]}).fit(X, y, sample_weight=weights)
    assert search.best_params_ == {"max_depth": 3}
    calibrated = CalibratedClassifierCV(tree(), cv=3).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(calibrated.predict_proba(X).sum(axis=1), 1)
    assert calibrated.score(X, y) > 0.85


def test_unrequested_weights_are_refused_by_name(rows: Any) -> None:
    X, y, weights = rows
    steps = make_pipeline(StandardScaler().set_fit_request(sample_weight=False), BudgetTreeClassifier())
    with pytest.raises(ValueError, match="sample_weight"):
        steps.fit(X, y, sample_weight=weights)


def test_frames_of_a_pipeline_keep_their_names(rows: Any) -> None:
    X, y, _ = rows
    frame = pd.DataFrame(X, columns=["age", "sex", "chol", "fbs"])
    prices = {"age": 1, "sex": 1, "chol": 7, "fbs": 5}
    steps = make_pipeline(StandardScaler(), BudgetTreeClassifier(costs=prices, max_depth=3))
    steps.set_output(transform="pandas").fit(frame, y)
    assert steps[-1].feature_names_in_.tolist() == list(frame)
    assert steps[-1].spend(steps[:-1].transform(frame)).max() <= 14
