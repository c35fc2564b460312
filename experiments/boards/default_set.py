"""What the front door tries by default, and how it chooses, on tables that no page of the front door reports.

``farthing reproduce default_set`` writes docs/results/default_set.md. Every method is fitted with its whole
grid on training rows; what each model pays and scores on validation rows, and how often it is right on test
rows, is kept, one file for each table, seed and fold. Then any set of methods and any rule of choice can be
tried without a fit. ``--restate`` runs nothing and writes the text anew from the page that is there.
FARTHING_DATA must name the folder of the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from experiments.lib.mean_budgets import SHARES, Split
from experiments.lib.pages import RESULTS, command, markdown, options, parse, write_page
from experiments.lib.stored_pages import StoredPage, Table, add_restate, restate, tables
from farthing.base import SweepContext
from farthing.base.registry import get
from farthing.costs import CostSheet
from farthing.datasets import load_bupa_liver, load_table
from farthing.frontier import Frontier, Point
from farthing.frontier.candidates import candidates
from farthing.frontier.data_split import SweepRows
from farthing.frontier.scorers import scorer_of
from farthing.frontier.sweep_run import evaluate

NAME = "default_set"
TABLES = ("bupa_liver", "ionosphere", "sonar", "house_votes_84", "breast_cancer_wdbc", "ecoli", "splice")
N_FOLDS = 5
# Lines of the page.
DEFAULT, EVERY, WITHOUT, BEST = "the default set", "all methods", "the default set without ", "the best score"
TINY_METHODS = ("BudgetTreeClassifier", "AdaBoostBTClassifier")
Keep = Callable[[str, bool], bool]  # of a method, and whether the setting is tried by default
Rule = Callable[[Frontier, float], Point | None]


def splits(name: str, seed: int) -> Iterator[Split]:
    """Yield the folds of a table; prices are its own if it has some, else drawn with the seed."""
    data = load_bupa_liver(frame=True) if name == "bupa_liver" else load_table(name)
    frame = data.X.apply(lambda c: c.cat.codes.replace(-1, np.nan) if c.dtype.name == "category" else c)
    X = frame.to_numpy(dtype=np.float64)
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    prices = np.random.default_rng(seed).integers(1, 51, size=X.shape[1]).astype(float)
    costs = data.costs if name == "bupa_liver" else CostSheet(prices)
    for learn, test in StratifiedKFold(N_FOLDS, shuffle=True, random_state=seed).split(X, y):
        inner = StratifiedKFold(3, shuffle=True, random_state=seed)
        train, held = next(inner.split(X[learn], y[learn]))
        parts = (learn[train], learn[held], test)
        yield Split(name, costs, *((X[part], y[part]) for part in parts))


def measure(split: Split, seed: int, methods: Sequence[str] | None = None) -> dict[str, Any]:
    """Fit all candidates, or those of some methods; return a row for each model, and how the prior does."""
    names = list(split.costs.features)
    parts = split.train, split.validation, split.test
    train, held, test = (SweepRows.of(pd.DataFrame(X, columns=names), y) for X, y in parts)
    whole = split.costs.total(names)
    n_classes = int(split.train[1].max()) + 1
    context = SweepContext(len(train.y), len(names), n_classes, split.costs, None, "mean", seed)
    lean = {_key(c.method, c.params) for c in candidates("auto", context)}
    scorer: Any = scorer_of("accuracy", classifies=True)
    rows = []
    offered = [candidate for word in ("auto", "all") for candidate in candidates(word, context)]
    tried = {_key(c.method, c.params): c for c in offered if methods is None or c.method in methods}
    for key, candidate in tried.items():
        model = clone(candidate.estimator).fit(train.X, train.y)
        for params, variant in model.variants():
            evaluated = evaluate(variant, held, split.costs, None)
            score, error = scorer(evaluated)
            right = float(np.mean(evaluate(variant, test, split.costs, None).prediction == test.y))
            settings = {name: str(value) for name, value in {**candidate.params, **params}.items()}
            spend = float(evaluated.spend.mean() / whole)
            rows.append(
                [candidate.method, key in lean, settings, spend, score, error, scorer.loss(evaluated), right]
            )
    common = int(np.argmax(np.bincount(train.y)))
    return {"rows": rows, "prior": [float(np.mean(part.y == common)) for part in (held, test)]}


def _key(method: str, params: Any) -> str:
    return f"{method} {sorted((name, str(value)) for name, value in params.items())}"


def points(result: dict[str, Any], keep: Keep) -> list[tuple[Point, float]]:
    """Return the points of some methods, each with its accuracy on test rows; one buys nothing."""
    on_held, on_test = result["prior"]
    found = [(Point("prior", {}, 0.0, 0.0, on_held, 0.0, 1.0), on_test)]
    for method, lean, params, spend, score, error, loss, right in result["rows"]:
        if keep(method, lean):
            found.append((Point(method, params, spend, spend, score, error, loss, get(method)()), right))
    return found


def accuracy(result: dict[str, Any], keep: Keep, rule: Rule) -> NDArray[np.float64]:
    """Return the accuracy on test rows at each budget of what the rule takes."""
    found = points(result, keep)
    right = {id(point): value for point, value in found}
    frontier = Frontier(tuple(point for point, _ in found))
    chosen = [rule(frontier, share) for share in SHARES]
    return np.array([right[id(point)] for point in chosen])


def page(kept: Path) -> str:
    """Return the page of what is measured: sets of methods, then rules of choice."""
    results = {
        name: [json.loads(file.read_text()) for file in sorted(kept.glob(f"{name}-*.json"))]
        for name in TABLES
    }
    results = {name: found for name, found in results.items() if found}
    methods = sorted({row[0] for found in results.values() for one in found for row in one["rows"] if row[1]})

    def without(left: str) -> Keep:
        return lambda method, lean: lean and method != left

    def take(frontier: Frontier, budget: float) -> Point | None:
        return frontier.choose(budget)

    def best(frontier: Frontier, budget: float) -> Point | None:
        return frontier.within(budget)

    lines: dict[str, tuple[Keep, Rule]] = {
        DEFAULT: (lambda _, lean: lean, take),
        EVERY: (lambda *_: True, take),
        **{f"{WITHOUT}{left}": (without(left), take) for left in methods},
        f"{DEFAULT}, {BEST}": (lambda _, lean: lean, best),
        f"{EVERY}, {BEST}": (lambda *_: True, best),
    }
    rows = []
    for label, (keep, rule) in lines.items():
        means = [np.mean([accuracy(one, keep, rule) for one in found]) for found in results.values()]
        rows.append((label, *(f"{mean:.4f}" for mean in means), f"{np.mean(means):.4f}"))
    folds = ", ".join(f"{name} {len(found)}" for name, found in results.items())
    return text_of(Table(("what is tried", *results, "mean"), tuple(rows)), folds)


def text_of(table: Table, folds: str) -> str:
    """Return the page of a table of accuracies; ``folds`` says how many of each table were measured."""
    return HEAD.format(
        summary=summary(table),
        missing=missing(table.header[1:-1], folds),
        table=markdown(table.header, table.rows),
        folds=folds,
    )


def summary(table: Table) -> str:
    """Say which methods do not earn their place in the default set, and how it stands beside all methods."""
    mean = dict(zip(table.column("what is tried"), map(float, table.column("mean")), strict=True))
    useless = [
        f"{name.removeprefix(WITHOUT)} ({mean[name] - mean[DEFAULT]:+.4f} without it)"
        for name in mean
        if name.startswith(WITHOUT) and mean[name] >= mean[DEFAULT]
    ]
    gap, rule = mean[EVERY] - mean[DEFAULT], mean[DEFAULT] - mean[f"{DEFAULT}, {BEST}"]
    return (
        f"Methods without which the default set loses nothing on average: {', '.join(useless) or 'none'}. "
        f"With all methods in its place the accuracy changes by {gap:+.4f}. The front door's rule of choice "
        f"is {rule:+.4f} above taking the best score. These differences have no standard errors."
    )


def missing(measured: Sequence[str], folds: str) -> str:
    """Say which tables and folds were not measured."""
    lacking = [name for name in TABLES if name not in measured]
    counts = dict(entry.rsplit(" ", 1) for entry in folds.split(", "))
    few = [f"{name} {count}" for name, count in counts.items() if int(count) < N_FOLDS]
    return " ".join(
        [f"Not measured: {', '.join(lacking)}."] * bool(lacking)
        + [f"Fewer than the {N_FOLDS} folds: {', '.join(few)}."] * bool(few)
    )


def stored(found: StoredPage) -> str:
    """Return the page anew, from the figures of the stored one."""
    folds = found.text.partition("Folds measured: ")[2].partition(".")[0]
    return text_of(tables(found.text)[0], folds)


HEAD = """# What the front door tries by default

