"""Accuracy at six budgets: `farthing.BudgetedClassifier` against LightGBM with cost penalties or on subsets.

``farthing reproduce front_door`` writes docs/results/front_door.md. What was measured is kept, one file for
each table, seed and method, so a long run can be made in parts: ``--tables dna --seeds 0 --who ours``.
``--restate`` runs nothing and writes the text anew from the page that is there. FARTHING_DATA must name the
folder of the larger tables; see `farthing.datasets.load_table`.

Everybody chooses by the same validation rows, among models whose validation rows spend no more than the
budget on average. The chosen setting is then fitted again on training and validation rows together, as
`BudgetedClassifier` does, for the rivals, too.
"""

from __future__ import annotations

import itertools
import json
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import PredefinedSplit, StratifiedKFold

from experiments.lib.front_door_page import OURS, restated, text_of
from experiments.lib.lightgbm_rivals import N_ROUNDS, RIVALS, Row, rival, together
from experiments.lib.mean_budgets import SHARES, Split
from experiments.lib.pages import RESULTS, command, options, parse, write_page
from experiments.lib.stored_pages import StoredPage, add_restate, restate
from farthing import BudgetedClassifier, load
from farthing.base import SweepContext
from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.datasets import (
    Dataset,
    load_heart_disease,
    load_hepatitis,
    load_pima_diabetes,
    load_table,
    load_thyroid,
)
from farthing.forests import PrunedForestClassifier
from farthing.frontier.candidates import candidates
from farthing.frontier.result_cache import digest

NAME = "front_door"
# With real prices and groups: cross-validation, which a seed repeats. The larger ones: rows that are drawn.
REAL: dict[str, Callable[..., Dataset]] = {
    "heart_cleveland": load_heart_disease,
    "pima_diabetes": load_pima_diabetes,
    "hepatitis": load_hepatitis,
    "thyroid": load_thyroid,
}
DRAWN = {
    "dna": 3186,
    "miniboone_tiny": 5000,
    "satellite": 6435,
    "adult": 48_842,
    "covtype": 20_000,
    "letter": 20_000,
}
N_FOLDS = 5
METHODS = (OURS, *RIVALS)


# The tables.


