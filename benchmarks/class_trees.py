"""Many classes: the Greedy Miser with one tree a round for all of them, beside rivals and one tree for each.

100 rounds of depth 4, binning included: on a made-up table of 700 x 35 with 19 classes, and on one of 20,000
x 16 with 26. LightGBM grows one tree for each class and round, CatBoost one symmetric tree for all, with a
value for each class. No side has prices to weigh; all have 255 bins and learning rate 0.1. A last line has
the miser cascade, its whole path of budgets, on the first table.

Losses are log losses on rows that nobody has seen, ours over the rival's. Times are of the processor, which
other programs disturb less.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import catboost
import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss

from benchmarks.measure import Line, race
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier

N_ROUNDS, DEPTH, RATE = 100, 4, 0.1
TURNS = 3


@dataclass(frozen=True)
class Task:
    """A table to learn, and rows to test on."""

    name: str
    X: NDArray[Any]
    y: NDArray[Any]
    fresh: NDArray[Any]
    wanted: NDArray[Any]


def made(n_rows: int, n_columns: int, n_classes: int) -> Task:
    """Return a made-up table with a cluster for each class."""
    X, y = make_classification(
        n_rows + 2000,
        n_columns,
        n_informative=n_columns * 2 // 3,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=0,
    )
    name = f"{n_rows:,} x {n_columns}, {n_classes} classes"
    return Task(name, X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:])


def miser(task: Task, threads: int, strategy: str = "multi_output_tree") -> Any:
    """Fit the Greedy Miser, prices aside."""
    model = GreedyMiserClassifier(
        n_estimators=N_ROUNDS,
        max_depth=DEPTH,
        learning_rate=RATE,
        l2_regularization=1.0,
        multi_strategy=strategy,  # type: ignore[arg-type]
        n_jobs=threads,
    )
    return model.fit(task.X, task.y)


def lightgbm_model(task: Task, threads: int) -> Any:
    """Fit LightGBM, which grows one tree for each class."""
    model = lightgbm.LGBMClassifier(
        n_estimators=N_ROUNDS,
        max_depth=DEPTH,
        num_leaves=2**DEPTH,
        learning_rate=RATE,
        reg_lambda=1.0,
        min_child_samples=1,
        min_child_weight=0.0,
        n_jobs=threads,
        verbose=-1,
    )
    return model.fit(task.X, task.y)


def catboost_model(task: Task, threads: int) -> Any:
    """Fit CatBoost, which grows one tree for all classes."""
    model = catboost.CatBoostClassifier(
        iterations=N_ROUNDS,
        depth=DEPTH,
        learning_rate=RATE,
        l2_leaf_reg=1.0,
        border_count=254,
        loss_function="MultiClass",
        thread_count=threads,
        allow_writing_files=False,
        verbose=False,
    )
    return model.fit(task.X, task.y)


def cascade(task: Task, threads: int, strategy: str) -> Any:
    """Fit the miser cascade at its defaults."""
    model = MiserCascadeClassifier(
        multi_strategy=strategy,  # type: ignore[arg-type]
        random_state=0,
        n_jobs=threads,
    )
    return model.fit(task.X, task.y)


def loss(task: Task, model: Any) -> float:
    """Return the log loss on the fresh rows."""
    return float(log_loss(task.wanted, model.predict_proba(task.fresh)))


@dataclass(frozen=True)
class Rival:
    """Who does the same, and what we want to need of its time."""

    name: str
    goal: float
    fit: Callable[[Task, int], Any]


RIVALS = (
    Rival("one tree for each class", 1.0, lambda task, n: miser(task, n, "one_output_per_tree")),
    Rival("LightGBM", 1.0, lightgbm_model),
    Rival("CatBoost", 1.0, catboost_model),
)


def compare(task: Task, rival: Rival, threads: int) -> list[Line]:
    """Measure time and loss against one rival."""
    kept: dict[str, Any] = {}

    def ours() -> None:
        kept["ours"] = miser(task, threads)

    def theirs() -> None:
        kept["theirs"] = rival.fit(task, threads)

    found = race(
        f"{task.name}: bin and grow",
        rival.name,
        ours,
        theirs,
        goal=rival.goal,
        turns=TURNS,
        warm_up=False,
        clock=time.process_time,
    )
    losses = loss(task, kept["ours"]), loss(task, kept["theirs"])
    return [found, Line(f"{task.name}: loss", rival.name, *losses, losses[0] / losses[1], None, unit="")]


def cascades(task: Task, threads: int) -> list[Line]:
    """Measure the cascade with one tree for all classes and with one for each, once: it takes minutes."""
    kept: dict[str, Any] = {}

    def fit(strategy: str) -> Callable[[], None]:
        def run_once() -> None:
            kept[strategy] = cascade(task, threads, strategy)

        return run_once

    one, each = "multi_output_tree", "one_output_per_tree"
    what, rival = f"miser cascade, {task.name}", "one tree for each class"
    found = race(
        f"{what}: fit", rival, fit(one), fit(each), goal=0.2, turns=1, warm_up=False, clock=time.process_time
    )
    errors = [float(np.mean(kept[name].predict(task.fresh) != task.wanted)) for name in (one, each)]
    return [found, Line(f"{what}: error", rival, errors[0], errors[1], errors[0] / errors[1], 1.0, unit="")]


def run(threads: int) -> list[Line]:
    """Measure everything."""
    tasks = (made(700, 35, 19), made(20_000, 16, 26))
    lines = [line for task in tasks for rival in RIVALS for line in compare(task, rival, threads)]
    return [*lines, *cascades(tasks[0], threads)]
