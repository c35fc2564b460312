"""One tree a round for all classes beside one tree for each: accuracy at the same spend, and time.

``farthing reproduce class_trees`` writes docs/results/class_trees.md, some thirty minutes of one core. It
checks the rule of ``multi_strategy="auto"``, which was set by fewer tables before. None of its tables is
among those that other pages report on the front door. FARTHING_DATA must name the folder of those that are
not bundled; see `farthing.datasets.load_table`.

A seed draws prices, uniform between 0 and 2, and the rows to learn from, to choose by and to test on. The
Greedy Miser is fitted at several trade-offs; at each budget, a share of the price of all features, the rows
to choose by take the trade-off and the number of rounds. All fits use one thread.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits, make_classification

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import load_table

NAME: Final = "class_trees"
STRATEGIES: Final = ("one_output_per_tree", "multi_output_tree")
DEPTHS: Final = (2, 4, 6)
TRADEOFFS: Final = (0.0, 1e-3, 5e-3, 2e-2, 8e-2, 3e-1)
SHARES: Final = (0.1, 0.25, 0.5, 1.0)
N_TEST: Final = 1000
# Of the estimators, for the summary.
DEFAULT_DEPTH: Final = 4


def made(n_classes: int, n_rows: int, n_columns: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a made-up table with a cluster for each class."""
    X, y = make_classification(
        n_rows,
        n_columns,
        n_informative=n_columns * 2 // 3,
        n_classes=n_classes,
        n_clusters_per_class=1,
        class_sep=1.5,
        random_state=n_classes,
    )
    return X, y


