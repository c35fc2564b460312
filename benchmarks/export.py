"""Exported C: bytes and time per row beside m2cgen and emlearn, of the same models of 50 trees of 16 leaves.

The models are boosted trees of LightGBM, which emlearn does not take, and random forests of scikit-learn, for
the largest class of five tables against the others, and boosted trees of a made table. Bytes are those of
text and constant data of the object file, `-Os`. The time is that of a held-out row at hand, `-O2`: ours is
``farthing_decide``, which keeps the account, m2cgen's ``score`` keeps none. Each gets rows in its own form:
m2cgen all columns, ours the features that the model reads, which its header numbers. Ours also holds what
predictions of unfinished rows need, the training rows of leaves, and all digits of probabilities. emlearn
holds the label of each leaf alone, for a vote, and six digits of each threshold. At `-O2` ours has a second
copy of the trees for rows at hand, which `-Os` leaves out: "with the copy" is the size with it.
"""

from __future__ import annotations

import statistics
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import emlearn
import lightgbm
import m2cgen
import numpy as np
import pandas as pd
from experiments.lib.exported_trees import compile_c, made_rows, make_model
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestClassifier

from benchmarks.measure import Line
from farthing.datasets import load_table
from farthing.export import Program, export_model
from farthing.forests import from_model

HOW: Final = (
    "The times are medians of nine runs in alternation, each of 20,000 calls, by the processor's clock."
)
_N_TIMED: Final = 2000
_TABLES: Final = ("adult", "covtype", "letter", "miniboone_tiny", "satellite")
_OURS: Final = """
    uint32_t acquired[FARTHING_WORDS];
    return farthing_decide(row, acquired).value[0];
"""
_DRIVER: Final = """
#include <stdio.h>
#include <time.h>
%s
static double rows[%d][%d];
static double one(double *row) { %s }
int main(int count, char **given) {
    const int n = (int)(sizeof rows / sizeof rows[0]);
    double sum = 0.0;
    int i;
    clock_t begin;
    FILE *file = count > 1 ? fopen(given[1], "rb") : 0;
    if (!file || fread(rows, sizeof rows, 1, file) != 1) return 1;
    begin = clock();
    for (i = 0; i < 20000; ++i) sum += one(rows[i %% n]);
    printf("%%.3f %%.17g\\n", (clock() - begin) * (1e9 / CLOCKS_PER_SEC) / 20000, sum);
    return 0;
}
"""


@dataclass(frozen=True)
class _Case:
    """A rival's model and rows that it was not fitted on."""

    name: str
    model: Any
    rows: NDArray[np.float64]


def run(threads: int) -> list[Line]:
    """Compare bytes and nanoseconds; threads compile, and times are taken after that, one by one."""
    lines: list[Line] = []
    with tempfile.TemporaryDirectory() as name, ThreadPoolExecutor(threads) as pool:
        folders = [Path(name) / str(number) for number in range(len(_TABLES) * 2 + 1)]
        large = pool.submit(_build_large, Path(name) / "large")
        cases = list(_cases())
        sizes = pool.map(_build_case, cases, folders)
        made = list(sizes)
        large.result()
        for case, folder, own in zip(cases, folders, made, strict=True):
            lines += [*own, _times(case, folder)]
        lines.append(_large(Path(name) / "large"))
    return lines


def _cases() -> Iterator[_Case]:
    """Yield both kinds of models of each table, and boosted trees of a made one."""
    for name in _TABLES:
        X, y = _table(name)
        n_fitted = len(X) * 2 // 3
        rows = np.ascontiguousarray(X[n_fitted:][:_N_TIMED])
        boosted = lightgbm.LGBMClassifier(n_estimators=50, num_leaves=16, n_jobs=1, verbose=-1)
        forest = RandomForestClassifier(50, max_leaf_nodes=16, random_state=0)
        for kind, model in (("boosted trees", boosted), ("random forest", forest)):
            yield _Case(f"{name}, {kind}", model.fit(X[:n_fitted], y[:n_fitted]), rows)
    rival, _ = make_model()
    yield _Case("made table, boosted trees", rival, made_rows(_N_TIMED))


