"""Walks: the time of a question in Python, over a source of coroutines, and in exported C; rows in C.

The model has 50 trees of 16 leaves on 20 columns, fitted by LightGBM. A walk asks for each column that its
trees test, and its time contains the start and the decision. The source of coroutines answers at once, so its
time is what `aconsult` adds. The rival of each line is the walk in Python, ``walk.ask`` and ``walk.tell``; of
that itself it is a prediction of the same row by ``predict``, in which nothing is asked.

The rows in C are of 200 trees of 31 leaves, whose walks ask for all 20 columns: at hand,
``farthing_tell_all`` answers a new walk from an array, and the trees are taken together; asked, every
question is answered by itself, and the walk goes from node to node, since any node may ask.
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
from experiments.lib.exported_trees import compile_c, made_rows, make_model

from benchmarks.measure import Line, seconds
from farthing import aconsult
from farthing.export import Program, export_model

HOW: Final = (
    "Medians of nine turns of 20 rows in Python, of 10,000 in C. Times are processor times of one question, "
    "or of a row."
)
_N_ROWS, _TURNS, _GOAL = 20, 9, 2e-6
# How a driver answers a walk: one question after another, or all at once.
_ASKED: Final = "while ((i = farthing_next(&walk)) >= 0) { farthing_tell(&walk, row[i]); ++questions; }"
_AT_HAND: Final = "(void)i; ++questions; farthing_tell_all(&walk, row);"
_DRIVER: Final = """
#include <stdio.h>
#include <time.h>
#include "model.h"
static double rows[1000][FARTHING_FEATURES];
int main(int count, char **given) {
    long questions = 0;
    int number, i;
    double sum = 0.0;
    clock_t begin;
    FILE *file = count > 1 ? fopen(given[1], "rb") : 0;
    if (!file || fread(rows, sizeof rows, 1, file) != 1) return 1;
    begin = clock();
    for (number = 0; number < 10000; ++number) {
        const double *row = rows[number % 1000];
        farthing_state walk;
        farthing_start(&walk, HUGE_VAL);
        @
        sum += farthing_decision(&walk).spent;
    }
    printf("%.9f %ld %g\\n", (double)(clock() - begin) / CLOCKS_PER_SEC / 10000, questions, sum);
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
        folder = Path(name)
        taken, n_questions = _in_c(ours, folder / "small", _ASKED)
        in_c = taken / n_questions
        _, large = make_model(200, 31)
        at_hand, _ = _in_c(large, folder / "at_hand", _AT_HAND)
        asked, _ = _in_c(large, folder / "asked", _ASKED)
    columns = large.fitted_.schema.names
    many = [dict(zip(columns, row.tolist(), strict=True)) for row in made_rows(_N_ROWS)]
    large_python = _median(lambda: [_walk(large, row) for row in many]) / len(many)

    def named(what: str, taken: float) -> str:
        return f"a question of {what}, {1 / taken:,.0f} a second"

    return [
        Line(named("a walk in Python", python), "predict", python, whole, python / whole, None),
        Line(named("aconsult", async_time), "walk in Python", async_time, python, async_time / python, None),
        Line(named("a walk in C", in_c), "walk in Python", in_c, python, in_c / python, None),
        Line("a row in C, at hand", "2 us", at_hand, _GOAL, at_hand / _GOAL, 1.0),
        Line("a row in C, asked", "walk in Python", asked, large_python, asked / large_python, None),
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


def _in_c(model: Any, folder: Path, body: str) -> tuple[float, float]:
    """Return the time of a row in C, and its questions."""
    folder.mkdir()
    export_model(model, folder)
    (folder / "main.c").write_text(_DRIVER.replace("@", body))
    columns = list(Program.of(model).prices.columns)
    np.ascontiguousarray(made_rows(1000)[:, columns]).tofile(folder / "rows")
    compile_c([folder / "main.c", folder / "model.c"], folder / "walks", "-O2")
    command = [str(folder / "walks"), str(folder / "rows")]
    runs = [subprocess.run(command, capture_output=True, text=True, check=True) for _ in range(_TURNS)]
    told = [ran.stdout.split() for ran in runs]
    return statistics.median(float(each[0]) for each in told), float(told[0][1]) / 10_000
