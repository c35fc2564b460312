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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.model_selection import train_test_split

from experiments.lib.first_lines import listed
from experiments.lib.pages import ROOT, command, options, parse, write_page
from farthing import BudgetedClassifier
from farthing.base import SweepContext
from farthing.base.registry import auto_grid, get
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
BEFORE_COMMIT = "bd03ef8"
MODULE = "experiments.boards.door_parts"
CASCADE = "cascade"
AIMED = {
    "cascade, aimed": "MiserCascadeClassifier",
    "early exits, aimed": "EarlyExitClassifier",
    "AdaBoostBT, aimed": "AdaBoostBTClassifier",
}
SIDES = (DOOR, CASCADE, *AIMED)
REAL: dict[str, Any] = {
    "heart_disease": load_heart_disease,
    "pima_diabetes": load_pima_diabetes,
    "hepatitis": load_hepatitis,
    "thyroid": load_thyroid,
}
DRAWN = ("dna", "satellite", "miniboone_tiny", "letter", "adult", "covtype")
SHARES = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
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


def suits(side: str, task: Task) -> bool:
    """Return whether a side knows as many classes as there are."""
    return side not in AIMED or not getattr(get(AIMED[side]), "binary_only", False) or task.y.max() < 2


def run(side: str, task: Task, seed: int, shares: Sequence[float], methods: Any = "auto") -> Iterator[Run]:
    """Fit a side at some budgets; yield what each model does with the new rows."""
    cascade = None
    for share in shares:
        budget = share * task.whole
        start = time.process_time()
        if side == CASCADE:
            if cascade is None:
                context = SweepContext(*task.X.shape, int(task.y.max()) + 1, task.costs, None, "mean", 0)
                grid: Any = auto_grid("MiserCascadeClassifier")
                (depth,) = grid(context)["max_depth"]
                made = MiserCascadeClassifier(costs=task.costs, max_depth=depth, random_state=seed)
                cascade = made.fit(task.X, task.y)
            model: Any = cascade.at(budget)
            told, name = np.nan, side
        else:
            # As the default set tries it.
            tried = [(AIMED[side], auto_grid(AIMED[side]))] if side in AIMED else methods
            model = BudgetedClassifier(task.costs, budget, methods=tried, random_state=seed)
            model.fit(task.X, task.y)
            told, name = model.chosen_.score, model.chosen_.method
        seconds = time.process_time() - start
        decided = model.decide(task.new)
        right = np.asarray(decided.prediction == task.truth)
        spend = float(decided.spent.mean() / budget)
        yield {"right": right, "spend": spend, "seconds": seconds, "quoted": told, "chosen": name}


def file_of(kept: Path, name: str, seed: int, side: str, share: float) -> Path:
    """Return where a result is kept."""
    return kept / f"{name}-{seed}-{side.replace(' ', '_').replace(',', '')}-{share:g}.npz"


def measure(kept: Path, cell: tuple[str, int, str], shares: Sequence[float], sources: Path | None) -> None:
    """Run a side in a process of its own, which keeps the result of each budget."""
    name, seed, side = cell
    words = ["--one", name, str(seed), side, str(kept.resolve()), *map(str, shares)]
    if sources is None:
        program = [sys.executable, "-m", MODULE]
        subprocess.run([*program, *words], check=True, cwd=ROOT)
        return
    # The sources of this checkout may be installed by a hook, which comes before all folders.
    begin = (
        "import runpy, sys; sys.meta_path[:] = [f for f in sys.meta_path if not "
        "type(f).__module__.startswith('_editable_')]; "
        f"sys.path[:0] = [{str(sources.resolve())!r}, {str(ROOT)!r}]; "
        f"import farthing; assert farthing.__file__.startswith({str(sources.resolve())!r}); "
        f"runpy.run_module({MODULE!r}, run_name='__main__')"
    )
    environment = {**os.environ, "PYTHONSAFEPATH": "1"}
    subprocess.run([sys.executable, "-c", begin, *words], env=environment, check=True, cwd=kept)


# The page.

Run = dict[str, Any]
# By table, side, seed and budget.
Results = dict[tuple[str, str, int, float], Run]
Cell = tuple[int, float]


