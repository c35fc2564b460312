"""The miser cascade beside one Greedy Miser of as many trees: the whole path of budgets against one model.

A cascade is one fit: chains, a booster for each set of features with as many rounds as suit held-out rows,
calibration, and the exits of every mean budget. The miser has as many rounds as all boosters of the cascade
together, of the same depth and on the same rows, at one trade-off. A second line has a miser of as many
rounds as one booster may have at most, which shows how many plain fits a cascade takes. Two tables: 20,000 x
50 floats with two classes and random prices, and 10,000 x 40 with five classes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line, race
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier

N_TREES, DEPTH, RATE = 50, 4, 0.2
TURNS = 1


def table(n_rows: int, n_features: int, n_classes: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return floats, classes by a noisy sum of steps and interactions, and prices."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, n_features))
    signal = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3]
    signal += 0.2 * X[:, 4:24] @ rng.normal(size=20) + rng.normal(scale=0.5, size=n_rows)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes)
    return X, np.digitize(signal, cuts), rng.integers(1, 51, size=n_features).astype(np.float64)


def compare(what: str, data: tuple[NDArray[Any], NDArray[Any], NDArray[Any]], threads: int) -> list[Line]:
    """Time one table."""
    X, y, prices = data
    settings: dict[str, Any] = {
        "learning_rate": RATE,
        "max_depth": DEPTH,
        "l2_regularization": 1.0,
        "n_jobs": threads,
    }

    def ours() -> MiserCascadeClassifier:
        model = MiserCascadeClassifier(prices, n_estimators=N_TREES, random_state=0, **settings).fit(X, y)
        model.path()
        return model

    cascade = ours()
    trees_per_round = len(cascade.prior_) // cascade.forest_.width
    n_rounds = cascade.forest_.n_trees // trees_per_round - len(cascade.sets_)

    def miser(rounds: int) -> None:
        model = GreedyMiserClassifier(
            tradeoff=1e-5, relative=True, n_estimators=rounds, costs=prices, **settings
        )
        model.fit(X, y)

    lines = []
    for rounds, goal in ((n_rounds, 10.0), (N_TREES, None)):
        label = f"{what}: {len(cascade.sets_)} boosters, {len(cascade.path_spend_)} budgets"
        rival = f"Greedy Miser, {rounds} rounds"
        lines.append(race(label, rival, ours, partial(miser, rounds), goal=goal, turns=TURNS, warm_up=False))
    return lines


def run(threads: int) -> list[Line]:
    """Measure everything."""
    return [
        *compare("20,000 x 50, 2 classes", table(20_000, 50, 2), threads),
        *compare("10,000 x 40, 5 classes", table(10_000, 40, 5), threads),
    ]
