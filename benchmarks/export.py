"""Exported C: bytes and time per row beside m2cgen and emlearn, of the same models of 50 trees of 16 leaves.

Bytes are those of text and constant data of the object file, `-Os`: of boosted trees of LightGBM, which
emlearn does not take, and of a random forest of scikit-learn for two classes. The time is that of a row that
is at hand, `-O2`, by ``farthing_tell_all``: ours keeps the account, the others keep none. Ours also holds
what predictions of unfinished rows need, the training rows of leaves, and all digits of probabilities.
emlearn holds the label of each leaf alone, for a vote, and six digits of each threshold. At `-O2` ours has a
second copy of the trees for rows at hand, which `-Os` leaves out: "with the copy" is the size with it.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Line
from farthing.export import FLAGS, Program, export_model
from farthing.forests import from_model

HOW: Final = (
    "The times are medians of nine runs in alternation, each of 20,000 rows, by the processor's clock. Other "
    "programs ran on both cores meanwhile, so the ratios count, not the times."
)
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
        own, theirs = _size(folder, "ours"), _size(folder, "theirs")
        boosted = Line("text and data, boosted trees", "m2cgen", own, theirs, own / theirs, 1.0, "B")
        wide = _size(folder, "ours", "-DFARTHING_FAST=1")
        copied = Line(
            "text and data, boosted trees, with the copy", "m2cgen", wide, theirs, wide / theirs, None, "B"
        )
        return [
            boosted,
            copied,
            *_forest_sizes(folder / "forest"),
            _times(folder, ours),
            _large(folder / "large"),
        ]


def make_model(n_trees: int = 50, n_leaves: int = 16) -> tuple[Any, Any]:
    """Return trees of LightGBM, and the same as our model."""
    import lightgbm  # noqa: PLC0415 - a rival, which only benchmarks need

    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, _N_FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2] * 3) + X[:, 3:8].sum(axis=1)
    rival = lightgbm.LGBMRegressor(n_estimators=n_trees, num_leaves=n_leaves, n_jobs=1, verbose=-1).fit(X, y)
    return rival, from_model(rival)


def _size(folder: Path, name: str, *options: str) -> float:
    """Return the bytes of text and data of a source."""
    compile_c([folder / f"{name}.c"], folder / f"{name}.o", "-Os", "-c", *options)
    found = subprocess.run(["size", str(folder / f"{name}.o")], capture_output=True, text=True, check=True)
    text, data, *_ = map(int, found.stdout.splitlines()[1].split()[:3])
    return float(text + data)


def _forest_sizes(folder: Path) -> list[Line]:
    """Compare the bytes of a random forest for two classes."""
    import emlearn  # noqa: PLC0415 - rivals, which only this benchmark needs
    import m2cgen  # noqa: PLC0415

    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, _N_FEATURES))
    y = X[:, 0] * X[:, 1] + np.sin(X[:, 2] * 3) + X[:, 3:8].sum(axis=1) > 0
    model = RandomForestClassifier(50, max_leaf_nodes=16, random_state=0).fit(X, y.astype(int))
    export_model(from_model(model), folder, name="ours")
    (folder / "m2cgen.c").write_text(m2cgen.export_to_c(model))
    emlearn.convert(model, method="inline", dtype="float").save(file=str(folder / "votes.h"), name="votes")
    (folder / "emlearn.c").write_text(
        f'#include "votes.h"\nint run(const float *x) {{ return votes_predict(x, {_N_FEATURES}); }}\n'
    )
    own, in_m2cgen = _size(folder, "ours"), _size(folder, "m2cgen")
    in_emlearn = _size(folder, "emlearn", "-I", emlearn.includedir)
    return [
        Line("text and data, random forest", name, own, theirs, own / theirs, 1.0, "B")
        for name, theirs in (("m2cgen", in_m2cgen), ("emlearn", in_emlearn))
    ]


def _large(folder: Path) -> Line:
    """Compare a row of 200 trees of 31 leaves with the time that it may take."""
    _, ours = make_model(200, 31)
    export_model(ours, folder, name="ours")
    _build(folder, "ours", _head(ours), _OURS)
    found = statistics.median(_nanoseconds(folder / "ours") for _ in range(9))
    return Line("one row at hand, 200 trees of 31 leaves", "2 us", found, 2000.0, found / 2000, 1.0, "ns")


def _times(folder: Path, model: Any) -> Line:
    """Compare the time of a row at hand."""
    _build(folder, "ours", _head(model), _OURS)
    _build(folder, "theirs", "double score(double *input);", "return score(row);")
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(9):
        for name, times in found.items():
            times.append(_nanoseconds(folder / name))
    ratio = statistics.median(a / b for a, b in zip(found["ours"], found["theirs"], strict=True))
    ours, theirs = (statistics.median(times) for times in found.values())
    return Line("one row at hand, with the account", "m2cgen", ours, theirs, ratio, 1.0, "ns")


def _head(model: Any) -> str:
    places = ", ".join(map(str, Program.of(model).prices.columns))
    return f'#include "ours.h"\nstatic const int PLACE[] = {{{places}}};'


def _build(folder: Path, name: str, head: str, body: str) -> None:
    (folder / f"{name}_main.c").write_text(_DRIVER % (head, body, _N_FEATURES, _N_FEATURES))
    compile_c([folder / f"{name}_main.c", folder / f"{name}.c"], folder / name, "-O2")


def _nanoseconds(program: Path) -> float:
    ran = subprocess.run([str(program)], capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[0])


def compile_c(sources: list[Path], output: Path, *options: str) -> None:
    """Compile exported C."""
    files = [str(source) for source in sources]
    subprocess.run(["gcc", *FLAGS.split(), *options, *files, "-lm", "-o", str(output)], check=True)