def splits(name: str, seed: int) -> Iterator[tuple[Split, NDArray[np.int64]]]:
    """Yield the folds of a table with real prices, or one random split at prices drawn with the seed.

    With each come the numbers of its test rows.
    """
    rng = np.random.default_rng(seed)
    data = REAL[name](frame=True) if name in REAL else load_table(name)
    frame = data.X.apply(lambda c: c.cat.codes.replace(-1, np.nan) if c.dtype.name == "category" else c)
    X = frame.to_numpy(dtype=np.float64)
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)

    def split(costs: CostSheet, *parts: NDArray[np.int64]) -> tuple[Split, NDArray[np.int64]]:
        return Split(name, costs, *((X[part], y[part]) for part in parts)), parts[-1]

    if name in DRAWN:
        costs = CostSheet(rng.integers(1, 51, size=X.shape[1]).astype(float))
        rows = rng.permutation(len(y))[: DRAWN[name]]
        yield split(costs, *np.split(rows, [len(rows) // 2, len(rows) * 7 // 10]))
        return
    for learn, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y):
        # A third of what a fold learns from chooses.
        inner = StratifiedKFold(3, shuffle=True, random_state=seed)
        train, held = next(inner.split(X[learn], y[learn]))
        yield split(data.costs, learn[train], learn[held], test)


# Ours.


@contextmanager
def once_for_all_budgets(folder: Path, *methods: Any) -> Iterator[None]:
    """Fit a method whose ``at`` gives the models of all budgets once for the same rows and settings.

    The models are the same; six budgets take a sixth of the time. They are kept in a folder, so that what was
    interrupted goes on.
    """

    def once(fit: Any) -> Any:
        def wrapped(self: Any, X: Any, y: Any, *rest: Any, **options: Any) -> Any:
            params = self.get_params(deep=False)
            aims = {name: params.pop(name) for name in ("budget", "kind") if name in params}
            key = digest(type(self).__name__, repr(sorted(params.items())), X.to_numpy(), np.asarray(y))
            file = folder / f"{key}.farthing"
            if not file.exists():
                fit(clone(self), X, y, *rest, **options).save(file)
            made = load(file).set_params(**aims).at(aims["budget"])
            self.__dict__.update(made.__dict__)
            return self

        return wrapped

    patches = [patch.object(method, "fit", once(method.fit)) for method in methods]
    try:
        for one in patches:
            one.start()
        yield
    finally:
        for one in patches:
            one.stop()


@dataclass(frozen=True)
class Size:
    """How large a run is: what the front door tries, rounds of the rivals, and folds."""

    methods: Any = "auto"
    n_rounds: int = N_ROUNDS
    n_folds: int = N_FOLDS


TINY = Size(methods=("BudgetTreeClassifier",), n_rounds=3, n_folds=1)


def n_fits(split: Split, methods: Any) -> int:
    """Return how many fits the front door makes to choose by."""
    X, y = split.train
    context = SweepContext(len(y), X.shape[1], int(y.max()) + 1, split.costs, 1.0)
    return len(candidates(methods, context))


def ours(split: Split, seed: int, methods: Any, memory: Path) -> tuple[list[Row], list[str]]:
    """Return the results at the six budgets, and the methods chosen; fits are kept in a folder."""
    X, y = together(split).train
    held = np.concatenate([np.full(len(split.train[1]), -1), np.zeros(len(split.validation[1]), int)])
    whole = split.costs.total(split.costs.features)
    names = list(split.costs.features)
    rows: list[Row] = []
    chosen: list[str] = []
    memory.mkdir(parents=True, exist_ok=True)
    with (
        once_for_all_budgets(memory, MiserCascadeClassifier, PrunedForestClassifier),
        warnings.catch_warnings(),
    ):
        warnings.simplefilter("ignore")
        for share in SHARES:
            model = BudgetedClassifier(
                costs=split.costs,
                budget=share * whole,
                methods=methods,
                cv=PredefinedSplit(held),
                memory=memory,
                random_state=seed,
                n_jobs=1,
            ).fit(pd.DataFrame(X, columns=names), y)
            decided = model.decide(pd.DataFrame(split.test[0], columns=names))
            rows.append((decided.prediction == split.test[1], float(decided.spent.mean())))
            chosen.append(model.chosen_.method)
    return rows, chosen


# What was measured.


@dataclass(frozen=True)
class Result:
    """What one method did on one table and seed.

    Attributes
    ----------
    right : ndarray of bool, shape (n_budgets, n_rows)
        Which test rows, of all folds, are classified correctly.
    spend : ndarray of float64, shape (n_budgets, n_rows)
        The mean over its fold of what a test row spent, as a share of the whole price.
    row : ndarray of int64, shape (n_rows,)
        The test rows, ascending.
    notes : dict
        Sizes, seconds, the number of fits to choose by, and for ours the methods chosen.
    """

    right: NDArray[np.bool_]
    spend: NDArray[np.float64]
    row: NDArray[np.int64]
    notes: dict[str, Any]

    @classmethod
    def measure(cls, name: str, seed: int, method: str, size: Size, memory: Path) -> Result:
        """Fit and test on every fold; our fits are kept in a folder."""
        begin = time.process_time()
        notes: dict[str, Any] = {"chosen": []}
        rights, spends, numbers = [], [], []
        for split, test in itertools.islice(splits(name, seed), size.n_folds):
            notes["fits"] = n_fits(split, size.methods)
            if method == OURS:
                rows, chosen = ours(split, seed, size.methods, memory)
                notes["chosen"] += chosen
            else:
                rows = rival(method, split, notes["fits"], size.n_rounds)
            whole = split.costs.total(split.costs.features)
            rights.append(np.array([row[0] for row in rows]))
            spends.append(np.repeat([[row[1] / whole] for row in rows], len(test), axis=1))
            numbers.append(test)
            sizes = [len(part[1]) for part in (split.train, split.validation, split.test)]
            notes["shape"] = [*sizes, split.train[0].shape[1], int(split.train[1].max()) + 1]
        notes["seconds"] = time.process_time() - begin
        row = np.concatenate(numbers)
        order = np.argsort(row)
        right, spend = (np.concatenate(part, axis=1)[:, order] for part in (rights, spends))
        return cls(right, spend, row[order], notes)

    def save(self, file: Path) -> None:
        """Write it to a file."""
        notes = np.array(json.dumps(self.notes))
        np.savez_compressed(file, right=self.right, spend=self.spend, row=self.row, notes=notes)

    @classmethod
    def load(cls, file: Path) -> Result:
        """Read it from a file."""
        with np.load(file) as kept:
            return cls(kept["right"], kept["spend"], kept["row"], json.loads(str(kept["notes"])))


def file_of(kept: Path, name: str, seed: int, method: str) -> Path:
    """Return where a result is kept."""
    return kept / f"{name}-{seed}-{method.replace(' ', '_')}.npz"


# The page.


def gaps_of(name: str, ours: list[Result], theirs: list[Result]) -> tuple[NDArray[np.float64], ...]:
    """Return by how much we are ahead, at each budget and on average over them, and the standard errors.

    Errors are over test rows, in pairs. Folds of other seeds test the same rows again, so these are averaged
    first; random splits have prices of their own, and count as independent.
    """
    by_row = [
        np.vstack([gap, gap.mean(axis=0)])
        for gap in (a.right.astype(float) - b.right for a, b in zip(ours, theirs, strict=True))
    ]
    if name in REAL:
        by_row = [np.mean(by_row, axis=0)]
    errors = np.array([gap.std(axis=1) / np.sqrt(gap.shape[1]) for gap in by_row])
    mean = np.mean([gap.mean(axis=1) for gap in by_row], axis=0)
    return mean, np.sqrt((errors**2).sum(axis=0)) / len(by_row)


@dataclass(frozen=True)
class Verdict:
    """How we did on one table: on average over budgets, against the best rival."""

    name: str
    ours: float
    rival: str
    theirs: float
    error: float
    lost: str

    @property
    def gap(self) -> float:
        """By how much we are ahead."""
        return self.ours - self.theirs

    def row(self) -> str:
        """Return a row of the summary."""
        ahead = "ahead" if self.gap > 0 else "level" if self.gap == 0 else "behind"
        word = ahead if abs(self.gap) > self.error else f"{ahead}, within a standard error"
        gap = f"{self.gap:+.4f} +- {self.error:.4f}"
        return f"| {self.name} | {self.ours:.4f} | {self.theirs:.4f} ({self.rival}) | {gap} | {word} |"


def write(name: str, results: dict[str, list[Result]], say: Callable[[str], None]) -> Verdict:
    """Print one table."""
    accuracy = {m: np.mean([r.right.mean(axis=1) for r in found], axis=0) for m, found in results.items()}
    spend = {m: np.mean([r.spend.mean(axis=1) for r in found], axis=0) for m, found in results.items()}
    notes = [result.notes for result in results[OURS]]
    *sizes, n_features, n_classes = notes[0]["shape"]
    times = "once" if len(notes) == 1 else f"{len(notes)} times"
    how = f"rows and prices drawn {times}" if name in DRAWN else f"{N_FOLDS} folds, {times}"
    rows = ", ".join(f"{size:,}" for size in sizes)
    say(f"\n### {name}: {rows} rows, {n_features} features, {n_classes} classes; {how}\n")
    say(f"| method | {' | '.join(f'{share:.0%}' for share in SHARES)} | mean | fits |")
    say("|---|" + "---|" * (len(SHARES) + 2))
    for method, found in results.items():
        cells = [f"{a:.4f} ({s:.1%})" for a, s in zip(accuracy[method], spend[method], strict=True)]
        tail = f"{accuracy[method].mean():.4f} | {found[0].notes['fits']}"
        say(f"| {method} | {' | '.join(cells)} | {tail} |")
    best = max(RIVALS, key=lambda m: float(accuracy[m].mean()))
    mean, error = gaps_of(name, results[OURS], results[best])
    names = [method for note in notes for method in note["chosen"]]
    counts = ", ".join(f"{m} {names.count(m)}" for m in sorted(set(names), key=names.count, reverse=True))
    behind = [
        f"{share:.0%} ({gap:+.4f} +- {by:.4f})"
        for share, gap, by in zip(SHARES, mean, error, strict=False)
        if gap < -by
    ]
    lost = f"By budget it loses by more than a standard error at {', '.join(behind)}." if behind else ""
    say(f"\nAgainst {best}, the best rival: {mean[-1]:+.4f} +- {error[-1]:.4f}. {lost}".rstrip())
    say(f"Chosen: {counts}.")
    ours_mean, theirs_mean = (float(accuracy[m].mean()) for m in (OURS, best))
    return Verdict(name, ours_mean, best, theirs_mean, float(error[-1]), lost)


def page(kept: Path, seeds: list[int], n_rounds: int) -> str:
    """Return the page of all that was measured with every method."""
    lines: list[str] = []
    verdicts = []
    for name in (*REAL, *DRAWN):
        files = [[file_of(kept, name, seed, method) for method in METHODS] for seed in seeds]
        done = [row for row in files if all(file.exists() for file in row)]
        if done:
            found = {m: [Result.load(row[place]) for row in done] for place, m in enumerate(METHODS)}
            verdicts.append(write(name, found, lines.append))
    missing = [name for name in (*REAL, *DRAWN) if name not in {verdict.name for verdict in verdicts}]
    rows = [verdict.row() for verdict in verdicts]
    return text_of(rows, "\n".join(lines).strip(), n_rounds, N_FOLDS, missing)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", choices=[*REAL, *DRAWN], default=[*REAL, *DRAWN])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1])
    parser.add_argument("--who", choices=["ours", "rivals", "both"], default="both")
    parser.add_argument("--page", action="store_true", help="only write the page of what is measured")
    add_restate(parser)
    args = parse(parser, NAME, arguments)
    size = Size()
    if args.restate:
        found = StoredPage.read(RESULTS / f"{NAME}.md")
        text = restated(found, size.n_rounds, N_FOLDS, (*REAL, *DRAWN))
        restate(args.out / f"{NAME}.md", found, text, command(NAME, "--restate"))
        return
    if args.tiny:
        size, args.tables, args.seeds = TINY, ["hepatitis"], [0]
    methods = {"ours": (OURS,), "rivals": RIVALS, "both": METHODS}[args.who]
    for name in args.tables if not args.page else ():
        for seed in args.seeds:
            for method in methods:
                file = file_of(args.kept, name, seed, method)
                if not file.exists():
                    result = Result.measure(name, seed, method, size, file.with_suffix(".memory"))
                    result.save(file)
                    seconds = result.notes["seconds"]
                    print(
                        f"{name}, seed {seed}, {method}: {result.right.mean():.4f}, {seconds:.0f} s",
                        flush=True,
                    )
    line = command(NAME, "--seeds", *args.seeds)
    write_page(args.out, NAME, page(args.kept, args.seeds, size.n_rounds), line)


if __name__ == "__main__":
    main()
