"""Sweeps and the front door on a real cluster: fits that joblib sends there, and fits of collections."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from distributed import Client
from joblib import parallel_config
from sklearn.base import clone
from sklearn.tree import DecisionTreeClassifier
from tests.distributed.tables import cut_array, cut_frame, frame, numbers

from farthing.base import Guarantee, SweepContext
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet
from farthing.errors import TableError
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import BudgetedClassifier, sweep
from farthing.frontier.candidates import candidates
from farthing.frontier.collection_rows import CollectionRows

METHODS: Any = [
    (GreedyMiserClassifier(n_estimators=3, max_depth=2), {"tradeoff": [0.0, 0.01]}),
    (BudgetTreeClassifier(), {"max_depth": [1, 3]}),
]


@pytest.fixture(scope="module")
def table() -> tuple[np.ndarray, np.ndarray]:
    X, y, _ = numbers(300)
    return X, np.where(y > 0.5, "yes", "no")


def points(frontier: Any) -> list[Any]:
    return [(point.method, point.params, point.spend, point.score) for point in frontier]


def test_sweep_on_a_cluster(on_cluster: Client, table: Any, tmp_path: Path) -> None:
    X, y = table
    alone = sweep(METHODS, X, y, cv=2)
    before = len(on_cluster.get_task_stream())
    with parallel_config("dask"):
        together = sweep(METHODS, X, y, cv=2, n_jobs=-1, memory=tmp_path)
    assert points(together) == points(alone)
    assert len(on_cluster.get_task_stream()) > before
    # The workers have written the results that the second sweep takes from the folder.
    assert list(tmp_path.rglob("*"))
    again = sweep(METHODS, X, y, cv=2, memory=tmp_path)
    assert points(again) == points(alone)


def test_time_limit_on_a_cluster(on_cluster: Client, table: Any) -> None:
    X, y = table
    many = [(GreedyMiserClassifier(n_estimators=20_000, max_depth=6), {"learning_rate": [0.1, 0.2, 0.3]})]
    quick = (BudgetTreeClassifier(max_depth=1), {})
    with parallel_config("dask"):
        frontier = sweep([quick, *many], X, y, n_jobs=-1, time_limit=3)
    # The first fit is done whatever the limit; the long ones are cut off on their workers.
    assert {point.method for point in frontier} == {"BudgetTreeClassifier"}
    assert frontier.n_skipped == 3


def test_front_door_on_a_cluster(on_cluster: Client, table: Any) -> None:
    X, y = table
    door = BudgetedClassifier(methods=METHODS, budget=2.0, cv=2, random_state=0)
    alone = door.fit(X, y).predict_proba(X)
    with parallel_config("dask"):
        together = BudgetedClassifier(methods=METHODS, budget=2.0, cv=2, random_state=0, n_jobs=-1).fit(X, y)
    np.testing.assert_array_equal(together.predict_proba(X), alone)


# Collections: the rows stay on the workers, which make each fit together.

CUTS = [90, 91, 200]
SMALL: Any = [
    (GreedyMiserClassifier(n_estimators=2, max_depth=1), {}),
    (BudgetTreeClassifier(), {"max_depth": [3]}),
]


def cut_into(*columns: Any) -> list[Any]:
    return [cut_array(np.asarray(column), CUTS) for column in columns]


def test_sweep_of_a_collection(on_cluster: Client, table: Any, tmp_path: Path, monkeypatch: Any) -> None:
    X, y = table
    weights = 1.0 + np.arange(len(y)) % 2
    alone = sweep(SMALL, X, y, cv=2, sample_weight=weights)
    Xs, ys, given = cut_into(X, y, weights)
    together = sweep(SMALL, Xs, ys, cv=2, sample_weight=given, memory=tmp_path)
    assert points(together) == points(alone)
    assert not together.failures
    # The second sweep takes all results from the folder, and fits nothing.
    monkeypatch.setattr(CollectionRows, "fit", None)
    again = sweep(SMALL, Xs, ys, cv=2, sample_weight=given, memory=tmp_path)
    assert points(again) == points(alone)


def test_one_split_of_a_frame(on_cluster: Client) -> None:
    X, y = frame(200)
    labels = np.where(y > np.median(y), "high", "low")
    tree = [BudgetTreeClassifier(max_depth=3)]
    together = sweep(tree, cut_frame(X, CUTS[:2]), cut_frame(pd.Series(labels), CUTS[:2]))
    assert points(together) == points(sweep(tree, X, labels))


def test_time_limit_of_a_collection(on_cluster: Client, table: Any) -> None:
    slow = (GreedyMiserClassifier(n_estimators=20_000, max_depth=6), {"learning_rate": [0.1, 0.2]})
    frontier = sweep([(BudgetTreeClassifier(max_depth=1), {}), slow], *cut_into(*table), time_limit=2)
    assert {point.method for point in frontier} == {"BudgetTreeClassifier"}
    assert frontier.n_skipped == 2


def test_front_door_on_a_collection(on_cluster: Client, table: Any) -> None:
    X, y = table
    door = BudgetedClassifier(methods=SMALL, budget=2.0, cv=2, random_state=0)
    alone = clone(door).fit(X, y)
    together = clone(door).fit(*cut_into(X, y))
    np.testing.assert_array_equal(together.predict_proba(X), alone.predict_proba(X))
    assert together.chosen_.spend == alone.chosen_.spend
    assert together.chosen_.params == alone.chosen_.params
    lazy = together.decide(cut_array(X, CUTS))
    np.testing.assert_array_equal(lazy.spent.compute(), alone.spend(X))
    again = together.refit(*cut_into(X[:200], y[:200]))
    np.testing.assert_array_equal(again.predict(X), alone.refit(X[:200], y[:200]).predict(X))


def test_what_needs_all_rows_here(on_cluster: Client, table: Any) -> None:
    X, y = cut_into(*table)
    with pytest.raises(TableError, match="validation= needs rows in this process"):
        sweep(SMALL, X, y, validation=table)
    with pytest.raises(TableError, match="guarantee of BudgetedClassifier needs all rows"):
        BudgetedClassifier(guarantee=Guarantee(budget=2.0)).fit(X, y)
    failed = sweep([DecisionTreeClassifier(max_depth=1)], X, y).failures
    assert "does not keep the contract" in failed[0].reason


def test_methods_offered_for_collections() -> None:
    costs = CostSheet([1.0, 1.0])
    context = SweepContext(100, 2, 2, costs, is_collection=True)
    offered = {candidate.method for candidate in candidates("all", context)}
    assert {"GreedyMiserClassifier", "BudgetForestClassifier", "MiserCascadeClassifier"} <= offered
    assert "AdaBoostClassifier" not in offered
    assert "AdaBoostClassifier" in {
        one.method for one in candidates("all", replace(context, is_collection=False))
    }


def test_errors_of_a_sweep_name_the_partition(on_cluster: Client) -> None:
    X, y = frame(200)
    with pytest.raises(TableError, match=r"partition 1, read by worker tcp://.*different lengths"):
        sweep(SMALL, cut_frame(X, [90, 150]), cut_frame(pd.Series(y > 0), [90, 151]))
