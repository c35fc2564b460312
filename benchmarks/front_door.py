"""The front door: a default fit against sixty fits of LightGBM, and against the front door of before.

`BudgetedClassifier` at its defaults, with a mean budget of 20 % of what all features cost. The rival is
LightGBM with 60 fits of 100 rounds of 16 leaves: 20 coupled penalties, 20 lazy ones, and 20 prefixes of the
features by gain per price without a penalty. All of them are scored on one set of validation rows, a quarter
of the table, and the best within the budget is fitted again on all rows; below 3,000 rows the front door uses
five folds for the same. LightGBM has one thread or two, whichever is faster for the table. Where 60 fits take
more than a minute, a part of them is run, spread evenly, and the time multiplied.

The front door of before is that of another checkout: FARTHING_BEFORE names its folder of sources, with the
compiled core in it. Without it these lines are left out. It is stopped once it has taken six times as long as
ours and more than a minute: its figure is then what it had taken by then, and the ratio is at most the one
shown; such lines say "at least". Each side runs in a process of its own, which reads
the table before the clock starts. The lines on processor time add up all threads; other programs disturb it
far less, and LightGBM has one thread for it, since more only add to it. The last lines compare the largest
memory of these processes.

FARTHING_TABLES and FARTHING_BEFORE_TABLES name the tables to run, and to run the front door of before on,
separated by semicolons; without them all are. What was not measured is "nan", and missed. FARTHING_KEPT
names a folder that keeps what was measured, table by table, so that a page may be made in several runs.
LightGBM with two threads is stopped when it has taken longer than with one.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from benchmarks.measure import Line

SHARE = 0.2
N_FITS, N_ROUNDS = 60, 100
# Rows of each table; None is all of them.
TABLES: dict[str, int | None] = {
    "heart disease": None,
    "700 x 35, 19 classes": None,
    "dna": None,
    "satellite": None,
    "covtype": 20_000,
    "letter": None,
    "adult": None,
}
# Each table is fitted up to this many times, in alternation, until that took MOST_SECONDS of the processor.
TURNS = 3
MOST_SECONDS = 60.0
HOW = (
    "Ratios are medians over up to three turns in alternation, as many as begin within a minute of the "
    "processor; only they carry over to other machines."
)
# The front door of before is stopped after so many times our seconds, and so many seconds.
CUT, LEAST_CUT = 6.0, 60.0
# Seconds that a process may take to start and to read the table.
TO_START = 10.0


def table_of(name: str, rows: int | None) -> tuple[NDArray[np.float64], NDArray[np.int64], Any]:
    """Return a table as numbers, with labels as codes, and prices: its own, or random ones from 1 to 50."""
    from sklearn.datasets import make_classification  # noqa: PLC0415

    from farthing.datasets import load_heart_disease, load_table  # noqa: PLC0415

    rng = np.random.default_rng(0)
    if name.startswith("700"):
        X, y = make_classification(
            700, 35, n_informative=12, n_redundant=5, n_classes=19, n_clusters_per_class=1, random_state=0
        )
        return X, y, rng.integers(1, 51, size=35).astype(float).tolist()
    data = load_heart_disease(frame=True) if name == "heart disease" else load_table(name)
    frame = data.X.apply(lambda c: c.cat.codes.replace(-1, np.nan) if c.dtype.name == "category" else c)
    X = frame.to_numpy(dtype=np.float64)
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    some = np.arange(len(y)) if rows is None else np.sort(rng.permutation(len(y))[:rows])
    own: Any = getattr(data, "costs", None)
    if own is None:
        prices = rng.integers(1, 51, size=X.shape[1]).astype(float)
    else:
        prices = np.array([own.price(feature) for feature in own.features])
    return X[some], y[some], prices.tolist()


def fit_ours(
    X: NDArray[np.float64], y: NDArray[np.int64], prices: list[float], _: int
) -> tuple[float, float]:
    """Fit the front door, and return the seconds, and those of the processor."""
    from farthing import BudgetedClassifier  # noqa: PLC0415
    from farthing.base.registry import import_methods  # noqa: PLC0415

    import_methods()
    start, processor = time.perf_counter(), time.process_time()
    BudgetedClassifier(prices, SHARE * sum(prices)).fit(X, y)
    return time.perf_counter() - start, time.process_time() - processor


def fit_lightgbm(
    X: NDArray[np.float64], y: NDArray[np.int64], prices: list[float], threads: int
) -> tuple[float, float]:
    """Fit LightGBM 60 times and once more, and return the seconds, and those of the processor."""
    import lightgbm  # noqa: PLC0415

    n_classes = int(y.max()) + 1
    whole = np.array(prices)
    budget = SHARE * whole.sum()
    rows = np.random.default_rng(0).permutation(len(y))
    learn, held = rows[len(y) // 4 :], rows[: len(y) // 4]
    base: dict[str, Any] = {
        "objective": "binary" if n_classes == 2 else "multiclass", "verbosity": -1, "max_depth": 4,
        "num_leaves": 16, "learning_rate": 0.1, "lambda_l2": 1.0, "min_data_in_leaf": 5,
        "num_threads": threads,
    }  # fmt: skip
    if n_classes > 2:
        base["num_class"] = n_classes
    third = N_FITS // 3
    penalties = np.geomspace(1e-4, 1.0, third)
    settings: list[tuple[dict[str, Any], NDArray[np.int64] | None]] = []
    for kind in ("cegb_penalty_feature_coupled", "cegb_penalty_feature_lazy"):
        settings += [({kind: (whole * rate).tolist()}, None) for rate in penalties]

    def train(part: NDArray[np.int64], options: dict[str, Any], columns: NDArray[np.int64] | None) -> Any:
        data = X[part] if columns is None else X[np.ix_(part, columns)]
        return lightgbm.train({**base, **options}, lightgbm.Dataset(data, y[part]), N_ROUNDS)

    begin, processor = time.perf_counter(), time.process_time()
    gains = train(learn, {}, None).feature_importance("gain") / np.maximum(whole, 1e-9)
    of_one = time.perf_counter() - begin
    order = np.argsort(-gains, kind="stable")
    sizes = np.linspace(1, len(order), third).round().astype(int)
    settings += [({}, order[:size]) for size in sizes]
    every = max(1, int(np.ceil(of_one * N_FITS / MOST_SECONDS)))
    best, chosen = -1.0, settings[0]
    for options, columns in settings[::every]:
        booster = train(learn, options, columns)
        used = np.flatnonzero(booster.feature_importance("split"))
        used = used if columns is None else columns[used]
        data = X[held] if columns is None else X[np.ix_(held, columns)]
        given = booster.predict(data, num_threads=threads)
        right = float(np.mean((given > 0.5 if n_classes == 2 else given.argmax(axis=1)) == y[held]))
        if whole[used].sum() <= budget and right > best:
            best, chosen = right, (options, columns)
    train(rows, *chosen)
    return (time.perf_counter() - begin) * every, (time.process_time() - processor) * every


SIDES = {"ours": fit_ours, "lightgbm": fit_lightgbm}


def measure(
    side: str, file: Path, threads: int, sources: str | None = None, cut: float | None = None
) -> tuple[float, float, float]:
    """Run one side in a process of its own; return seconds, those of the processor, and peak memory in MB.

    If it takes longer than `cut` seconds, and what it needs to start, it is stopped: `cut` are its seconds
    then, and the rest is unknown.
    """
    environment = dict(os.environ)
    root = str(Path(__file__).parents[1])
    environment["PYTHONPATH"] = root
    environment["FARTHING_SIDE"] = sources or ""
    words = [sys.executable, "-m", "benchmarks.front_door", side, str(file), str(threads)]
    # Outside the checkout, so that its own sources do not come first.
    try:
        told = subprocess.run(
            words,
            env=environment,
            cwd=file.parent,
            capture_output=True,
            text=True,
            check=True,
            timeout=None if cut is None else cut + TO_START,
        ).stdout
    except subprocess.TimeoutExpired:
        return np.nan if cut is None else cut, np.nan, np.nan
    found = json.loads(told.splitlines()[-1])
    return found["seconds"], found["processor"], found["memory"]


def was_stopped(turn: tuple[float, float, float]) -> bool:
    """Return whether a side took too long."""
    return bool(np.isfinite(turn[0]) and np.isnan(turn[1]))


NOT_MEASURED = (np.nan, np.nan, np.nan)
# By side, the seconds, those of the processor and the peak memory of each turn.
Turns: TypeAlias = dict[str, list[tuple[float, float, float]]]
NOTHING: Turns = {"ours": [], "lightgbm": [], "one": [], "before": []}


def chosen(variable: str) -> list[str]:
    """Return the tables that a variable of the environment names, or all."""
    given = os.environ.get(variable)
    return list(TABLES) if given is None else [name for name in given.split(";") if name]


def kept(name: str) -> Turns | None:
    """Return what an earlier run measured of a table; None if there is nothing."""
    folder = os.environ.get("FARTHING_KEPT")
    file = Path(folder or ".") / f"{name}.json"
    if folder is None or not file.exists():
        return None
    return {side: [tuple(turn) for turn in turns] for side, turns in json.loads(file.read_text()).items()}


def keep(name: str, found: Turns) -> None:
    """Write what was measured of a table."""
    if folder := os.environ.get("FARTHING_KEPT"):
        Path(folder).mkdir(parents=True, exist_ok=True)
        (Path(folder) / f"{name}.json").write_text(json.dumps(found))


def alternate(file: Path, threads: int, own: str | None) -> Turns:
    """Measure our side and LightGBM, with one thread and with two, in alternation."""
    found: Turns = {side: [] for side in NOTHING}
    while len(found["ours"]) < TURNS and sum(t[1] for s in found.values() for t in s) < MOST_SECONDS:
        found["ours"].append(measure("ours", file, threads, own))
        found["one"].append(measure("lightgbm", file, 1))
        one = found["one"][-1]
        two = measure("lightgbm", file, 2, cut=one[0])
        found["lightgbm"].append(one if was_stopped(two) else min(one, two))
    return found


def run(threads: int) -> list[Line]:
    """Measure everything."""
    before = os.environ.get("FARTHING_BEFORE")
    own = os.environ.get("FARTHING_SOURCES")
    lines, details = [], []
    with tempfile.TemporaryDirectory() as folder:
        for name, rows in TABLES.items():
            found = kept(name) or {side: [] for side in NOTHING}
            file = Path(folder) / "table.npz"
            wanted = name in chosen("FARTHING_TABLES") and not found["ours"]
            asked = bool(before) and name in chosen("FARTHING_BEFORE_TABLES") and not found["before"]
            if wanted or (asked and found["ours"]):
                X, y, prices = table_of(name, rows)
                np.savez(file, X=X, y=y, prices=prices)
            if wanted:
                found = alternate(file, threads, own)
                keep(name, found)
            if asked and found["ours"]:
                cut = max(CUT * float(np.median([turn[0] for turn in found["ours"]])), LEAST_CUT)
                found["before"] = [measure("ours", file, threads, before, cut)]
                keep(name, found)
            old = found["before"] or [NOT_MEASURED]
            of = {
                side: np.median(np.array(values or [NOT_MEASURED]), axis=0) for side, values in found.items()
            }
            rivals = [("LightGBM", of["lightgbm"], of["one"], 1.0)]
            if before:
                said = "before, at least" if was_stopped(old[0]) else "before"
                rivals.append((said, np.array(old[0]), np.array(old[0]), 0.2))
            for rival, theirs, alone, goal in rivals:
                ours = of["ours"]
                ratio = float(ours[0] / theirs[0])
                if rival == "LightGBM" and found["ours"]:
                    pairs = zip(found["ours"], found["lightgbm"], strict=True)
                    ratio = float(np.median([a[0] / b[0] for a, b in pairs]))
                lines.append(Line(name, rival, ours[0], theirs[0], ratio, goal))
                processor = Line(f"{name}, processor", rival, ours[1], alone[1], ours[1] / alone[1], None)
                memory = Line(
                    f"{name}, memory", rival, ours[2], theirs[2], ours[2] / theirs[2], None, unit="MB"
                )
                details += [processor, memory]
                print(lines[-1], processor, memory, sep="\n", flush=True)
    return lines + sorted(details, key=lambda line: line.unit == "MB")


def main() -> None:
    """Measure one side, as a process of its own."""
    if sources := os.environ.get("FARTHING_SIDE"):
        # An editable installation finds its own sources before any path.
        sys.meta_path[:] = [
            finder for finder in sys.meta_path if not type(finder).__module__.startswith("_editable")
        ]
        sys.path.insert(0, sources)
        import farthing  # noqa: PLC0415

        if not Path(farthing.__file__).is_relative_to(sources):
            raise RuntimeError(f"farthing is that of {farthing.__file__}, not of {sources}")
    side, file, threads = sys.argv[1:4]
    warnings.simplefilter("ignore")
    with np.load(file) as data:
        X, y, prices = data["X"], data["y"], data["prices"].tolist()
    seconds, processor = SIDES[side](X, y, prices, int(threads))
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "processor": processor, "memory": peak}))


if __name__ == "__main__":
    main()
