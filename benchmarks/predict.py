"""Predictions of boosted trees of 31 leaves on doubles: 200,000 rows, 1,000 rows and one row of 100 columns.

Ours is ``decide``: values, the features that each row touched, and what they cost. The rivals report values
alone. LightGBM fits the trees on 20,000 other rows; ours, lleaves, treelite and onnxruntime predict with
these very trees (onnxruntime from our own export), scikit-learn with trees of the same number and size of its
own. lleaves compiles each model before, which its times do not contain: "compilation" is that time beside the
time that ours takes to import the model and predict its first row. If one row is predicted again and again,
the processor remembers its way down the trees, which helps predictors that jump at every test; so there are
loops over different rows, too.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.ensemble import HistGradientBoostingRegressor

from benchmarks.measure import Line, race, seconds
from benchmarks.trees import make_table
from farthing.export import export_model
from farthing.forests import from_model

HOW: Final = (
    "Ratios are medians over turns in alternation, of processor times of all threads, which other programs "
    "disturb less than wall times. Single rows are timed in loops of 100 calls, 1,000 rows in loops of 10; "
    "all threads sleep before."
)
_N_ROWS, _N_FITTED, _LEAVES = 200_000, 20_000, 31
_TREES: Final = (10, 100, 200, 1000)
# Turns by rows, and the rivals that are timed in fewer, since they take seconds.
_TURNS: Final = {200_000: 3, 1000: 9, 1: 5}
_SLOW: Final = ("treelite", "scikit-learn")
# Calls in a turn, by rows.
_CALLS: Final = {200_000: 1, 1000: 10, 1: 100}
# Seconds in which threads that spin for work go to sleep.
_REST: Final = 0.02
_MOST_OF_ONE_ROW: Final = 20e-6

Predict = Callable[[NDArray[np.float64]], Any]


@dataclass(frozen=True)
class _Table:
    """Rows to fit on, and new ones to predict."""

    X: NDArray[np.float64]
    y: NDArray[np.float64]
    unseen: NDArray[np.float64]


def run(threads: int) -> list[Line]:
    """Measure all sizes."""
    X, y = make_table(_N_ROWS + _N_FITTED)
    table = _Table(X[:_N_FITTED], y[:_N_FITTED], X[_N_FITTED:])
    lines: list[Line] = []
    for n_trees in _TREES:
        with tempfile.TemporaryDirectory() as folder:
            lines += _one_size(table, n_trees, threads, Path(folder))
    return lines


def _one_size(table: _Table, n_trees: int, threads: int, folder: Path) -> list[Line]:
    import lightgbm  # noqa: PLC0415 - rivals, which only benchmarks need
    import lleaves  # noqa: PLC0415

    settings = {"objective": "regression", "num_leaves": _LEAVES, "num_threads": threads, "verbose": -1}
    booster = lightgbm.train(settings, lightgbm.Dataset(table.X, table.y), n_trees)
    booster.save_model(str(folder / "model.txt"))
    compiled = lleaves.Model(str(folder / "model.txt"))
    compiling = seconds(compiled.compile)
    made: list[Any] = []

    def start() -> None:
        made.append(from_model(booster).set_params(n_jobs=threads))
        made[-1].decide(table.unseen[:1])

    starting = seconds(start)
    ours = made[0]
    _check(ours, booster, compiled, table.unseen[:1000])
    rivals: dict[str, Predict] = {
        "lleaves": lambda rows: compiled.predict(rows, n_jobs=threads),
        "LightGBM": lambda rows: booster.predict(rows, num_threads=threads),
        "onnxruntime": _onnx(ours, folder, threads),
        "treelite": _treelite(booster, threads),
        "scikit-learn": _scikit(table, n_trees),
    }
    lines = []
    for n_rows in _TURNS:
        rows = np.ascontiguousarray(table.unseen[:n_rows])
        for name, predict in rivals.items():
            goal = 0.9 if (n_trees, n_rows, name) == (200, 200_000, "lleaves") else None
            turns = _turns(n_trees, n_rows, name)
            what = f"{n_trees} trees, {n_rows:,} row{'s' if n_rows > 1 else ''}"
            given = [rows] * _CALLS[n_rows]
            lines.append(_duel(what, name, ours.decide, predict, given, goal=goal, turns=turns))
    each = [np.ascontiguousarray(table.unseen[i : i + 1]) for i in range(_CALLS[1])]
    for name, predict in rivals.items():
        what = f"{n_trees} trees, 1 row, another in each call"
        lines.append(_duel(what, name, ours.decide, predict, each, turns=_TURNS[1]))
    lines.append(
        Line(f"{n_trees} trees, compilation", "lleaves", starting, compiling, starting / compiling, None)
    )
    if n_trees == 200:
        lines.append(_one_row(ours, np.ascontiguousarray(table.unseen[:1])))
    return lines


def _turns(n_trees: int, n_rows: int, rival: str) -> int:
    """Return the turns of a duel: fewer where a turn takes many seconds."""
    if n_rows <= 1000:
        return _TURNS[n_rows]
    if rival in _SLOW:
        return 1 if n_trees > 200 else 2
    return 2 if n_trees > 200 else _TURNS[n_rows]


def _duel(
    what: str,
    name: str,
    ours: Predict,
    theirs: Predict,
    given: list[NDArray[np.float64]],
    **options: Any,
) -> Line:
    """Compare the mean time of a call, of calls for some arrays of rows."""

    def called(predict: Predict) -> Callable[[], object]:
        return lambda: [predict(rows) for rows in given]

    line = race(what, name, called(ours), called(theirs), clock=time.process_time, rest=_REST, **options)
    return replace(line, ours=line.ours / len(given), theirs=line.theirs / len(given))


def _onnx(ours: Any, folder: Path, threads: int) -> Predict:
    import onnxruntime  # noqa: PLC0415 - a rival, which only benchmarks need

    (path,) = export_model(ours, folder, to="onnx").paths
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
    return lambda rows: session.run(None, {"X": rows})


def _treelite(booster: Any, threads: int) -> Predict:
    import treelite  # noqa: PLC0415 - a rival, which only benchmarks need

    model = treelite.frontend.from_lightgbm(booster)
    return lambda rows: treelite.gtil.predict(model, rows, nthread=threads)


def _scikit(table: _Table, n_trees: int) -> Predict:
    model = HistGradientBoostingRegressor(max_iter=n_trees, max_leaf_nodes=_LEAVES, early_stopping=False)
    predict: Predict = model.fit(table.X, table.y).predict
    return predict


def _check(ours: Any, booster: Any, compiled: Any, rows: NDArray[np.float64]) -> None:
    """Raise unless all sides predict the same."""
    for theirs in (booster.predict(rows), compiled.predict(rows)):
        np.testing.assert_allclose(ours.decide(rows).prediction, theirs, rtol=1e-9, atol=1e-9)


def _one_row(ours: Any, row: NDArray[np.float64]) -> Line:
    """Compare one row through ``predict`` with the time that it may take."""
    times = [
        seconds(lambda: [ours.predict(row) for _ in range(_CALLS[1])], time.process_time) / _CALLS[1]
        for _ in range(15)
    ]
    found = statistics.median(times)
    ratio = found / _MOST_OF_ONE_ROW
    return Line("200 trees, one row through predict", "20 us", found, _MOST_OF_ONE_ROW, ratio, 1.0)
