"""Predictions of constrained models rise or fall with their features, at any price and in any ledger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone

import farthing
from farthing.boosting import (
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
)
from farthing.checks import yield_checks
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier

PRICED: dict[str, Any] = {"n_estimators": 5, "max_depth": 4, "tradeoff": 0.01, "relative": True}
CST = [1, -1, 0, 0]

ESTIMATORS = {
    "model ledger": GreedyMiserRegressor(**PRICED),
    "model budget": GreedyMiserRegressor(**{**PRICED, "tradeoff": 0.0}, budget=3.0),
    "row ledger": GreedyMiserRegressor(**PRICED, charge="row"),
    "subsample": GreedyMiserRegressor(**PRICED, charge="row", subsample=0.5, random_state=0),
    "classes": GreedyMiserClassifier(**PRICED, charge="row"),
    "plain gradients": GreedyMiserClassifier(**PRICED, leaf="gradient"),
    "cost-blind": GradientBoostingRegressor(n_estimators=5, max_leaf_nodes=12),
    "tree": BudgetTreeClassifier(max_depth=6, min_samples_leaf=3),
    "tree with a hard budget": BudgetTreeClassifier(cost_rule="penalty", tradeoff=0.001, budget=3.0),
    "forest": BudgetForestClassifier(n_estimators=4, max_features=2, max_cuts=3, random_state=0),
    "forest that votes": BudgetForestClassifier(n_estimators=4, aggregation="vote", random_state=0),
}


def rows(seed: int, n_rows: int = 250) -> tuple[np.ndarray, np.ndarray]:
    """Return a table whose target often goes against the constraints."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4))
    y = np.sin(3 * X[:, 0]) + X[:, 1] * X[:, 2] + X[:, 3] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


def worst_step(model: Any, seed: int) -> float:
    """Return the largest step in the wrong direction, for many values of the other features."""
    rng = np.random.default_rng(seed)
    others = rng.normal(size=(30, 4))
    others[rng.random(others.shape) < 0.2] = np.nan  # refused
    grid = np.linspace(-3, 3, 41)
    worst = 0.0
    for column in (0, 1):
        table = np.repeat(others, len(grid), axis=0)
        table[:, column] = np.tile(grid, len(others))
        found = model.predict_proba(table)[:, 1] if hasattr(model, "predict_proba") else model.predict(table)
        worst = max(worst, float((-CST[column] * np.diff(found.reshape(len(others), -1))).max()))
    return worst


def target_for(estimator: Any, y: np.ndarray) -> np.ndarray:
    return y > 0.3 if hasattr(estimator, "predict_proba") else y


@pytest.mark.parametrize("name", ESTIMATORS)
@given(seed=st.integers(0, 10_000))
@settings(max_examples=5)
def test_predictions_keep_the_order(name: str, seed: int) -> None:
    X, y = rows(seed)
    estimator = clone(ESTIMATORS[name]).set_params(costs=[1.0, 0.5, 2.0, 1.5], monotonic_cst=CST)
    # Sums of trees are rounded.
    assert worst_step(estimator.fit(X, target_for(estimator, y)), seed) <= 1e-12


@pytest.mark.parametrize("name", ["model ledger", "row ledger", "classes", "tree", "forest"])
def test_without_it_they_do_not(name: str) -> None:
    X, y = rows(0)
    model = clone(ESTIMATORS[name]).fit(X, target_for(ESTIMATORS[name], y))
    assert worst_step(model, 0) > 0.01
    zeros = clone(ESTIMATORS[name]).set_params(monotonic_cst=[0] * 4).fit(X, target_for(ESTIMATORS[name], y))
    assert zeros.forest_ == model.forest_


