"""The Greedy Miser beside LightGBM's cegb_* and CatBoost's penalties: 200 trees of depth 4, binning included.

Two tables: 200,000 x 100 floats with random prices, and 120,000 x 519 with the shape and the prices of the
Yahoo learning-to-rank set (`experiments.lib.yahoo_shaped`). All sides have as many trees and leaves (at most
16, of at least one row), 255 bins, learning rate 0.1, and the same lambda: LightGBM and CatBoost leave out
the half of equation 5, so their penalties are twice lambda times the price; for rows that pay for themselves
LightGBM sums over the rows where we take their mean. CatBoost grows symmetric trees, its default.

Losses are mean squared errors on rows that nobody has seen, ours over the rival's. What the models use is
printed as well: prices of all features that are tested somewhere.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import catboost
import lightgbm
import numpy as np
from experiments.lib.yahoo_shaped import yahoo_shaped
from numpy.typing import NDArray

from benchmarks.measure import Line, race
from farthing.boosting import GreedyMiserRegressor

N_TREES, DEPTH, RATE = 200, 4, 0.1
TURNS = 3


@dataclass(frozen=True)
class Task:
    """A table to learn, rows to validate on, prices and lambda."""

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    fresh: NDArray[Any]
    wanted: NDArray[Any]
    prices: NDArray[np.float64]
    tradeoff: float


def floats() -> Task:
    """Return 200,000 rows of 100 floats: steps, waves, interactions, and 24 weak columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(240_000, 100))
    y = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * (X[:, 4] > 0) * X[:, 5]
    y += 0.1 * X[:, 6:30] @ rng.normal(size=24) + rng.normal(scale=0.5, size=len(y))
    prices = rng.integers(1, 51, size=100).astype(np.float64)
    return Task("floats", X[:200_000], y[:200_000], X[200_000:], y[200_000:], prices, tradeoff=5.0)


def yahoo() -> Task:
    """Return 120,000 documents of 519 features, grades as numbers."""
    table = yahoo_shaped(140_000)
    y = table.grades.astype(np.float64)
    n = 120_000
    return Task("Yahoo-shaped", table.X[:n], y[:n], table.X[n:], y[n:], table.costs.own, tradeoff=1.0)


def ours(task: Task, charge: str, threads: int) -> GreedyMiserRegressor:
    """Fit the Greedy Miser."""
    model = GreedyMiserRegressor(
        tradeoff=task.tradeoff,
        charge=charge,  # type: ignore[arg-type]
        n_estimators=N_TREES,
        learning_rate=RATE,
        max_depth=DEPTH,
        costs=task.prices,
        n_jobs=threads,
    )
    return model.fit(task.X, task.y)


def lightgbm_model(task: Task, charge: str, threads: int) -> lightgbm.Booster:
    """Fit LightGBM with its coupled or its lazy cost penalty."""
    settings: dict[str, Any] = {
        "objective": "regression",
        "max_depth": DEPTH,
        "num_leaves": 2**DEPTH,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": RATE,
        "max_bin": 255,
        "num_threads": threads,
        "verbose": -1,
        "cegb_tradeoff": 1.0,
    }
    penalties = 2 * task.tradeoff * task.prices
    if charge == "model":
        settings["cegb_penalty_feature_coupled"] = penalties.tolist()
    else:
        settings["cegb_penalty_feature_lazy"] = (penalties / len(task.y)).tolist()
    data = lightgbm.Dataset(task.X, task.y, params={"max_bin": 255, "verbose": -1})
    return lightgbm.train(settings, data, N_TREES)


def catboost_model(task: Task, threads: int) -> catboost.CatBoostRegressor:
    """Fit CatBoost with its penalties of features."""
    model = catboost.CatBoostRegressor(
        iterations=N_TREES,
        depth=DEPTH,
        learning_rate=RATE,
        l2_leaf_reg=0.0,
        border_count=254,
        bootstrap_type="No",
        random_strength=0.0,
        score_function="L2",
        leaf_estimation_iterations=1,
        boosting_type="Plain",
        first_feature_use_penalties=(2 * task.tradeoff * task.prices).tolist(),
        thread_count=threads,
        allow_writing_files=False,
        verbose=False,
    )
    return model.fit(task.X, task.y)


def error(task: Task, model: Any) -> float:
    """Return the mean squared error on the fresh rows."""
    return float(np.mean((model.predict(task.fresh) - task.wanted) ** 2))


def used(task: Task, importance: Any) -> float:
    """Return the prices of all features that a model tests."""
    return float(task.prices[np.asarray(importance) > 0].sum())


@dataclass(frozen=True)
class Rival:
    """Who does the same, and what we want to need of its time."""

    name: str
    charge: str
    goal: float
    fit: Callable[[Task, int], Any]
    importance: Callable[[Any], Any]


RIVALS = (
    Rival(
        "LightGBM, coupled",
        "model",
        0.8,
        lambda task, threads: lightgbm_model(task, "model", threads),
        lambda model: model.feature_importance(),
    ),
    Rival(
        "LightGBM, lazy",
        "row",
        0.5,
        lambda task, threads: lightgbm_model(task, "row", threads),
        lambda model: model.feature_importance(),
    ),
    Rival("CatBoost", "model", 0.5, catboost_model, lambda model: model.get_feature_importance()),
)


def compare(task: Task, rival: Rival, threads: int) -> list[Line]:
    """Measure time, loss and what is bought against one rival."""
    kept: dict[str, Any] = {}

    def we() -> None:
        kept["ours"] = ours(task, rival.charge, threads)

    def they() -> None:
        kept["theirs"] = rival.fit(task, threads)

    what = f"{task.name}, charge={rival.charge!r}"
    time = race(f"{what}: bin and grow", rival.name, we, they, goal=rival.goal, turns=TURNS, warm_up=False)
    model, other = kept["ours"], kept["theirs"]
    losses = error(task, model), error(task, other)
    tested = np.bincount(model.forest_.feature + 1, minlength=len(task.prices) + 1)[1:]
    prices = used(task, tested), used(task, rival.importance(other))
    return [
        time,
        Line(f"{what}: validation loss", rival.name, *losses, losses[0] / losses[1], 1.01, unit=""),
        Line(f"{what}: price of all features", rival.name, *prices, prices[0] / max(prices[1], 1), None, ""),
    ]


def run(threads: int) -> list[Line]:
    """Measure everything."""
    tasks = (floats(), yahoo())
    return [line for task in tasks for rival in RIVALS for line in compare(task, rival, threads)]
