"""Optimal trees with prices of tests and errors, beside those of STreeD.

Rival: pystreed on the tables of Lomax and Vadera, at equal depth, prices and error prices, one thread each.
Both test single values of attributes: pystreed gets them as binary columns, ours as categories; neither time
includes making these. A line is the sum over the three levels of error prices, first split, by the clock of
the process. "Search" is the compiled search alone against a whole fit of pystreed; the others are whole fits
on both sides, that is with the checks of the input and the tree in its final form. Both find the same total
cost, or the run fails, except where pystreed's tree costs more than ours, which is printed. Peak memory is
what the deepest fit adds to a process of its own, which has the libraries and the table loaded. The medians
are of the lines above them.

Costs are mean total costs of the training rows, tests and errors, of the cell (table, split 1, level of error
prices) where ours is highest beside the rival's; on how many cells it is higher is said in the line. "Sets"
are our tests of categories, any set of their values, which include the rival's single values. "Intervals"
are our tests of numbers with `numeric_tests="intervals"`: thresholds, and any values between two of them
against the rest, hence single values, too; one test of the depth each, as for the rival. "Thresholds", our
default for numbers, are fewer: against the same thresholds as binary columns the cost is the same, against
single values it is higher on some, since one value in the middle of others takes two thresholds. The
attributes of these tables are codes of things.

Growth is ours alone: random tables of four values a column, errors at 5 and tests at 0.02, beside the
smallest one. With intervals, columns have as many values as the line says, 500 rows, 6 columns and depth 3,
beside thresholds on the same table.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Final

import numpy as np
from experiments.lib.priced_rivals import BinaryTests, ThresholdTests
from experiments.lib.priced_splits import LEVELS, LOMAX, PricedSplit, lomax_split

from benchmarks.measure import Line, race, seconds
from farthing.base.error_costs import error_prices
from farthing.costs import CostSheet
from farthing.forests import OptimalTreeClassifier
from farthing.forests.optimal_tree.tree_problem import TreeProblem
from farthing.table import PreparedTable

DEPTHS: Final = (3, 4)
COST_DEPTHS: Final = (2, 3, 4)
# Columns of more levels are tested by single values, as the rival does.
SET_LEVELS: Final = 6
# Of a numeric column, where intervals are tested.
INTERVAL_VALUES: Final = (4, 8, 16)
# Of one tree, against the other in the same run.
GOAL: Final = 1.0
# Of the median over all tables and depths.
MEDIAN_GOAL: Final = 0.3
_TOLERANCE: Final = 1e-9
_TURNS: Final = 5


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one thread on each side
    """Measure everything."""
    timed = [line for depth in DEPTHS for line in against_streed(depth)]
    medians = [median_of(timed, what) for what in ("fit", "search")]
    return [*timed, *medians, *(line for depth in COST_DEPTHS for line in costs(depth)), *memory(), *growth()]


def median_of(lines: Sequence[Line], what: str) -> Line:
    """Return the line with the median of the ratios of fits or of searches."""
    chosen = [line for line in lines if line.what.startswith(what)]
    ours, theirs, ratio = (
        statistics.median(getattr(line, part) for line in chosen) for part in ("ours", "theirs", "ratio")
    )
    return Line(f"median, {what}", chosen[0].rival, ours, theirs, ratio, MEDIAN_GOAL)


def against_streed(depth: int) -> list[Line]:
    """Race pystreed on each table."""
    lines = []
    for name in LOMAX:
        splits = [lomax_split(name, 1, level) for level in LEVELS]
        ours = [whole_fit(split, depth) for split in splits]
        search = [search_alone(split, depth) for split in splits]
        theirs = [partial(BinaryTests(split).fit, depth) for split in splits]
        for level, split, mine, rival in zip(LEVELS, splits, ours, theirs, strict=True):
            compare(f"{name}, {level}, depth {depth}", split, mine(), rival())
        for what, works in (("fit", ours), ("search", search)):
            lines.append(
                race(
                    f"{what}, {name}, depth {depth}",
                    "pystreed",
                    partial(all_of, works),
                    partial(all_of, theirs),
                    goal=GOAL,
                    turns=_TURNS,
                    clock=time.process_time,
                )
            )
    return lines


def all_of(works: Sequence[Callable[[], Any]]) -> None:
    """Do one after another."""
    for work in works:
        work()


def compare(what: str, split: PricedSplit, ours: OptimalTreeClassifier, theirs: Any) -> None:
    """Fail if our tree costs more than the rival's, and say so if it costs less."""
    rival = BinaryTests(split).training_cost(theirs)
    if ours.objective_ > rival + _TOLERANCE:
        raise AssertionError(f"{what}: ours costs {ours.objective_}, pystreed's {rival}")
    if ours.objective_ < rival - _TOLERANCE:
        print(f"{what}: ours costs {ours.objective_:.4f}, pystreed's tree {rival:.4f}", flush=True)


def estimator(split: PricedSplit, depth: int) -> OptimalTreeClassifier:
    """Return ours, with tests of single values."""
    return OptimalTreeClassifier(
        split.costs, max_depth=depth, error_costs=split.errors, max_levels=2, node_penalty=0.0, n_jobs=1
    )


def whole_fit(split: PricedSplit, depth: int) -> Callable[[], OptimalTreeClassifier]:
    """Return a fit of ours on a table that is prepared, as the rival's binary columns are."""
    table = PreparedTable.of(split.train[0].astype("category"))
    return partial(estimator(split, depth).fit, table, split.train[1])


