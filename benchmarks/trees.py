"""Trees, grown and applied: 100 squared-error trees of 16 leaves on 200,000 rows and 100 columns of floats.

Both sides have the same limits: 16 leaves, at least 20 rows per leaf, 255 bins, learning rate 0.1. "Grow"
starts from a binned table, "bin and grow" from the floats. Prediction includes the features that each row
touched, which the rival does not report. Memory is what fitting adds at its peak to a process that holds the
floats, in multiples of the binned table.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.measure import Line, race
from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet
from farthing.learning.least_squares_boosting import boost
from farthing.table import Bins, Schema
from farthing.trees import Grower, Predictor

N_ROWS, N_COLUMNS = 200_000, 100
N_TREES, MAX_LEAVES, MIN_ROWS, RATE = 100, 16, 20, 0.1


def make_table(n_rows: int = N_ROWS) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return floats and a target with steps, waves and interactions."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, N_COLUMNS))
    y = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * (X[:, 4] > 0) * X[:, 5]
    return X, y + rng.normal(scale=0.5, size=n_rows)


def our_model(threads: int) -> GradientBoostingRegressor:
    """Return our booster with the common limits."""
    return GradientBoostingRegressor(
        n_estimators=N_TREES,
        learning_rate=RATE,
        max_leaf_nodes=MAX_LEAVES,
        min_samples_leaf=MIN_ROWS,
        n_jobs=threads,
    )


def run(threads: int) -> list[Line]:
    """Measure everything."""
    X, y = make_table()
    settings: dict[str, Any] = {
        "objective": "regression",
        "num_leaves": MAX_LEAVES,
        "min_data_in_leaf": MIN_ROWS,
        "min_sum_hessian_in_leaf": 0.0,
        "learning_rate": RATE,
        "max_bin": 255,
        "num_threads": threads,
        "verbose": -1,
    }
    schema, sheet = Schema.learn(X), CostSheet.uniform([f"x{j}" for j in range(N_COLUMNS)])
    bins = Bins(X, schema, n_threads=threads)
    weights = np.ones(N_ROWS)

    def grow() -> None:
        grower = Grower(bins, sheet, max_leaf_nodes=MAX_LEAVES, min_samples_leaf=MIN_ROWS, n_threads=threads)
        boost(grower, y, weights, start=float(y.mean()), n_estimators=N_TREES, learning_rate=RATE)

    data = lightgbm.Dataset(X, y, params=settings).construct()
    ours = our_model(threads).fit(X, y)
    predictor = Predictor(ours.forest_)
    theirs = lightgbm.train(settings, data, N_TREES)
    loss, rival_loss = (float(np.mean((y - np.asarray(model.predict(X))) ** 2)) for model in (ours, theirs))
    lines = [
        race("grow", "LightGBM", grow, lambda: lightgbm.train(settings, data, N_TREES), goal=0.8),
        race(
            "bin and grow",
            "LightGBM",
            lambda: our_model(threads).fit(X, y),
            lambda: lightgbm.train(settings, lightgbm.Dataset(X, y, params=settings), N_TREES),
            goal=0.6,
        ),
        race(
            "bin and grow",
            "scikit-learn",
            lambda: our_model(threads).fit(X, y),
            lambda: HistGradientBoostingRegressor(
                max_iter=N_TREES,
                learning_rate=RATE,
                max_leaf_nodes=MAX_LEAVES,
                min_samples_leaf=MIN_ROWS,
                early_stopping=False,
            ).fit(X, y),
            goal=0.5,
            turns=2,
            warm_up=False,
        ),
        race(
            "predict, with touched features",
            "LightGBM",
            lambda: predictor.predict(X, n_threads=threads),
            lambda: theirs.predict(X, num_threads=threads),
            goal=1.0,
            turns=7,
        ),
        Line("training loss", "LightGBM", loss, rival_loss, loss / rival_loss, None, unit=""),
    ]
    return [*lines, memory(threads)]


def memory(threads: int) -> Line:
    """Measure the peak of fitting in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.trees", str(threads)]
    found = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    table = N_ROWS * N_COLUMNS / 2**20
    return Line(
        "peak memory over the floats", "binned table", found["peak"], table, found["peak"] / table, 2.0, "MiB"
    )


def _status(field: str) -> float:
    """Return a field of this process's memory status in MiB (Linux)."""
    with open("/proc/self/status") as status:
        return next(float(line.split()[1]) / 1024 for line in status if line.startswith(field))


def _fit_and_report(threads: int) -> None:
    X, y = make_table()
    our_model(threads).fit(X[:1000], y[:1000])  # libraries and threads are loaded
    with open("/proc/self/clear_refs", "w") as refs:
        refs.write("5")  # resets the peak
    before = _status("VmRSS")
    our_model(threads).fit(X, y)
    print(json.dumps({"peak": _status("VmHWM") - before}))


if __name__ == "__main__":
    _fit_and_report(int(sys.argv[1]))