@dataclass(frozen=True)
class Gap:
    """By how much one side is ahead of another, on average over runs, in pairs of new rows."""

    mean: float
    error: float
    n_runs: int

    def __str__(self) -> str:
        return f"{self.mean:+.4f} +- {self.error:.4f}"


@dataclass(frozen=True)
class Board:
    """All that was measured."""

    results: Results

    def runs(self, name: str, side: str) -> dict[Cell, Run]:
        """Return the runs of a side on a table, by seed and budget."""
        return {(s, b): run for (n, d, s, b), run in self.results.items() if (n, d) == (name, side)}

    def gap(self, name: str, one: str, other: str, *, held: bool = False) -> Gap | None:
        """Compare two sides on the runs that both have; ``held``: only where the other kept the budget.

        The standard error is over new rows, whose gaps are averaged over the budgets of a split first.
        """
        ours, theirs = self.runs(name, one), self.runs(name, other)
        both = [cell for cell in ours if cell in theirs and not (held and theirs[cell]["spend"] > 1)]
        if not both:
            return None
        total, variance = 0.0, 0.0
        for seed in {seed for seed, _ in both}:
            gaps = [
                ours[cell]["right"].astype(float) - theirs[cell]["right"] for cell in both if cell[0] == seed
            ]
            rows = np.sum(gaps, axis=0)
            total += rows.mean()
            variance += rows.var(ddof=1) / len(rows)
        return Gap(total / len(both), float(np.sqrt(variance)) / len(both), len(both))

    def ahead(self, name: str, parts: Sequence[str], *, held: bool) -> tuple[str, Gap] | None:
        """Return the part that is furthest ahead of the front door."""
        gaps = {part: self.gap(name, DOOR, part, held=held) for part in parts}
        found = {part: gap for part, gap in gaps.items() if gap is not None}
        best = min(found, key=lambda part: found[part].mean, default=None)
        return None if best is None else (best, found[best])

    def mean(self, name: str, side: str, what: str) -> float:
        """Return the accuracy, the spend over the budget or the seconds, on average over runs."""
        return float(np.mean([np.mean(run[what]) for run in self.runs(name, side).values()]))


def page(board: Board, names: Sequence[str], sides: Sequence[str]) -> str:
    """Return the page."""
    sides = [side for side in sides if any(board.runs(name, side) for name in names)]
    parts = [side for side in sides if side not in (DOOR, BEFORE)]
    rows: list[str] = []
    behind: list[str] = []
    above: list[str] = []
    worse: list[str] = []
    for name in names:
        ours = f"{board.mean(name, DOOR, 'right'):.4f} ({board.mean(name, DOOR, 'spend'):.0%})"
        cells = [name, ours]
        for held, said in ((True, behind), (False, above)):
            found = board.ahead(name, parts, held=held)
            cells.append("" if found is None else f"{found[1]} ({found[0]}, {found[1].n_runs} runs)")
            if found is not None and found[1].mean < -found[1].error:
                said.append(f"{name} ({found[1]}, {found[0]})")
        old = board.gap(name, DOOR, BEFORE) if BEFORE in sides else None
        if BEFORE in sides:
            cells.append("not run" if old is None else f"{old} ({old.n_runs} runs)")
        if old is not None and old.mean < 0:
            worse.append(f"{name} ({old})")
        cells.append(f"{board.mean(name, DOOR, 'seconds'):.1f}")
        if BEFORE in sides:
            cells.append("" if old is None else f"{board.mean(name, BEFORE, 'seconds'):.1f}")
        rows.append("| " + " | ".join(cells) + " |")
    lines = [
        "- Below a part by more than a standard error, on average over the runs in which that part kept the "
        f"budget on new rows: {'; '.join(behind) or 'nowhere'}.",
        f"- The same over all runs, those in which the part spent too much included: "
        f"{'; '.join(above) or 'nowhere'}.",
    ]
    if BEFORE in sides:
        lines.append(f"- Less accurate than before: {'; '.join(worse) or 'nowhere'}.")
    lines += [spends(board, names, side) for side in sides]
    lines += [quotes(board, names, side) for side in sides if side in (DOOR, BEFORE)]
    head = [
        "table",
        f"{DOOR} (spent)",
        "to the best part that kept the budget",
        "to the best part in any case",
    ]
    head += ["to before"] if BEFORE in sides else []
    head += ["seconds a fit"] + (["before"] if BEFORE in sides else [])
    table = "\n".join(["| " + " | ".join(head) + " |", "|" + "---|" * len(head), *rows])
    chosen = [str(run["chosen"]) for name in names for run in board.runs(name, DOOR).values()]
    counts = ", ".join(f"{m} {chosen.count(m)}" for m in sorted(set(chosen), key=chosen.count, reverse=True))
    before = ""
    if BEFORE in sides:
        before = (
            f"Before is the front door of commit {BEFORE_COMMIT}; it has\n  "
            f"{budgets(board, names, BEFORE)}, and {splits(board, names, BEFORE)}.\n  "
        )
    return f"""# The front door and its parts

{chr(10).join(lines)}

{table}

- Differences in accuracy on new rows, front door minus other, on average over mean budgets of
  {budgets(board, names, DOOR)} of what all features cost, and over splits, by their seeds:
  {splits(board, names, DOOR)}.
  {before}Only runs that both sides have are compared. In brackets beside the accuracy: the part of the budget
  that new rows spend. Not all sides have all splits and budgets: the second table says which.
- A part is a method of the default set alone. "Aimed": by the front door with that one method, which holds
  the budget as the front door does. Else it is fitted once and moved to each budget, which its own held-out
  rows keep, but new rows may not. The best part is the one that is furthest ahead on the new rows, a choice
  that the front door does not have. Standard errors are over new rows, in pairs.
- Half of each table to learn from, at most {LEARN:,} rows; up to {TEST:,} others to test on.
  {", ".join(REAL)} have their own prices, the others random ones that were
  used nowhere else. {SET_ON}
- Seconds are those of the processor.
- Chosen: {counts}.

## Accuracy and spend at each budget

On average over splits, whose seeds are beside the side: sides with other splits are not to be compared here.
In brackets the part of the budget that new rows spend, bold if it is more than all.

{chr(10).join(by_budget(board, name, sides) for name in names)}"""


