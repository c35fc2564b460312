"""The front door against its own parts, and against the front door of before.

``farthing reproduce door_parts`` writes docs/results/door_parts.md. `BudgetedClassifier` at its defaults, the
methods it chooses from alone, and, with ``--before FOLDER``, the front door of another checkout, whose
sources with the compiled core are in that folder. All learn from the same rows at the same prices, and are
tested on the same new rows. What was measured is kept, one file for each table, seed and side. FARTHING_DATA
must name the folder of the larger tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from experiments.lib.pages import ROOT, command, options, parse, write_page
from farthing import BudgetedClassifier
from farthing.cascades import MiserCascadeClassifier
from farthing.datasets import (
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_table,
    load_thyroid,
)

NAME = "door_parts"
DOOR, BEFORE = "front door", "before"
CASCADES = {"cascade, depth 4": 4, "cascade, depth 2": 2}
EXITS = "early exits"
SIDES = (DOOR, *CASCADES, EXITS)
REAL: dict[str, Any] = {
    "heart_disease": load_heart_disease,
    "pima_diabetes": load_pima_diabetes,
    "hepatitis": load_hepatitis,
    "thyroid": load_thyroid,
}
DRAWN = ("dna", "satellite", "miniboone_tiny", "letter", "adult", "covtype")
SHARES = (0.05, 0.2, 0.5)
LEARN, TEST = 2000, 5000


@dataclass(frozen=True)
class Task:
    """Rows to learn from and to test on, with prices."""

    X: pd.DataFrame
    y: NDArray[np.int64]
    new: pd.DataFrame
    truth: NDArray[np.int64]
    costs: Any
    whole: float


def task_of(name: str, seed: int, most: int = LEARN) -> Task:
    """Return half of a table, at most so many rows, to learn from; what has no prices gets random ones."""
    data = REAL[name](frame=True) if name in REAL else load_table(name)
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    names = [str(column) for column in data.X.columns]
    X = data.X.set_axis(names, axis=1)
    if name in REAL:
        costs: Any = data.costs
        whole = costs.total(costs.features)
    else:
        drawn = np.random.default_rng(1000 + seed).integers(1, 51, size=len(names)).astype(float)
        costs, whole = dict(zip(names, drawn.tolist(), strict=True)), float(drawn.sum())
    rows = np.arange(len(y))
    learn, rest = train_test_split(rows, train_size=min(most, len(y) // 2), random_state=seed, stratify=y)
    new = rest[:TEST]
    return Task(X.iloc[learn], y[learn], X.iloc[new], y[new], costs, whole)


def run(side: str, task: Task, seed: int, methods: Any = "auto") -> dict[str, Any]:
    """Fit a side at each budget; return which new rows are right, their spends, and the seconds."""
    right, spend, seconds, quoted, chosen = [], [], [], [], []
    cascade = None
    for share in SHARES:
        budget = share * task.whole
        start = time.perf_counter()
        if side in CASCADES:
            if cascade is None:
                made = MiserCascadeClassifier(costs=task.costs, max_depth=CASCADES[side], random_state=seed)
                cascade = made.fit(task.X, task.y)
            model: Any = cascade.at(budget)
            told, name = np.nan, side
        else:
            tried = ["EarlyExitClassifier"] if side == EXITS else methods
            model = BudgetedClassifier(task.costs, budget, methods=tried, random_state=seed)
            model.fit(task.X, task.y)
            told, name = model.chosen_.score, model.chosen_.method
        seconds.append(time.perf_counter() - start)
        decided = model.decide(task.new)
        right.append(decided.prediction == task.truth)
        spend.append(decided.spent.mean() / task.whole)
        quoted.append(told)
        chosen.append(name)
    return {
        "right": np.array(right),
        "spend": np.array(spend),
        "seconds": np.array(seconds),
        "quoted": np.array(quoted, dtype=float),
        "chosen": np.array(chosen),
    }


def file_of(kept: Path, name: str, seed: int, side: str) -> Path:
    """Return where a result is kept."""
    return kept / f"{name}-{seed}-{side.replace(' ', '_').replace(',', '')}.npz"


def measure(file: Path, name: str, seed: int, side: str, sources: Path | None) -> None:
    """Run a side in a process of its own."""
    environment = dict(os.environ)
    if sources is not None:
        environment["PYTHONPATH"] = os.pathsep.join([str(sources), str(ROOT)])
    ran = DOOR if side == BEFORE else side
    words = [sys.executable, "-m", "experiments.boards.door_parts", "--one", name, str(seed), ran, str(file)]
    subprocess.run(words, env=environment, check=True, cwd=file.parent if sources else ROOT)


# The page.

Results = dict[tuple[str, str], list[dict[str, Any]]]


def gap_of(one: list[dict[str, Any]], other: list[dict[str, Any]]) -> tuple[float, float]:
    """Return by how much one side is ahead, on average over budgets and seeds, and the standard error."""
    gaps = [
        a["right"].astype(float).mean(axis=0) - b["right"].mean(axis=0)
        for a, b in zip(one, other, strict=True)
    ]
    errors = [gap.std(ddof=1) / np.sqrt(len(gap)) for gap in gaps]
    return float(np.mean([gap.mean() for gap in gaps])), float(np.sqrt(np.sum(np.square(errors))) / len(gaps))


def mean_of(found: list[dict[str, Any]]) -> float:
    """Return the accuracy, on average over seeds, budgets and rows."""
    return float(np.mean([one["right"].mean() for one in found]))


def page(results: Results, names: Sequence[str], sides: Sequence[str], seeds: Sequence[int]) -> str:
    """Return the page."""
    rows, behind, worse = [], [], []
    for name in names:
        ours = results[name, DOOR]
        parts = {side: results[name, side] for side in sides if side not in (DOOR, BEFORE)}
        best = max(parts, key=lambda side: mean_of(parts[side]))
        gap, error = gap_of(ours, parts[best])
        if gap < -error:
            behind.append(f"{name} ({gap:+.4f} +- {error:.4f}, {best})")
        cells = [
            name,
            f"{mean_of(ours):.4f}",
            f"{mean_of(parts[best]):.4f} ({best})",
            f"{gap:+.4f} +- {error:.4f}",
        ]
        if BEFORE in sides:
            old, old_error = gap_of(ours, results[name, BEFORE])
            cells += [f"{mean_of(results[name, BEFORE]):.4f}", f"{old:+.4f} +- {old_error:.4f}"]
            if old < 0:
                worse.append(f"{name} ({old:+.4f} +- {old_error:.4f})")
        seconds = np.mean([one["seconds"].mean() for one in ours])
        cells.append(f"{seconds:.1f}")
        if BEFORE in sides:
            cells.append(f"{np.mean([one['seconds'].mean() for one in results[name, BEFORE]]):.1f}")
        rows.append("| " + " | ".join(cells) + " |")
    below = "; ".join(behind) or "nowhere"
    lines = [f"- Below its best part by more than a standard error, on average over budgets: {below}."]
    if BEFORE in sides:
        lines.append(f"- Less accurate than before: {'; '.join(worse) or 'nowhere'}.")
    lines += [spends(results, names, side) for side in sides]
    lines += [quotes(results, names, side) for side in (DOOR, *([BEFORE] if BEFORE in sides else []))]
    head = ["table", DOOR, "best part", "difference"]
    head += [BEFORE, "difference"] if BEFORE in sides else []
    head += ["seconds a fit"] + (["before"] if BEFORE in sides else [])
    table = "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows])
    chosen = [str(method) for name in names for one in results[name, DOOR] for method in one["chosen"]]
    counts = ", ".join(f"{m} {chosen.count(m)}" for m in sorted(set(chosen), key=chosen.count, reverse=True))
    shares, numbers = ", ".join(f"{share:.0%}" for share in SHARES), ", ".join(map(str, seeds))
    return f"""# The front door and its parts

