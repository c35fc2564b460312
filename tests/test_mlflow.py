"""The MLflow flavour: what a saved model answers, and what it spends."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("mlflow", reason="the extra mlflow is not installed")

from mlflow import pyfunc

import farthing.mlflow
from farthing.boosting import GradientBoostingRegressor
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetTreeClassifier

pytestmark = pytest.mark.filterwarnings("ignore")  # MLflow's own


@pytest.fixture(scope="module")
def heart() -> Any:
    return load_heart_disease()


def test_a_saved_model_predicts_and_says_what_it_spent(heart: Any, tmp_path: Path) -> None:
    model = BudgetTreeClassifier(costs=heart.costs, max_depth=3).fit(heart.X, heart.y)
    farthing.mlflow.save_model(model, tmp_path / "model")
    served = pyfunc.load_model(str(tmp_path / "model"))
    found = served.predict(heart.X)
    np.testing.assert_array_equal(found["prediction"], model.predict(heart.X))
    np.testing.assert_array_equal(found["spent"], model.spend(heart.X))
    np.testing.assert_array_equal(found[["probability_0", "probability_1"]], model.predict_proba(heart.X))
    again = farthing.mlflow.load(str(tmp_path / "model"))
    assert again.walk().ask == model.walk().ask


def test_a_budget_is_a_parameter(heart: Any, tmp_path: Path) -> None:
    model = BudgetTreeClassifier(costs=heart.costs, max_depth=3).fit(heart.X, heart.y)
    python = farthing.mlflow.SpendingModel()
    python.model = model
    found = python.predict(None, heart.X, {"budget": 2})
    np.testing.assert_array_equal(found["spent"], model.spend(heart.X, budget=2))
    assert found["spent"].max() <= 2


def test_numbers_have_no_probabilities(heart: Any, tmp_path: Path) -> None:
    model = GradientBoostingRegressor(n_estimators=3).fit(heart.X, heart.y.astype(float))
    farthing.mlflow.save_model(model, tmp_path / "model")
    found = pyfunc.load_model(str(tmp_path / "model")).predict(heart.X)
    assert list(found) == ["prediction", "spent"]
