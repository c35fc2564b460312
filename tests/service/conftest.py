"""A folder of small models, and an application that serves it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import httpx
import numpy as np
import pytest
from tests.serving import DIRECT, running

from farthing.boosting import AdaBoostRSClassifier, GradientBoostingRegressor
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier
from farthing.service import Settings

HEART = load_heart_disease()


@pytest.fixture(scope="session")
def models(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of four models: heart, forest, stochastic, colour (has categories)."""
    folder = tmp_path_factory.mktemp("models")
    X, y = HEART.X, HEART.y
    tree = BudgetTreeClassifier(
        costs=HEART.costs, budget=110, cost_rule="penalty", tradeoff=0.001, max_depth=4
    )
    tree.fit(X[2:], y[2:]).save(folder / "heart.farthing")
    forest = BudgetForestClassifier(
        costs=HEART.costs, cost_rule="penalty", tradeoff=0.0, n_estimators=10, random_state=0
    )
    forest.fit(X[2:], y[2:]).save(folder / "forest.farthing")
    sampled = AdaBoostRSClassifier(budget=200, costs=HEART.costs, random_state=0)
    sampled.fit(X[2:], y[2:]).save(folder / "stochastic.farthing")
    rng = np.random.default_rng(0)
    mixed = np.empty((60, 2), dtype=object)
    mixed[:, 0] = rng.choice(["red", "green", "blue"], size=60)
    mixed[:, 1] = rng.normal(size=60)
    target = (mixed[:, 0] == "red") + mixed[:, 1].astype(float)
    GradientBoostingRegressor(n_estimators=5, costs=[2, 3]).fit(mixed, target).save(
        folder / "colour.farthing"
    )
    return folder


@pytest.fixture(scope="session")
def http(models: Path) -> Iterator[httpx.Client]:
    """Return a client of a server in a thread of this process."""
    settings = Settings(sources=(str(models),), max_rows=50, max_body=200_000)
    with running(settings) as url, httpx.Client(base_url=url, **DIRECT) as client:
        yield client