def by_budget(board: Board, name: str, sides: Sequence[str]) -> str:
    """Return a table of all sides of one table, budget by budget."""
    shares = sorted({share for _, share in board.runs(name, DOOR)})
    lines = [f"### {name}", "", "| side | " + " | ".join(f"{share:.0%}" for share in shares) + " |"]
    lines.append("|---|" + "---|" * len(shares))
    for side in sides:
        cells = []
        for share in shares:
            found = [run for (_, budget), run in board.runs(name, side).items() if budget == share]
            if not found:
                cells.append("")
                continue
            right, spend = (
                float(np.mean([np.mean(run[what]) for run in found])) for what in ("right", "spend")
            )
            shown = f"**{spend:.0%}**" if spend > 1 else f"{spend:.0%}"
            cells.append(f"{right:.4f} ({shown})")
        seeds = sorted({seed for seed, _ in board.runs(name, side)})
        if seeds:
            named = f"{side} ({', '.join(map(str, seeds))})"
            lines.append(f"| {named} | " + " | ".join(cells) + " |")
    return "\n".join([*lines, ""])


def budgets(board: Board, names: Sequence[str], side: str) -> str:
    """Name the budgets of a side."""
    found = {share for name in names for _, share in board.runs(name, side)}
    return listed([f"{share:.0%}" for share in sorted(found)])


def splits(board: Board, names: Sequence[str], side: str) -> str:
    """Name the splits of a side, table by table."""
    found = {name: sorted({seed for seed, _ in board.runs(name, side)}) for name in names}
    return "; ".join(f"{name} {', '.join(map(str, seeds))}" for name, seeds in found.items() if seeds)


def spends(board: Board, names: Sequence[str], side: str) -> str:
    """Say how often new rows spend more than the budget, and by how much."""
    found = np.array([run["spend"] for name in names for run in board.runs(name, side).values()])
    over = found > 1
    more = (
        f", by {np.mean(found[over]) - 1:.1%} on average and {found.max() - 1:.1%} at most"
        if over.any()
        else ""
    )
    used = f"on average {found.mean():.0%} of the budget is spent"
    often = f"the mean spend of new rows is over the budget in {over.mean():.0%} of {len(found)} runs"
    return f"- {side}: {often}{more}; {used}."


