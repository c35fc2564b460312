"""Predictions of Dask collections: lazy, with the bits of predictions in one process."""

from __future__ import annotations

from typing import Any

import dask.array as da
import numpy as np
import pytest
from sklearn.base import clone
from tests.distributed.tables import cut_array, cut_frame, frame, numbers

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.errors import TableError
from farthing.forests import BudgetForestClassifier, BudgetForestRanker, BudgetTreeClassifier
from farthing.frontier import BudgetedClassifier


@pytest.fixture(scope="module")
def classifier() -> GreedyMiserClassifier:
    X, y, _ = numbers(300)
    return GreedyMiserClassifier(n_estimators=4, tradeoff=0.01, charge="row", budget=2.0).fit(X, y > 0)


@pytest.mark.parametrize(
    "model",
    [
        BudgetForestClassifier(n_estimators=3, max_depth=3, budget=3.0, random_state=0),
        BudgetForestRanker(n_estimators=3, max_depth=3, random_state=0),
        MiserCascadeClassifier(n_stages=2, n_estimators=2, max_depth=2, budget=2.0, random_state=0),
        MiserCascadeRegressor(n_stages=2, n_estimators=2, max_depth=2, budget=2.0, random_state=0),
        BudgetedClassifier(methods=[BudgetTreeClassifier(max_depth=2)], budget=2.0, cv=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_every_call_is_lazy(model: Any) -> None:
    X, y, _ = numbers(200)
    model = clone(model).fit(X, np.digitize(y, [0.0, 2.0]))
    chunks = cut_array(X, [70, 71])
    decided, lazy = model.decide(X), model.decide(chunks)
    calls = {"prediction": "predict", "spent": "spend", "acquired": "acquired"}
    if decided.probabilities is not None:
        calls["probabilities"] = "predict_proba"
    for name, call in calls.items():
        for array in (getattr(lazy, name), getattr(model, call)(chunks)):
            assert isinstance(array, da.Array)
            assert array.chunks[0] == (70, 1, 129)
            np.testing.assert_array_equal(
                array.compute(scheduler="synchronous"), getattr(decided, name), name
            )


@pytest.mark.parametrize("method", ["predict", "predict_proba", "spend", "acquired"])
def test_same_bits(classifier: GreedyMiserClassifier, method: str) -> None:
    X, _, _ = numbers(90, seed=8)
    lazy = getattr(classifier, method)(cut_array(X, [30, 31]))
    expected = getattr(classifier, method)(X)
    assert lazy.shape == expected.shape
    assert lazy.dtype == expected.dtype
    assert lazy.chunks[0] == (30, 1, 59)
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), expected)


def test_decide_in_one_pass(classifier: GreedyMiserClassifier) -> None:
    X, _, _ = numbers(50, seed=9)
    lazy, expected = classifier.decide(cut_array(X, [20])), classifier.decide(X)
    for name in ("prediction", "probabilities", "spent", "acquired"):
        np.testing.assert_array_equal(
            getattr(lazy, name).compute(scheduler="synchronous"), getattr(expected, name), err_msg=name
        )


def test_budgets_of_rows(classifier: GreedyMiserClassifier) -> None:
    X, _, _ = numbers(40, seed=10)
    budgets = np.tile([0.0, 1.0, 5.0, 2.0], 10)
    lazy = classifier.spend(cut_array(X, [15]), budget=cut_array(budgets, [15]))
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), classifier.spend(X, budget=budgets))
    with pytest.raises(TableError, match="budget must be one value for all rows"):
        classifier.spend(cut_array(X, [15]), budget=budgets)


def test_frames_read_only_what_may_be_bought() -> None:
    X, y = frame(200)
    model = GreedyMiserRegressor(
        n_estimators=2, max_depth=2, costs={"age": 1, "colour": 1, "size": 1, "dose": 1e9}, tradeoff=0.01
    ).fit(X, y)
    lazy = model.predict(cut_frame(X, [90]))
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), model.predict(X))
    without = cut_frame(X.drop(columns=["dose"]), [90])
    np.testing.assert_array_equal(model.predict(without).compute(scheduler="synchronous"), model.predict(X))


def test_errors_name_the_partition(classifier: GreedyMiserClassifier) -> None:
    X, _, _ = numbers(20)
    bad = X.astype(object)
    bad[15] = "text"
    with pytest.raises(TableError, match=r"partition 1.*expected a number"):
        classifier.predict(cut_array(bad, [10])).compute(scheduler="synchronous")