def _table(name: str, n_rows: int = 12_000) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return numeric columns of complete rows, and whether a row is of the largest class."""
    table = load_table(name)
    X = pd.DataFrame(table.X).select_dtypes("number").to_numpy(np.float64)
    kept = np.random.default_rng(0).permutation(np.flatnonzero(~np.isnan(X).any(axis=1)))[:n_rows]
    y = np.asarray(table.y)[kept]
    labels, counts = np.unique(y, return_counts=True)
    return X[kept], (y == labels[counts.argmax()]).astype(np.int64)


def _build_case(case: _Case, folder: Path) -> list[Line]:
    """Build both programs of a model, and compare their bytes."""
    model = from_model(case.model)
    export_model(model, folder, name="ours")
    (folder / "theirs.c").write_text(m2cgen.export_to_c(case.model))
    own, theirs, copied = (
        _size(folder, "ours"), _size(folder, "theirs"), _size(folder, "ours", "-DFARTHING_FAST=1")
    )  # fmt: skip
    lines = [
        Line(f"{case.name}: bytes", "m2cgen", own, theirs, own / theirs, 1.0, "B"),
        Line(f"{case.name}: bytes with the copy", "m2cgen", copied, theirs, copied / theirs, None, "B"),
    ]
    if isinstance(case.model, RandomForestClassifier):
        in_emlearn = _emlearn_size(case, folder)
        lines.append(Line(f"{case.name}: bytes", "emlearn", own, in_emlearn, own / in_emlearn, 1.0, "B"))
    _build_ours(folder, model, case.rows)
    if hasattr(case.model, "classes_"):
        declared, call = "void score(double *, double *);", "double out[2]; score(row, out); return out[0];"
    else:
        declared, call = "double score(double *);", "return score(row);"
    _build(folder, "theirs", declared, call, case.rows)
    return lines


def _size(folder: Path, name: str, *options: str) -> float:
    """Return the bytes of text and data of a source."""
    compile_c([folder / f"{name}.c"], folder / f"{name}.o", "-Os", "-c", *options)
    found = subprocess.run(["size", str(folder / f"{name}.o")], capture_output=True, text=True, check=True)
    text, data, *_ = map(int, found.stdout.splitlines()[1].split()[:3])
    return float(text + data)


def _emlearn_size(case: _Case, folder: Path) -> float:
    """Return the bytes of a random forest by emlearn."""
    made = emlearn.convert(case.model, method="inline", dtype="float")
    made.save(file=str(folder / "votes.h"), name="votes")
    call = f"votes_predict(x, {case.rows.shape[1]})"
    (folder / "emlearn.c").write_text(f'#include "votes.h"\nint run(const float *x) {{ return {call}; }}\n')
    return _size(folder, "emlearn", "-I", emlearn.includedir)


def _build_large(folder: Path) -> None:
    _, ours = make_model(200, 31)
    export_model(ours, folder, name="ours")
    _build_ours(folder, ours, made_rows(_N_TIMED))


def _large(folder: Path) -> Line:
    """Compare a row of 200 trees of 31 leaves with the time that it may take."""
    found = statistics.median(_nanoseconds(folder / "ours") for _ in range(9))
    return Line("one row at hand, 200 trees of 31 leaves", "2 us", found, 2000.0, found / 2000, 1.0, "ns")


def _times(case: _Case, folder: Path) -> Line:
    """Compare the time of a row at hand."""
    found: dict[str, list[float]] = {"ours": [], "theirs": []}
    for _ in range(9):
        for name, times in found.items():
            times.append(_nanoseconds(folder / name))
    ratio = statistics.median(a / b for a, b in zip(found["ours"], found["theirs"], strict=True))
    ours, theirs = (statistics.median(times) for times in found.values())
    return Line(f"{case.name}: one row, with the account", "m2cgen", ours, theirs, ratio, 1.0, "ns")


def _build_ours(folder: Path, model: Any, rows: NDArray[np.float64]) -> None:
    """Build ours, which takes the features that the model reads, in the order of the header."""
    read = np.ascontiguousarray(rows[:, list(Program.of(model).prices.columns)])
    _build(folder, "ours", '#include "ours.h"', _OURS, read)


def _build(folder: Path, name: str, head: str, body: str, rows: NDArray[np.float64]) -> None:
    (folder / f"{name}_main.c").write_text(_DRIVER % (head, *rows.shape, body))
    rows.tofile(folder / f"{name}.rows")
    compile_c([folder / f"{name}_main.c", folder / f"{name}.c"], folder / name, "-O2")


def _nanoseconds(program: Path) -> float:
    given = [str(program), str(program.with_suffix(".rows"))]
    ran = subprocess.run(given, capture_output=True, text=True, check=True)
    return float(ran.stdout.split()[0])
