"""DAG beside the miser cascade and ADAPT-GBRT, at mean budgets, on satellite's bands and letter's features.

``farthing reproduce dag`` writes docs/results/dag.md and its figure. What was measured is kept, one file for
each table, seed and method, so a long run can be made in parts: ``--tables letter --seeds 0 --methods DAG``.
FARTHING_DATA must name the folder of the tables; see `farthing.datasets.load_table`.

All methods have the same rows, prices, rounds, depth, learning rate, L2 penalty and smallest leaf, and choose
by the same validation rows. Test rows are looked at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from experiments.boards.cascade import Size as AdaptSize
from experiments.boards.cascade import adapt, at_budgets, measure, save
from experiments.lib.first_lines import listed, restate, tables, with_first_lines
from experiments.lib.followed_fits import N_ROUNDS, SETTINGS
from experiments.lib.mean_budgets import Followed, Split, row_errors
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.cascades import DAGClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet, Group
from farthing.datasets import load_table

NAME = "dag"
FIGURE = f"{NAME}.png"
# Budgets, as shares of what all features cost together.
SHARES = (0.1, 0.2, 0.3, 0.45, 0.6, 0.8, 1.0)
BUDGETS = tuple(f"{share:.0%}" for share in SHARES)
# Rows that are drawn of each table.
TABLES = {"satellite": 6435, "letter": 4000}
OURS = "DAG"


@dataclass(frozen=True)
class Size:
    """How large the methods are: boosting rounds, trade-offs of DAG, settings of ADAPT, and rows."""

    n_rounds: int = N_ROUNDS
    n_tradeoffs: int = 8
    tradeoffs: tuple[float, ...] = (1e-4, 1e-3, 1e-2)
    p_fulls: tuple[float, ...] = (0.1, 0.3, 0.5, 0.7)
    most_rows: int | None = None


TINY = Size(2, 1, (1e-3,), (0.3,), most_rows=200)


def split_of(name: str, seed: int, most_rows: int | None = None) -> Split:
    """Return half of a table to train on, 20 % to choose by, 30 % to test.

    A pixel of satellite costs 1, and 10 once for its band (as in `experiments.lib.satellite_bands`); a
    feature of letter costs 1.
    """
    data = load_table(name)
    names = [f"x{column}" for column in range(len(data.feature_names))]
    groups = {}
    if name == "satellite":
        groups = {
            f"band {b}": Group(
                10.0, [x for x, n in zip(names, data.feature_names, strict=True) if n.endswith(f"band{b}")]
            )
            for b in (1, 2, 3, 4)
        }
    y = np.unique(data.y, return_inverse=True)[1].astype(np.int64)
    rows = np.random.default_rng(seed).permutation(len(y))[: most_rows or TABLES[name]]
    X = data.X.iloc[rows].to_numpy(dtype=np.float64)
    bounds = [len(rows) // 2, len(rows) * 7 // 10]
    train, validation, test = zip(np.split(X, bounds), np.split(y[rows], bounds), strict=True)
    return Split(name, CostSheet(dict.fromkeys(names, 1.0), groups), train, validation, test)


# The methods: each yields all its models, evaluated on validation and test rows.


def dag(split: Split, size: Size) -> Iterator[Followed]:
    """Yield the DAG of each budget, from one fit: bands are sensors, letter's features are in subsets."""
    model = DAGClassifier(
        split.costs,
        n_tradeoffs=size.n_tradeoffs,
        n_estimators=size.n_rounds,
        n_folds=3,
        random_state=0,
        n_jobs=1,
        **SETTINGS,
    )
    yield from at_budgets(model.fit(*split.train, validation=split.validation), split, SHARES)


def cascade(split: Split, size: Size) -> Iterator[Followed]:
    """Yield the miser cascade of each budget, from one fit with the validation rows held out."""
    model = MiserCascadeClassifier(
        split.costs, n_estimators=size.n_rounds, random_state=0, n_jobs=1, **SETTINGS
    )
    yield from at_budgets(model.fit(*split.train, validation=split.validation), split, SHARES)


def adapt_gbrt(split: Split, size: Size) -> Iterator[Followed]:
    """Yield ADAPT-GBRT over a forest of all features, at its settings and shares sent on."""
    yield from adapt(split, AdaptSize(n_rounds=size.n_rounds, tradeoffs=size.tradeoffs, p_fulls=size.p_fulls))


