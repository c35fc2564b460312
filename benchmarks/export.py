"""Exported C: bytes and time per row beside m2cgen, of the same LightGBM model of 50 trees of 16 leaves.

Bytes are those of text and constant data of the object file, `-Os`. The time is that of a row that is at
hand, `-O2`: ours asks for each feature and keeps the account, that of m2cgen keeps none. Ours also
holds the values of inner nodes, which predictions of unfinished rows need.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np

from benchmarks.measure import Line
from farthing.export import FLAGS, export_model
from farthing.forests import from_model

HOW: Final = "The times are medians of nine runs in alternation, each of 20,000 rows."
_N_FEATURES: Final = 20
_OURS: Final = """
    farthing_state walk;
    double values[FARTHING_FEATURES];
    int i;
    for (i = 0; i < FARTHING_FEATURES; ++i) values[i] = row[PLACE[i]];
    farthing_start(&walk, HUGE_VAL);
    farthing_tell_all(&walk, values);
    return farthing_decision(&walk).value[0];
"""
_DRIVER: Final = """
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
%s
static double one(double *row) { %s }
int main(void) {
    static double rows[1000][%d];
    double sum = 0.0;
    int i, j;
    clock_t begin;
    srand(1);
    for (i = 0; i < 1000; ++i) for (j = 0; j < %d; ++j) rows[i][j] = rand() / (double)RAND_MAX * 4 - 2;
    begin = clock();
    for (i = 0; i < 20000; ++i) sum += one(rows[i %% 1000]);
    printf("%%.3f %%.17g\\n", (clock() - begin) * (1e9 / CLOCKS_PER_SEC) / 20000, sum);
    return 0;
}
"""


def run(threads: int) -> list[Line]:  # noqa: ARG001 - one row at a time
    """Compare bytes and nanoseconds."""
    import m2cgen  # noqa: PLC0415 - a rival, which only this benchmark needs

    rival, ours = make_model()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "theirs.c").write_text(m2cgen.export_to_c(rival))
        export_model(ours, folder, name="ours")
        return [*_sizes(folder), _times(folder, ours)]


def make_model() -> tuple[Any, Any]:
    """Return 50 trees of 16 leaves of LightGBM, and the same as our model."""
    import lightgbm  # noqa: PLC0415 - a rival, which only benchmarks need

    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, _N_FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2] * 3) + X[:, 3:8].sum(axis=1)
    rival = lightgbm.LGBMRegressor(n_estimators=50, num_leaves=16, n_jobs=1, verbose=-1).fit(X, y)
    return rival, from_model(rival)


def _sizes(folder: Path) -> list[Line]:
    sizes = {}
    for name in ("ours", "theirs"):
        compile_c([folder / f"{name}.c"], folder / f"{name}.o", "-Os", "-c")
        found = subprocess.run(
            ["size", str(folder / f"{name}.o")], capture_output=True, text=True, check=True
        )
        text, data, *_ = map(int, found.stdout.splitlines()[1].split()[:3])
        sizes[name] = float(text + data)
    ratio = sizes["ours"] / sizes["theirs"]
    return [
        Line(
            "text and data, 50 trees of 16 leaves", "m2cgen", sizes["ours"], sizes["theirs"], ratio, 1.0, "B"
        )
    ]


def _times(folder: Path, model: Any) -> Line:
    from farthing.export import Program  # noqa: PLC0415

    places = ", ".join(map(str, Program.of(model).prices.columns))
    heads = {
        "ours": (f'#include "ours.h"\nstatic const int PLACE[] = {{{places}}};', _OURS),
        "theirs": ("double score(double *input);", "return score(row);"),
    }
    for name, (head, body) in heads.items():
        (folder / f"{name}_main.c").write_text(_DRIVER % (head, body, _N_FEATURES, _N_FEATURES))
        compile_c([folder / f"{name}_main.c", folder / f"{name}.c"], folder / name, "-O2")
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(9):
        for name, times in found.items():
            ran = subprocess.run([str(folder / name)], capture_output=True, text=True, check=True)
            times.append(float(ran.stdout.split()[0]))
    ratio = statistics.median(a / b for a, b in zip(found["ours"], found["theirs"], strict=True))
    ours, theirs = (statistics.median(times) for times in found.values())
    return Line("one row at hand, with the account", "m2cgen", ours, theirs, ratio, 1.0, "ns")


def compile_c(sources: list[Path], output: Path, *options: str) -> None:
    """Compile exported C."""
    files = [str(source) for source in sources]
    subprocess.run(["gcc", *FLAGS.split(), *options, *files, "-lm", "-o", str(output)], check=True)