def search_alone(split: PricedSplit, depth: int) -> Callable[[], Any]:
    """Return the compiled search, without the checks of `fit`."""
    rows = estimator(split, depth).training_set(split.train[0].astype("category"), split.train[1])
    rows = replace(rows, errors=error_prices(split.errors, rows))
    problem = TreeProblem.of(rows, 16, 1, max_depth=depth, intervals=False, max_levels=2, node_penalty=0.0)
    return partial(problem.search, 1.0, None)


# ---- costs -------------------------------------------------------------------------------------------------


def costs(depth: int) -> list[Line]:
    """Compare the training costs of our own tests with those of the rival's tests."""
    pairs: dict[tuple[str, str], list[tuple[float, float]]] = {}
    for name, level in ((name, level) for name in LOMAX for level in LEVELS):
        split = lomax_split(name, 1, level)
        X, y = split.train
        sets = estimator(split, depth).set_params(max_levels=SET_LEVELS).fit(X.astype("category"), y)
        thresholds = estimator(split, depth).fit(X, y)
        intervals = estimator(split, depth).set_params(numeric_tests="intervals").fit(X, y)
        rivals = {}
        for what, tests in (("single values", BinaryTests(split)), ("thresholds", ThresholdTests(split))):
            # With its upper bound, pystreed 1.4.0 may return a tree that is not the best.
            rivals[what] = tests.training_cost(tests.fit(depth, use_upper_bound=False))
        for mine, ours, theirs in (
            ("sets", sets, "single values"),
            ("intervals", intervals, "single values"),
            ("thresholds", thresholds, "thresholds"),
            ("thresholds", thresholds, "single values"),
        ):
            pairs.setdefault((mine, theirs), []).append((ours.objective_, rivals[theirs]))
    return [cost_line(mine, theirs, depth, found) for (mine, theirs), found in pairs.items()]


def cost_line(mine: str, theirs: str, depth: int, found: Sequence[tuple[float, float]]) -> Line:
    """Return the line of the cell where ours is highest beside the rival's."""
    ours, rival = max(found, key=lambda pair: pair[0] / pair[1])
    higher = sum(ours > rival + _TOLERANCE for ours, rival in found)
    what = f"cost, {mine}, depth {depth} (higher on {higher} of {len(found)})"
    # The same sums in another order differ in their last digits.
    return Line(what, f"pystreed, {theirs}", ours, rival, round(ours / rival, 9), GOAL, unit="per row")


# ---- memory ------------------------------------------------------------------------------------------------


def memory() -> list[Line]:
    """Compare the peak of a process that fits the deepest tree of a table."""
    lines = []
    for name in LOMAX:
        ours, theirs = (peak(name, side) for side in ("ours", "theirs"))
        what = f"peak memory, {name}, depth {DEPTHS[-1]}"
        lines.append(Line(what, "pystreed", ours, theirs, ours / theirs, None, unit="MB"))
    return lines


def peak(name: str, side: str) -> float:
    """Return what a fit adds to the memory of a process of its own, in megabytes."""
    code = f"from benchmarks.optimal import fit_once; fit_once({name!r}, {side!r})"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return float(done.stdout.split()[-1])


def fit_once(name: str, side: str) -> None:
    """Fit the tree of the highest error prices and print what it adds to the memory of this process."""
    split = lomax_split(name, 1, LEVELS[-1])
    work = whole_fit(split, DEPTHS[-1]) if side == "ours" else partial(BinaryTests(split).fit, DEPTHS[-1])
    # Writing 5 resets the peak of the process to what it holds now.
    Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    before = _kilobytes("VmRSS")
    work()
    print((_kilobytes("VmHWM") - before) / 1024)


def _kilobytes(name: str) -> float:
    lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith(f"{name}:")))


# ---- growth ------------------------------------------------------------------------------------------------


def growth() -> list[Line]:
    """Time ours on random tables of more rows, columns and levels."""
    smallest = {"n_rows": 500, "n_columns": 6, "depth": 3}
    grown = {"n_rows": (1000, 2000, 4000), "n_columns": (8, 12, 16), "depth": (4,)}
    base = random_fit(**smallest)
    lines = []
    for name, values in grown.items():
        for value in values:
            size = {**smallest, name: value}
            taken = random_fit(**size)
            shape = f"{size['n_rows']} rows, {size['n_columns']} columns, depth {size['depth']}"
            lines.append(
                Line(f"growth, {shape}", "500 rows, 6 columns, depth 3", taken, base, taken / base, None)
            )
    for n_values in INTERVAL_VALUES:
        size = {**smallest, "n_values": n_values}
        taken, plain = (random_fit(**size, numeric_tests=tests) for tests in ("intervals", "thresholds"))
        what = f"growth, intervals, {n_values} values"
        lines.append(Line(what, f"thresholds, {n_values} values", taken, plain, taken / plain, None))
    return lines


def random_fit(n_rows: int, n_columns: int, depth: int, n_values: int = 4, **settings: Any) -> float:
    """Return the seconds of a fit on columns of some values, of which the label is a noisy function."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, n_values, size=(n_rows, n_columns)).astype(np.float64)
    # The noise is of the same share of the values, whatever their number.
    noise = rng.normal(size=n_rows) * n_values / 4
    y = ((X[:, 0] > n_values / 2 - 1) ^ (X[:, 1] + noise > X[:, 2])).astype(int)
    model = OptimalTreeClassifier(
        CostSheet(np.full(n_columns, 0.02)),
        max_depth=depth,
        error_costs=5.0,
        n_jobs=1,
        time_limit=120,
        **settings,
    )
    return statistics.median(seconds(partial(model.fit, X, y), time.process_time) for _ in range(3))