def stored(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return a table of FARTHING_DATA as numbers, categories as codes."""
    data = load_table(name)
    columns = [data.X[column] for column in data.X.columns]
    codes = [c.cat.codes if c.dtype.name == "category" else c for c in columns]
    return np.column_stack([np.asarray(c, dtype=np.float64) for c in codes]), np.asarray(data.y)


def pixels(name: str) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the first 3,700 images of a table of 28 x 28 pixels, every second row and column."""
    X, y = stored(name)
    return X[:3700].reshape(-1, 28, 28)[:, ::2, ::2].reshape(-1, 196), y[:3700]


# How to load each table, and rows to learn from.
TABLES: Final[dict[str, tuple[Callable[[], tuple[NDArray[Any], NDArray[Any]]], int]]] = {
    "splice": (lambda: stored("splice"), 1000),
    "made, 4 classes": (lambda: made(4, 2700, 20), 700),
    "made, 5 classes": (lambda: made(5, 2700, 20), 700),
    "ecoli": (lambda: stored("ecoli"), 160),
    "digits": (lambda: load_digits(return_X_y=True), 700),
    "made, 10 classes": (lambda: made(10, 2700, 20), 700),
    "mnist": (lambda: pixels("mnist"), 1000),
    "fashion_mnist": (lambda: pixels("fashion_mnist"), 1000),
    "made, 19 classes": (lambda: made(19, 2700, 35), 700),
    "made, 26 classes": (lambda: made(26, 4700, 16), 700),
    "made, 26 classes, 8000 rows": (lambda: made(26, 10_000, 16), 8000),
    "made, 100 classes": (lambda: made(100, 4700, 30), 2000),
}
CASCADES: Final = ("ecoli", "splice", "made, 10 classes", "made, 19 classes")
# Where one tree for each class takes minutes.
FEWER_DEPTHS: Final = {"made, 26 classes, 8000 rows": (4, 6), "made, 100 classes": (4,)}


class Split:
    """Rows to learn from, to choose by and to test on, and prices, drawn by a seed."""

    def __init__(self, name: str, seed: int, most: int) -> None:
        load, n_train = TABLES[name]
        X, y = load()
        rng = np.random.default_rng(seed)
        self.prices = rng.uniform(0.0, 2.0, size=X.shape[1])
        self.full_cost = float(np.sum(self.prices))
        order = rng.permutation(len(y))
        n_train = min(most, n_train)
        train, rest = order[:n_train], order[n_train:]
        chosen, test = rest[: min(n_train, len(rest) // 2)], rest[min(n_train, len(rest) // 2) :]
        self.train = X[train], y[train]
        self.choose = X[chosen], y[chosen]
        self.test = X[test[:N_TEST]], y[test[:N_TEST]]
        self.n_classes = len(np.unique(y))


def timed_fit(model: Any, split: Split) -> float:
    """Fit a model, and return the processor time that it took."""
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # classes of one row, in small draws of ecoli
        model.fit(*split.train)
    return time.process_time() - start


def misers(split: Split, depth: int, n_rounds: int, strategy: str) -> dict[str, Any]:
    """Return the test accuracy at each budget, and the time of all fits."""
    total, found = 0.0, []
    for tradeoff in TRADEOFFS:
        model = GreedyMiserClassifier(
            tradeoff=tradeoff,
            relative=True,
            n_estimators=n_rounds,
            max_depth=depth,
            l2_regularization=1.0,
            multi_strategy=strategy,  # type: ignore[arg-type]
            costs=split.prices,
            n_jobs=1,
        )
        total += timed_fit(model, split)
        for _, variant in model.variants():
            spend = float(variant.spend(split.choose[0]).mean())
            found.append((spend, variant.score(*split.choose), variant.score(*split.test)))
    accuracy = []
    for share in SHARES:
        affordable = [one for one in found if one[0] <= share * split.full_cost]
        # Without a model that cheap, the most common class.
        prior = float(np.mean(split.test[1] == _most_common(split.train[1])))
        accuracy.append(max(affordable, key=lambda one: one[1])[2] if affordable else prior)
    return {"accuracy": accuracy, "seconds": total}


def _most_common(y: NDArray[Any]) -> Any:
    labels, counts = np.unique(y, return_counts=True)
    return labels[np.argmax(counts)]


def cascades(split: Split, n_rounds: int, strategy: str) -> dict[str, Any]:
    """Return the test accuracy of the cascade aimed at each budget, and the time of its fit."""
    model = MiserCascadeClassifier(
        n_estimators=n_rounds,
        multi_strategy=strategy,  # type: ignore[arg-type]
        costs=split.prices,
        random_state=0,
        n_jobs=1,
    )
    taken = timed_fit(model, split)
    aimed = [model.at(share * split.full_cost) for share in SHARES]
    return {"accuracy": [one.score(*split.test) for one in aimed], "seconds": taken}


def measure(name: str, seed: int, n_rounds: int, most: int) -> list[dict[str, Any]]:
    """Return one entry for each strategy and depth, and for the cascades on some tables."""
    split = Split(name, seed, most)
    runs: list[tuple[str, int, Callable[[str], dict[str, Any]]]] = [
        ("miser", depth, partial(misers, split, depth, n_rounds)) for depth in FEWER_DEPTHS.get(name, DEPTHS)
    ]
    if name in CASCADES and seed == 0:
        runs.append(("cascade", DEFAULT_DEPTH, partial(cascades, split, n_rounds)))
    return [
        {
            "table": name,
            "seed": seed,
            "method": method,
            "depth": depth,
            "strategy": strategy,
            "n_classes": split.n_classes,
            **run(strategy),
        }
        for (method, depth, run), strategy in itertools.product(runs, STRATEGIES)
    ]


class Results:
    """The measurements, by table, method, depth and strategy."""

    def __init__(self, measured: Sequence[dict[str, Any]]) -> None:
        self._found: dict[tuple[Any, ...], list[dict[str, Any]]] = {}
        for one in measured:
            key = one["table"], one["method"], one["depth"], one["strategy"]
            self._found.setdefault(key, []).append(one)
        self.tables = [name for name in TABLES if any(key[0] == name for key in self._found)]
        self.n_classes = {one["table"]: one["n_classes"] for one in measured}

    def has(self, table: str, method: str, depth: int) -> bool:
        """Return whether a setting was measured."""
        return (table, method, depth, STRATEGIES[0]) in self._found

    def accuracies(self, table: str, method: str, depth: int, strategy: str) -> NDArray[np.float64]:
        """Return the accuracy at each budget, the mean over the seeds."""
        found = self._found[table, method, depth, strategy]
        return np.asarray(np.mean([one["accuracy"] for one in found], axis=0))

    def gap(self, table: str, method: str, depth: int) -> float:
        """Return the accuracy of one tree for all minus one for each, the mean over budgets and seeds."""
        each, one = (self.accuracies(table, method, depth, strategy) for strategy in STRATEGIES)
        return float(np.mean(one - each))

    def speedup(self, table: str, method: str, depth: int) -> float:
        """Return how many times as long one tree for each class takes."""
        each, one = (
            sum(run["seconds"] for run in self._found[table, method, depth, strategy])
            for strategy in STRATEGIES
        )
        return float(each / one)


def first_lines(results: Results) -> list[str]:
    """Return what the page shows, computed from the measurements."""
    lines = []
    for method, who in (("miser", "Greedy Miser"), ("cascade", "miser cascade")):
        tables = [t for t in results.tables if results.has(t, method, DEFAULT_DEPTH)]
        if not tables:
            continue
        for few, group in (
            ("3 classes", [t for t in tables if results.n_classes[t] <= 3]),
            ("more classes", [t for t in tables if results.n_classes[t] > 3]),
        ):
            if not group:
                continue
            gaps = [100 * results.gap(t, method, DEFAULT_DEPTH) for t in group]
            faster = [results.speedup(t, method, DEFAULT_DEPTH) for t in group]
            lines.append(
                f"- {who}, {few}, depth {DEFAULT_DEPTH}: one tree for all classes is ahead on "
                f"{sum(gap > 0 for gap in gaps)} of {len(group)} tables, by {np.mean(gaps):+.1f} points in "
                f"the mean ({min(gaps):+.1f} to {max(gaps):+.1f}); one tree for each takes "
                f"{min(faster):.1f} to {max(faster):.1f} times as long.{_behind(group, gaps)}"
            )
    return lines


def _behind(tables: Sequence[str], gaps: Sequence[float]) -> str:
    """Return where one tree for all classes is less accurate."""
    found = [f"{table} ({gap:+.1f})" for table, gap in zip(tables, gaps, strict=True) if gap <= 0]
    return f" It is not ahead on {', '.join(found)}." if found else ""


def depth_rows(results: Results) -> list[list[str]]:
    """Return the mean accuracy of each table, by strategy and depth."""
    rows = []
    for table in results.tables:
        row = [table, str(results.n_classes[table])]
        for depth, strategy in itertools.product(DEPTHS, STRATEGIES):
            known = results.has(table, "miser", depth)
            mean = results.accuracies(table, "miser", depth, strategy).mean() if known else np.nan
            row.append(f"{mean:.3f}" if known else "")
        rows.append(row)
    return rows


def budget_rows(results: Results, method: str) -> list[list[str]]:
    """Return accuracies at each budget, each class its own tree / one tree for all, and the speed."""
    rows = []
    for table in results.tables:
        if not results.has(table, method, DEFAULT_DEPTH):
            continue
        each, one = (results.accuracies(table, method, DEFAULT_DEPTH, strategy) for strategy in STRATEGIES)
        pairs = [f"{a:.3f} / {b:.3f}" for a, b in zip(each, one, strict=True)]
        speedup = f"{results.speedup(table, method, DEFAULT_DEPTH):.1f}"
        rows.append([table, str(results.n_classes[table]), *pairs, speedup])
    return rows


def page(results: Results, n_rounds: int, n_seeds: int) -> str:
    """Return the page in Markdown."""
    budgets = [f"{100 * share:g} %" for share in SHARES]
    short = {STRATEGIES[0]: "each", STRATEGIES[1]: "all"}
    text = [
        "# One tree a round for all classes, or one for each",
        'With `multi_strategy="multi_output_tree"` a round grows one tree whose nodes have a value for each '
        'class, with "one_output_per_tree" a tree for each class. "auto" takes the first from 4 classes on.',
        "\n".join(first_lines(results)),
        f"Test accuracy; prices are uniform between 0 and 2; seeds that draw prices and rows: {n_seeds}; "
        f"{n_rounds} rounds, of which the rows to choose by take as many as are best within the budget. "
        "Times are of one thread, and of fits alone.",
        f"## The Greedy Miser at mean budgets, depth {DEFAULT_DEPTH}: each / all",
        markdown(["table", "classes", *budgets, "times as fast"], budget_rows(results, "miser")),
        "## The Greedy Miser by depth, mean over the budgets",
        markdown(
            [
                "table",
                "classes",
                *(f"{depth}, {short[s]}" for depth, s in itertools.product(DEPTHS, STRATEGIES)),
            ],
            depth_rows(results),
        ),
        f"## The miser cascade at mean budgets, one seed, depth {DEFAULT_DEPTH}: each / all",
        markdown(["table", "classes", *budgets, "times as fast"], budget_rows(results, "cascade")),
    ]
    return "\n\n".join(text)


def kept(folder: Path, name: str, seed: int, n_rounds: int, most: int) -> list[dict[str, Any]]:
    """Measure one table at one seed, unless that is done."""
    done = folder / f"{name.replace(', ', '_').replace(' ', '_')}_{seed}.json"
    if not done.exists():
        done.write_text(json.dumps(measure(name, seed, n_rounds, most)))
        print(f"{name}, seed {seed}: done", flush=True)
    return list(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all tables and write the page."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rounds", type=int, default=100)
    args = parse(parser, NAME, arguments)
    tables, most = (("made, 10 classes",), 40) if args.tiny else (tuple(TABLES), 10_000)
    n_seeds, n_rounds = (1, 2) if args.tiny else (args.seeds, args.rounds)
    measured = [
        one
        for seed in range(n_seeds)
        for name in tables
        for one in kept(args.kept, name, seed, n_rounds, most)
    ]
    line = command(NAME, "--rounds", n_rounds, "--seeds", n_seeds)
    write_page(args.out, NAME, page(Results(measured), n_rounds, n_seeds), line)


if __name__ == "__main__":
    main()
