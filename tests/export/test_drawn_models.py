"""Models of tables and prices that Hypothesis draws walk in C as in the library."""

from __future__ import annotations

import shutil
import tempfile
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from experiments.lib.export_replays import replay_c, replay_node, write_c, write_js
from experiments.lib.export_walks import record
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.export.walking import assert_all_at_once, c_walk

from farthing.adaptive import AdaptLinClassifier
from farthing.boosting import AdaBoostClassifier, AdaBoostRSClassifier, GreedyMiserClassifier
from farthing.cascades import CSTCClassifier
from farthing.costs import CostSheet, Group
from farthing.export import Program
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier

pytestmark = pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")

PRICES = st.sampled_from([0.0, 0.1, 1.0, 2.5, 1e-9, 1e9])
MAKERS: list[Any] = [
    lambda costs: BudgetTreeClassifier(costs=costs, max_depth=4),
    lambda costs: BudgetForestClassifier(costs=costs, n_estimators=4, random_state=0),
    lambda costs: GreedyMiserClassifier(costs=costs, n_estimators=4, max_leaf_nodes=6, tradeoff=0.01),
    lambda costs: AdaBoostClassifier(costs=costs, n_estimators=12),
    lambda costs: CSTCClassifier(costs=costs, n_estimators=6, random_state=0),
    lambda costs: AdaptLinClassifier(
        GreedyMiserClassifier(n_estimators=3), costs=costs, p_full=0.5, n_alternations=1, random_state=0
    ),
    *(
        lambda costs, sampling=sampling: AdaBoostRSClassifier(
            costs=costs, sampling=sampling, n_estimators=12, random_state=0
        )
        for sampling in ("weight", "cost", "free_rider", "top")
    ),
]


@st.composite
def tables(draw: Any) -> tuple[Any, Any, CostSheet]:
    """Draw rows of few distinct values, some missing, two or three classes, and prices with a group."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_rows, n_columns, n_classes = draw(st.integers(30, 60)), draw(st.integers(2, 6)), draw(st.integers(2, 3))
    X = rng.integers(-3, 4, size=(n_rows, n_columns)) / draw(st.sampled_from([1.0, 3.0, 1e-3]))
    X[rng.random(X.shape) < draw(st.sampled_from([0.0, 0.2]))] = np.nan
    y = (np.nan_to_num(X[:, 0]) + rng.normal(size=n_rows) > 0).astype(int)
    y[:n_classes] = np.arange(n_classes)
    y[rng.random(n_rows) < 0.2] = n_classes - 1
    y[:n_classes] = np.arange(n_classes)
    names = [f"x{column}" for column in range(n_columns)]
    groups = {"shared": Group(draw(PRICES), names[:2])} if draw(st.booleans()) else {}
    return X, y, CostSheet([draw(PRICES) for _ in names], groups=groups)


@pytest.mark.parametrize("make", MAKERS)
@settings(max_examples=3, deadline=None, suppress_health_check=list(HealthCheck))
@given(table=tables(), level=st.sampled_from(["-O0", "-Os"]))
def test_drawn_models_walk_alike(make: Any, table: tuple[Any, Any, CostSheet], level: str) -> None:
    X, y, costs = table
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as name:
        warnings.simplefilter("ignore")
        model = make(costs).fit(X, y)
        records, folder = record(model, X, 20), Path(name)
        write_c(model, records, folder)
        assert replay_c(folder, "gcc", [level]).walks == len(records)
        if not Program.of(model).answer_width:
            assert_all_at_once(model, c_walk(model, folder, name="whole"), X)
        if shutil.which("node"):
            write_js(model, records, folder)
            assert replay_node(folder).walks == len(records)
