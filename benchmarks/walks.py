"""Walks: the time of a question in Python, over a source of coroutines, and in exported C.

The model has 50 trees of 16 leaves on 20 columns, fitted by LightGBM. A walk asks for each column that its
trees test, and its time contains the start and the decision. The source of coroutines answers at once, so its
time is what `aconsult` adds. The rival of each line is the walk in Python, ``walk.ask`` and ``walk.tell``; of
that itself it is a prediction of the same row by ``predict``, in which nothing is asked.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.export import compile_c, make_model
from benchmarks.measure import Line, seconds
from farthing import aconsult
from farthing.export import export_model

HOW: Final = (
    "Medians of nine turns of 20 rows in Python, of 1,000 in C. Times are processor times of one question."
)
_N_ROWS, _TURNS = 20, 9
_DRIVER: Final = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "model.h"
int main(void) {
    long questions = 0;
    int i;
    clock_t begin = clock();
    double sum = 0.0;
    srand(1);
    for (i = 0; i < 1000; ++i) {
        farthing_state walk;
        farthing_start(&walk, HUGE_VAL);
        while (farthing_next(&walk) != FARTHING_DECIDED) {
            farthing_tell(&walk, rand() / (double)RAND_MAX * 4 - 2);
            ++questions;
        }
        sum += farthing_decision(&walk).spent;
    }
    printf("%.9f %g\\n", (double)(clock() - begin) / CLOCKS_PER_SEC / (double)questions, sum);
    return 0;
}
"""


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one row at a time
    """Measure the time of a question."""
    _, ours = make_model()
    names = ours.fitted_.schema.names
    rows = np.random.default_rng(1).normal(size=(_N_ROWS, len(names)))
    dicts = [dict(zip(names, row.tolist(), strict=True)) for row in rows]
    n_asked = int(ours.acquired(rows).sum())
    python = _median(lambda: [_walk(ours, row) for row in dicts]) / n_asked
    whole = _median(lambda: [ours.predict(row[np.newaxis]) for row in rows]) / n_asked
    async_time = _median(lambda: asyncio.run(_consult_all(ours, dicts))) / n_asked
    with tempfile.TemporaryDirectory() as name:
        in_c = _in_c(ours, Path(name))

    def named(what: str, taken: float) -> str:
        return f"a question of {what}, {1 / taken:,.0f} a second"

    return [
        Line(named("a walk in Python", python), "predict", python, whole, python / whole, None),
        Line(named("aconsult", async_time), "walk in Python", async_time, python, async_time / python, None),
        Line(named("a walk in C", in_c), "walk in Python", in_c, python, in_c / python, None),
    ]


def _walk(model: Any, row: dict[str, float]) -> Any:
    walk = model.walk()
    while (ask := walk.ask) is not None:
        walk.tell(row[ask.feature])
    return walk.decision


async def _consult_all(model: Any, rows: list[dict[str, float]]) -> None:
    for row in rows:

        async def answer(feature: str, row: dict[str, float] = row) -> float:
            return row[feature]

        await aconsult(model, answer)


def _median(work: Callable[[], object]) -> float:
    work()
    return statistics.median(seconds(work, time.process_time) for _ in range(_TURNS))


def _in_c(model: Any, folder: Path) -> float:
    export_model(model, folder)
    (folder / "main.c").write_text(_DRIVER)
    compile_c([folder / "main.c", folder / "model.c"], folder / "walks", "-O2")
    runs = [
        subprocess.run([str(folder / "walks")], capture_output=True, text=True, check=True)
        for _ in range(_TURNS)
    ]
    return statistics.median(float(ran.stdout.split()[0]) for ran in runs)