{summary} {missing}

Accuracy on test rows, on average over folds and six mean budgets, 2 to 100 % of what all features cost. A
third of what a fold learns from chooses; the chosen model is not fitted again. Prices are random but for
bupa_liver, which has its own. None of these tables is in [front_door.md](front_door.md).

"The best score" takes the highest accuracy on validation rows; the others choose as the front door does
(`farthing.frontier.choice`).

{table}

Folds measured: {folds}.
"""


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    parser.add_argument("--seeds", type=int, nargs="*", default=[100])
    parser.add_argument("--folds", type=int, nargs="*", default=list(range(N_FOLDS)))
    add_restate(parser)
    args = parse(parser, NAME, arguments)
    if args.restate:
        found = StoredPage.read(RESULTS / f"{NAME}.md")
        restate(args.out / f"{NAME}.md", found, stored(found), command(NAME, "--restate"))
        return
    methods = None
    if args.tiny:
        args.tables, args.folds, methods = ["bupa_liver"], [0], TINY_METHODS
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for seed in args.seeds:
            for name in args.tables:
                for fold, split in enumerate(splits(name, seed)):
                    file = args.kept / f"{name}-{seed}-{fold}.json"
                    if fold in args.folds and not file.exists():
                        file.write_text(json.dumps(measure(split, seed, methods)))
                        print(f"measured {name}, seed {seed}, fold {fold}", flush=True)
    write_page(args.out, NAME, page(args.kept), command(NAME))


if __name__ == "__main__":
    main()
