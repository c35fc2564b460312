"""Fits with threads beside busy programs: as long as alone, times what sharing the cores costs.

A Greedy Miser of 60 trees on 40,000 rows of 30 columns, with as many threads as asked for, is fitted alone
and beside as many programs that keep a core busy each; LightGBM, whose threads are OpenMP's and spin while
they wait, does the same, and so does `BudgetedClassifier` at its defaults, on the rows of heart disease and
on 2,000 rows of the first table. The rival is each side itself, alone; a fair share of the cores is a ratio
of 2.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np
from lightgbm import LGBMClassifier

from benchmarks.measure import Line, seconds
from farthing import BudgetedClassifier
from farthing.boosting import GreedyMiserClassifier
from farthing.datasets import load_heart_disease

N_ROWS, N_COLUMNS, N_TREES, TURNS = 40_000, 30, 60, 5
# The front door takes seconds: fewer turns, and fewer rows.
DOOR_TURNS, DOOR_ROWS = 3, 2000


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep so many cores busy."""
    programs = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def held_up(
    what: str, fit: Callable[[], object], threads: int, goal: float | None, turns: int = TURNS
) -> Line:
    """Compare fits beside busy programs with fits alone, by medians."""
    fit()
    alone = float(np.median([seconds(fit) for _ in range(turns)]))
    with busy(threads):
        beside = float(np.median([seconds(fit) for _ in range(turns)]))
    return Line(what, "alone", beside, alone, beside / alone, goal)


def run(threads: int) -> list[Line]:
    """Measure everything."""
    # The environment may have asked OpenMP's threads to sleep; this is about its default.
    if "OMP_WAIT_POLICY" in os.environ:
        raise RuntimeError("OMP_WAIT_POLICY changes what is measured; unset it")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, N_COLUMNS))
    y = X[:, :5].sum(axis=1) + rng.normal(size=N_ROWS) > 0
    ours = GreedyMiserClassifier(n_estimators=N_TREES, n_jobs=threads)
    theirs = LGBMClassifier(n_estimators=N_TREES, num_leaves=16, n_jobs=threads, verbose=-1)
    heart = load_heart_disease()
    prices = [1.0 + column % 7 for column in range(N_COLUMNS)]
    some = slice(DOOR_ROWS)
    small = BudgetedClassifier(heart.costs, 120.0)
    middle = BudgetedClassifier(prices, 0.2 * sum(prices))
    return [
        held_up("Greedy Miser beside busy programs", lambda: ours.fit(X, y), threads, 2.5),
        held_up(
            "front door, heart disease, beside busy programs",
            lambda: small.fit(heart.X, heart.y),
            threads,
            2.5,
            DOOR_TURNS,
        ),
        held_up(
            "front door, 2,000 rows, beside busy programs",
            lambda: middle.fit(X[some], y[some]),
            threads,
            2.5,
            DOOR_TURNS,
        ),
        held_up("LightGBM beside busy programs", lambda: theirs.fit(X, y), threads, None),
    ]