def test_a_ranker() -> None:
    X, y = rows(1)
    ranker = GreedyMiserRanker(**PRICED, loss="lambdamart", monotonic_cst=CST)
    model = ranker.fit(X, np.clip(np.round(y), 0, 3), np.arange(len(y)) // 10)
    assert worst_step(model, 1) <= 1e-12


def test_inner_nodes_keep_the_bounds() -> None:
    """A walk may end at any node: no value left of a constrained split is above one to its right."""
    X, y = rows(2)
    forest = GreedyMiserRegressor(**PRICED, monotonic_cst=CST).fit(X, y).forest_
    n_splits = 0
    for tree in (forest.trees(i, i + 1) for i in range(forest.n_trees)):

        def below(node: int, tree: Any = tree) -> list[float]:
            own = [float(tree.value[node, 0])]
            if tree.feature[node] < 0:
                return own
            return own + below(int(tree.left[node])) + below(int(tree.right[node]))

        for node in np.flatnonzero((tree.feature == 0) | (tree.feature == 1)):
            left, right = below(int(tree.left[node])), below(int(tree.right[node]))
            n_splits += 1
            if tree.feature[node] == 0:
                assert max(left) <= min(right)
            else:
                assert min(left) >= max(right)
    assert n_splits > 3


def test_by_name_and_from_a_file(tmp_path: Path) -> None:
    X, y = rows(3)
    table = pd.DataFrame(X, columns=["age", "dose", "pulse", "height"])
    by_name = GreedyMiserRegressor(**PRICED, monotonic_cst={"dose": -1, "age": 1}).fit(table, y)
    by_place = GreedyMiserRegressor(**PRICED, monotonic_cst=np.array(CST)).fit(table, y)
    assert by_name.forest_ == by_place.forest_
    for model in (by_name, by_place):
        model.save(tmp_path / "model.farthing")
        loaded = farthing.load(tmp_path / "model.farthing")
        np.testing.assert_array_equal(loaded.predict(table), model.predict(table))
        assert list(loaded.get_params()["monotonic_cst"]) == list(model.get_params()["monotonic_cst"])


@pytest.mark.parametrize(
    ("monotonic_cst", "match"),
    [
        ({"dose": 1}, "names 'dose', which the table does not have; its columns are x0, x1"),
        ([1, 0], r"one entry per column, shape \(4,\); got shape \(2,\)"),
        ([1, 0, 0, 3], "got 3 for column 'x3'"),
        ([1, 0, 0, 0.5], "got 0.5 for column 'x3'"),
        ([True, False, False, False], "got True for column 'x0'"),
    ],
)
def test_refused(monotonic_cst: Any, match: str) -> None:
    X, y = rows(4, 20)
    with pytest.raises(ValueError, match=match):
        GreedyMiserRegressor(n_estimators=1, monotonic_cst=monotonic_cst).fit(X, y)


def test_refused_columns_classes_and_budgets() -> None:
    X, y = rows(5, 60)
    colours = pd.DataFrame({"colour": np.where(X[:, 0] > 0, "red", "green"), "dose": X[:, 1]})
    with pytest.raises(ValueError, match="column 'colour' is categorical"):
        GradientBoostingRegressor(monotonic_cst={"colour": 1}).fit(colours, y)
    for estimator in (GreedyMiserClassifier, BudgetTreeClassifier, BudgetForestClassifier):
        with pytest.raises(ValueError, match="two classes to predict; got 3 classes"):
            estimator(monotonic_cst=CST).fit(X, np.digitize(y, [0.0, 1.0]))
    with pytest.raises(ValueError, match="charge='row' and a budget"):
        GreedyMiserRegressor(charge="row", budget=2.0, monotonic_cst=CST).fit(X, y)
    with pytest.raises(ValueError, match="aggregation='count'"):
        BudgetForestClassifier(aggregation="count", monotonic_cst=CST).fit(X, y > 0)


CONTRACT = [
    GreedyMiserRegressor(**PRICED, charge="row", monotonic_cst={"x0": 1, "x1": -1}),
    GreedyMiserClassifier(**PRICED, monotonic_cst={"x0": 1, "x1": -1}),
    BudgetTreeClassifier(max_depth=4, monotonic_cst={"x0": 1, "x1": -1}),
]


@pytest.mark.parametrize(
    "check",
    [
        pytest.param(check, id=f"{type(estimator).__name__}-{name}")
        for estimator in CONTRACT
        for name, check in yield_checks(estimator, tables="small", refits=False)
        if "scikit-learn" not in name
    ],
)
def test_contract(check: Any) -> None:
    check()