{chr(10).join(lines)}

{table}

- Accuracy on new rows, on average over mean budgets of {shares} of what all features cost and over
  {len(seeds)} splits, seeds {numbers}. The best part is the one that did best on the new rows, a choice that
  the front door does not have. Standard errors are over new rows, in pairs.
- Half of each table to learn from, at most {LEARN:,} rows; up to {TEST:,} others to test on.
  {", ".join(REAL)} have their own prices, the others random ones that were
  used nowhere else. The default set and the rules of the front door were set on other tables: ecoli,
  sonar, ionosphere, bupa_liver, house_votes_84, breast_cancer_wdbc and made ones.
- Chosen: {counts}.
"""


def spends(results: Results, names: Sequence[str], side: str) -> str:
    """Say how often new rows spend more than the budget, and by how much."""
    found = np.array(
        [one["spend"] / np.array(SHARES) for name in names for one in results[name, side]]
    ).ravel()
    over = found > 1
    more = (
        f", by {np.mean(found[over]) - 1:.1%} on average and {found.max() - 1:.1%} at most"
        if over.any()
        else ""
    )
    used = f"on average {found.mean():.0%} of the budget is spent"
    often = f"the mean spend of new rows is over the budget in {over.mean():.0%} of {len(found)} runs"
    return f"- {side}: {often}{more}; {used}."


def quotes(results: Results, names: Sequence[str], side: str) -> str:
    """Say how far the quoted accuracy is from that on new rows."""
    gaps = np.array(
        [one["quoted"] - one["right"].mean(axis=1) for name in names for one in results[name, side]]
    ).ravel()
    error = gaps.std(ddof=1) / np.sqrt(len(gaps))
    return (
        f"- {side}: the quoted accuracy is {gaps.mean():+.4f} from that on new rows on average "
        f"(standard error {error:.4f}), {gaps.min():+.3f} to {gaps.max():+.3f}."
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--one"]:
        table, number, ran, out = given[1:5]
        warnings.simplefilter("ignore")
        np.savez_compressed(out, **run(ran, task_of(table, int(number)), int(number)))
        return
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", default=[*REAL, *DRAWN])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--sides", nargs="*", help="measure only these, and write no page")
    parser.add_argument("--before", type=Path, help="folder of the sources of another checkout")
    args = parse(parser, NAME, given)
    if args.tiny:
        task = task_of("hepatitis", 0)
        tree = [("BudgetTreeClassifier", {"max_depth": [2]})]
        found = {("hepatitis", side): [run(side, task, 0, tree)] for side in (DOOR, "cascade, depth 2")}
        write_page(
            args.out,
            NAME,
            page(found, ["hepatitis"], [DOOR, "cascade, depth 2"], [0]),
            command(NAME, "--tiny"),
        )
        return
    sides = args.sides or [*SIDES, *([BEFORE] if args.before else [])]
    results: Results = {}
    for seed in args.seeds:
        for name in args.tables:
            for side in sides:
                file = file_of(args.kept, name, seed, side)
                if not file.exists():
                    measure(file, name, seed, side, args.before if side == BEFORE else None)
                with np.load(file) as kept:
                    found_here = {key: kept[key] for key in kept.files}
                results.setdefault((name, side), []).append(found_here)
                print(
                    f"{name}, seed {seed}, {side}: {found_here['right'].mean():.4f}, "
                    f"{found_here['seconds'].sum():.1f} s",
                    flush=True,
                )
    if args.sides:
        return
    whole = args.tables == [*REAL, *DRAWN]
    words = [
        *([] if whole else ["--tables", *args.tables]),
        "--seeds",
        *args.seeds,
        *(["--before", "FOLDER"] if args.before else []),
    ]
    write_page(args.out, NAME, page(results, args.tables, sides, args.seeds), command(NAME, *words))


if __name__ == "__main__":
    main()