def quotes(board: Board, names: Sequence[str], side: str) -> str:
    """Say how far the quoted accuracy is from that on new rows."""
    gaps = np.array(
        [run["quoted"] - run["right"].mean() for name in names for run in board.runs(name, side).values()]
    )
    error = gaps.std(ddof=1) / np.sqrt(len(gaps)) if len(gaps) > 1 else np.nan
    return (
        f"- {side}: the quoted accuracy is {gaps.mean():+.4f} from that on new rows on average "
        f"(standard error {error:.4f}), {gaps.min():+.3f} to {gaps.max():+.3f}."
    )


SET_ON = """The default set and the rules of the front door were set on other tables: ecoli,
  sonar, ionosphere, bupa_liver, house_votes_84, breast_cancer_wdbc, breast_cancer_original, 400 rows of adult
  and 1,200 of physionet2012 at other prices, and made ones. Other splits of heart_disease, pima_diabetes,
  hepatitis and thyroid were looked at before: with the rules of commit 650f022, which preferred no method, on
  split 7 of these four tables, the front door was below a part that kept the budget by more than a standard
  error on thyroid alone (-0.0009 +- 0.0003); with those of commit ed85f00, on split 8 of heart_disease and
  hepatitis, on both (-0.0211 +- 0.0176, -0.0410 +- 0.0180). Splits from 9 on were looked at once."""


def keep_one(words: Sequence[str]) -> None:
    """Run one side at some budgets, and keep the results: a process of its own."""
    name, seed, side, kept, *budgets_given = words
    warnings.simplefilter("ignore")
    ran = DOOR if side == BEFORE else side
    task = task_of(name, int(seed))
    given = [float(share) for share in budgets_given]
    for share, found in zip(given, run(ran, task, int(seed), given), strict=True):
        np.savez_compressed(file_of(Path(kept), name, int(seed), side, share), **found)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    if given[:1] == ["--one"]:
        keep_one(given[1:])
        return
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", default=[*REAL, *DRAWN])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--budgets", type=float, nargs="*", default=list(SHARES), help="shares of all prices")
    parser.add_argument("--sides", nargs="*", help="measure only these, and write no page")
    parser.add_argument("--before", type=Path, help="folder of the sources of another checkout")
    parser.add_argument("--before-budgets", type=float, nargs="*", default=list(SHARES))
    parser.add_argument("--only-kept", action="store_true", help="a page of what is measured so far")
    args = parse(parser, NAME, given)
    if args.tiny:
        task = task_of("hepatitis", 0)
        tree = [("BudgetTreeClassifier", {"max_depth": [2]})]
        sides = [DOOR, CASCADE]
        made = {("hepatitis", side, 0, 0.2): next(run(side, task, 0, [0.2], tree)) for side in sides}
        write_page(args.out, NAME, page(Board(made), ["hepatitis"], sides), command(NAME, "--tiny"))
        return
    sides = args.sides or [*SIDES, *([BEFORE] if args.before or args.only_kept else [])]
    results: Results = {}
    for seed in args.seeds:
        for name in args.tables:
            for side in sides:
                shares = args.before_budgets if side == BEFORE else args.budgets
                missing = [s for s in shares if not file_of(args.kept, name, seed, side, s).exists()]
                if missing and not args.only_kept and suits(side, task_of(name, seed)):
                    measure(args.kept, (name, seed, side), missing, args.before if side == BEFORE else None)
                for share in shares:
                    file = file_of(args.kept, name, seed, side, share)
                    if not file.exists():
                        continue
                    with np.load(file) as kept:
                        results[name, side, seed, share] = {key: kept[key] for key in kept.files}
                print(f"{name}, seed {seed}, {side}", flush=True)
    if args.sides:
        return
    words = [
        "--tables",
        *args.tables,
        "--seeds",
        *args.seeds,
        *(["--before", "FOLDER"] if args.before else []),
        *(["--only-kept"] if args.only_kept else []),
    ]
    write_page(args.out, NAME, page(Board(results), args.tables, sides), command(NAME, *words))


if __name__ == "__main__":
    main()
