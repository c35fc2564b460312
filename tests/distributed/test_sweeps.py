"""Sweeps and the front door, whose fits joblib sends to a real cluster."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from distributed import Client
from joblib import parallel_config
from tests.distributed.tables import numbers

from farthing.boosting import GreedyMiserClassifier
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import BudgetedClassifier, sweep

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