METHODS: dict[str, Callable[[Split, Size], Iterator[Followed]]] = {
    OURS: dag,
    "cascade": cascade,
    "ADAPT-GBRT": adapt_gbrt,
}
RIVALS = tuple(method for method in METHODS if method != OURS)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page and its figure."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", choices=[*TABLES], default=[*TABLES])
    parser.add_argument("--methods", nargs="*", choices=[*METHODS], default=[*METHODS])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0, 1, 2])
    parser.add_argument("--page", action="store_true", help="only write the page of what is measured")
    parser.add_argument("--restate", action="store_true", help="only write the first lines of the page again")
    args = parse(parser, NAME, arguments)
    if args.restate:
        restate(args.out / f"{NAME}.md", first_lines, command(NAME, "--restate"))
        return
    size = Size()
    if args.tiny:
        size, args.tables, args.seeds = TINY, ["satellite"], [0]
    for seed in args.seeds if not args.page else ():
        for name in args.tables:
            measure_all(name, seed, args.methods, size, args.kept)
    found = {name: _found(args.kept, name) for name in TABLES}
    found = {name: runs for name, runs in found.items() if runs}
    figure(found, args.out / FIGURE)
    write_page(args.out, NAME, with_first_lines(page(found, size), first_lines), command(NAME))


def measure_all(name: str, seed: int, methods: list[str], size: Size, kept: Path) -> None:
    """Measure the methods on one table that are not measured yet."""
    todo = [method for method in methods if not _file(kept, name, seed, method).exists()]
    split = split_of(name, seed, size.most_rows)
    for method in todo:
        by_budget = method != "ADAPT-GBRT"
        result = measure(split, METHODS[method](split, size), by_budget=by_budget, shares=SHARES)
        save(_file(kept, name, seed, method), result)
        accuracy = result["right"].mean(axis=1)
        print(f"{name} {seed} {method:10} {accuracy.round(4)} {result['seconds']:.0f} s", flush=True)


def _file(kept: Path, name: str, seed: int, method: str) -> Path:
    return kept / f"{name}-{seed}-{method}.npz"


def _found(kept: Path, name: str) -> dict[int, dict[str, Any]]:
    """Return what was measured on a table by seed and method, for the seeds that all methods have."""
    found = {}
    for seed in range(100):
        files = {method: _file(kept, name, seed, method) for method in METHODS}
        if all(file.exists() for file in files.values()):
            found[seed] = {method: dict(np.load(file)) for method, file in files.items()}
    return found


def page(found: dict[str, dict[int, dict[str, Any]]], size: Size) -> str:
    """Return the page of all that was measured."""
    sections, overview = [], []
    for name, runs in found.items():
        seeds = sorted(runs)
        n_test = runs[seeds[0]][OURS]["right"].shape[1]
        lines = [[method, *_cells(runs, method)] for method in METHODS]
        heading = f"### {name}: {n_test:,} test rows; seeds {', '.join(map(str, seeds))}"
        sections += [heading, markdown(["method", *BUDGETS, "mean", "seconds"], lines)]
        overview += [[name, rival, *_gaps(runs, rival)] for rival in RIVALS]
    head = HEAD.format(n_rounds=size.n_rounds, n_tradeoffs=size.n_tradeoffs, **SETTINGS)
    table = markdown(["table", "DAG less", *BUDGETS, "mean"], overview)
    return "\n\n".join([head, table, f"![Accuracy against spend]({FIGURE})", *sections]) + "\n"


def _cells(runs: dict[int, dict[str, Any]], method: str) -> list[str]:
    """Return accuracy and spend of a method at each budget, its mean accuracy, and its time."""
    of = [run[method] for run in runs.values()]
    accuracy = np.mean([run["right"].mean(axis=1) for run in of], axis=0)
    spend = np.mean([run["spend"] for run in of], axis=0)
    cells = [f"{a:.4f} ({s:.1%})" for a, s in zip(accuracy, spend, strict=True)]
    return [*cells, f"{accuracy.mean():.4f}", f"{np.mean([run['seconds'] for run in of]):.0f}"]


def _gaps(runs: dict[int, dict[str, Any]], rival: str) -> list[str]:
    """Return how much more accurate DAG is than a rival, at each budget and on average, with errors."""
    gaps = [run[OURS]["right"].astype(float) - run[rival]["right"] for run in runs.values()]
    by_budget = np.mean([gap.mean(axis=1) for gap in gaps], axis=0)
    errors = np.sqrt(np.mean([np.square(row_errors(gap)) for gap in gaps], axis=0) / len(gaps))
    both = zip([*by_budget, by_budget.mean()], errors, strict=True)
    return [f"{gap:+.4f} ± {error:.4f}" for gap, error in both]


def figure(found: dict[str, dict[int, dict[str, Any]]], file: Path) -> None:
    """Draw accuracy against spend on test rows, means over the seeds."""
    fig, axes = plt.subplots(1, len(found), figsize=(5.5 * len(found), 4), squeeze=False)
    for axis, (name, runs) in zip(axes[0], found.items(), strict=True):
        for method, style in zip(METHODS, ("o-", "s--", "^:"), strict=True):
            of = [run[method] for run in runs.values()]
            spend = np.mean([run["spend"] for run in of], axis=0)
            accuracy = np.mean([run["right"].mean(axis=1) for run in of], axis=0)
            axis.plot(100 * spend, accuracy, style, ms=5, label=method)
        axis.set(title=name, xlabel="mean spend, % of all features", ylabel="accuracy")
        axis.grid(alpha=0.3)
        axis.legend(loc="lower right")
    fig.tight_layout()
    fig.savefig(file, dpi=110)
    plt.close(fig)


def first_lines(text: str) -> list[str]:
    """Return where DAG is behind and where it is ahead, from the tables of a page."""
    sections = tables(text)
    overview = sections.pop("")
    lines = []
    for rival in RIVALS:
        behind: list[str] = []
        ahead: list[str] = []
        n_budgets = 0
        for row in overview:
            if row["DAG less"] == rival:
                for budget in BUDGETS:
                    gap, error = (float(part) for part in row[budget].split(" ± "))
                    n_budgets += 1
                    if abs(gap) > error:
                        (behind if gap < 0 else ahead).append(f"{row['table']} at {budget} ({gap:+.4f})")
        lines.append(
            f"By more than a standard error DAG is behind {rival} at {len(behind)} and ahead of it at "
            f"{len(ahead)} of {n_budgets} budgets. Behind: {listed(behind)}. "
            f"Ahead: {listed(ahead)}."
        )
        means = [f"{row['table']} {row['mean']}" for row in overview if row["DAG less"] == rival]
        lines.append(f"Mean over the budgets, accuracy of DAG less that of {rival}: {listed(means)}.")
    idle = [
        f"{name} at {budget}"
        for name, rows in sections.items()
        for budget in BUDGETS
        if any(row["method"] == OURS and row[budget].endswith("(0.0%)") for row in rows)
    ]
    lines.append(f"It buys sensors whole, so there are budgets at which it buys nothing: {listed(idle)}.")
    times = [
        f"{name} {', '.join(row['method'] + ' ' + row['seconds'] for row in rows)}"
        for name, rows in sections.items()
    ]
    lines.append(f"Processor seconds of a fit with its evaluation: {'; '.join(times)}.")
    lines.append(
        "The paper has no curves that these figures could be held against: its tables, splits and "
        "classifiers are not known here. Letter has 4,000 of 20,000 rows."
    )
    return lines


HEAD = """# DAG at mean budgets

Mean accuracy on test rows at mean budgets, as shares of the price of all features. Half of the rows to learn
from, 20 % to choose by, 30 % to test, drawn anew with each seed. All boosters have {n_rounds} rounds of depth
{max_depth}, learning rate {learning_rate}, an L2 penalty of {l2_regularization} and leaves of at least
{min_samples_leaf} rows.

- "DAG": `DAGClassifier`, one fit with the policies of {n_tradeoffs} trade-offs; validation rows choose among
  them, and among thresholds. The four bands of satellite are its sensors, which it buys whole: 10 for a band
  and 1 for each of its nine pixels. The 16 features of letter, 1 each, are put into four subsets that
  complement each other, and the rest: up to 32 states. Its loss and its policies are the defaults, which were
  chosen on samples of covtype and adult.
- "cascade": `MiserCascadeClassifier`, one fit; it may buy single pixels. Validation rows set its exits.
- "ADAPT-GBRT": twelve settings and five further shares of rows sent on, over a forest of all features;
  validation rows choose among them.

The first table has the accuracy of DAG less that of each rival, with its standard error over test rows, in
pairs. In the others a cell is the accuracy on test rows, and in brackets what they spent."""


if __name__ == "__main__":
    main()
