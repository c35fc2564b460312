"""Budgets with a guarantee and without: how often they are broken on new rows, and what the guarantee costs.

``farthing reproduce guarantees`` writes docs/results/guarantees.md, some twenty minutes of one core.
FARTHING_DATA must name the folder of the tables that are not bundled; see `farthing.datasets.load_table`.

A seed splits a table into rows to learn from, of which a fit with a guarantee keeps a quarter for its test,
and new rows, at least half of the table. The miser cascade is fitted with a mean budget on all rows to learn
from, and with ``Guarantee(budget, confidence=0.9)``. A budget is broken if the mean spend on the new rows is
above it. The new rows are finite, too, and are what is left of the table rather than new draws, so this is an
estimate of how often the mean over all rows is above it.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from experiments.boards.reasons import load as load_numbers
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing import Guarantee
from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.datasets import load_bupa_liver, load_heart_disease, load_hepatitis, load_pima_diabetes
from farthing.errors import GuaranteeError

NAME: Final = "guarantees"
SHARE: Final = 0.15
CONFIDENCE: Final = 0.9
WANTED: Final = 200
# Small fits, since there are 2,400 of them.
MOST_LEARN: Final = 1000
SIZE: Final[dict[str, Any]] = {"n_estimators": 20, "n_stages": 6, "n_jobs": 1}
BUNDLED: Final = {
    "heart": load_heart_disease,
    "pima": load_pima_diabetes,
    "bupa": load_bupa_liver,
    "hepatitis": load_hepatitis,
}
TABLES: Final = ("heart", "pima", "bupa", "hepatitis", "thyroid", "satellite")


def load(name: str) -> tuple[NDArray[Any], NDArray[Any], CostSheet]:
    """Return a table as numbers, categories as codes, its labels and prices without groups."""
    if name not in BUNDLED:
        return load_numbers(name)
    data = BUNDLED[name]()
    frame = data.X
    columns = [frame[column] for column in frame.columns]
    codes = [c.cat.codes if c.dtype.name == "category" else c for c in columns]
    X = np.column_stack([np.asarray(c, dtype=np.float64) for c in codes])
    return X, np.asarray(data.y), CostSheet(data.costs.own)


def measure(table: str, seed: int) -> dict[str, Any]:
    """Fit both ways on one split; return spends as shares of the budget, and accuracies, on new rows."""
    X, y, costs = load(table)
    order = np.random.default_rng(seed).permutation(len(y))
    n_learn = min(len(y) // 2, MOST_LEARN)
    learn, new = order[:n_learn], order[n_learn : n_learn + 4000]
    budget = SHARE * costs.total(costs.features)
    plain = MiserCascadeClassifier(costs, budget, random_state=seed, **SIZE)
    sure = MiserCascadeClassifier(
        costs,
        guarantee=Guarantee(budget=budget, confidence=CONFIDENCE),
        random_state=seed,
        **SIZE,
    )
    found: dict[str, Any] = {"table": table, "seed": seed, "n_learn": n_learn, "n_new": len(new)}
    for name, model in (("plain", plain), ("sure", sure)):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                model.fit(X[learn], y[learn])
            except GuaranteeError:
                found[name] = None
                continue
        spent = float(np.mean(model.spend(X[new])))
        found[name] = {"share": spent / budget, "accuracy": float(model.score(X[new], y[new]))}
    return found


def row_of(results: Sequence[dict[str, Any]], table: str) -> list[object]:
    """Return the line of a table."""
    own = [one for one in results if one["table"] == table]
    cells: list[object] = [table, own[0]["n_learn"], len(own)]
    for name in ("plain", "sure"):
        given = [one[name] for one in own if one[name] is not None]
        if not given:
            return [*cells, *["none given"] * 8][:11]
        shares = np.array([one["share"] for one in given])
        cells += [
            f"{np.mean(shares > 1):.3f} ({int((shares > 1).sum())} of {len(given)})",
            f"{shares.max():.2f}",
            f"{shares.mean():.2f}",
            f"{np.mean([one['accuracy'] for one in given]):.4f}",
        ]
    return cells


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    tables = [table for table in TABLES if any(one["table"] == table for one in results)]
    given = [one for one in results if one["sure"] is not None]
    broken = {t: np.mean([o["sure"]["share"] > 1 for o in given if o["table"] == t] or [0.0]) for t in tables}
    over = [f"{t} ({100 * share:.1f} %)" for t, share in broken.items() if share > 1 - CONFIDENCE + 1e-9]
    n_refused = len(results) - len(given)
    costs = [one["plain"]["accuracy"] - one["sure"]["accuracy"] for one in given]
    used = [np.mean([one[name]["share"] for one in given]) for name in ("plain", "sure")]
    n_broken = sum(one["sure"]["share"] > 1 for one in given)
    n_over = sum(one["plain"]["share"] > 1 for one in results)
    first = (
        f"What does not hold: the guarantee is broken in more than {100 * (1 - CONFIDENCE):.0f} % of splits "
        f"of {', '.join(over)}. "
        if over
        else f"On no table is the guarantee broken in more than {100 * (1 - CONFIDENCE):.0f} % of splits. "
    )
    n_splits = min(sum(one["table"] == table for one in results) for table in tables)
    few = f"Not shown yet: {WANTED} splits of each table; here are {n_splits}. " if n_splits < WANTED else ""
    text = [
        "# Budgets that hold on new rows",
        f"{few}{first}Over all tables: broken in {n_broken} of {len(given)} splits with the guarantee "
        f"(confidence {CONFIDENCE:g}), in {n_over} of {len(results)} without. It costs {np.mean(costs):.4f} "
        f"of accuracy on average, and uses {used[1]:.2f} of the budget in place of {used[0]:.2f}; a part of "
        f"that is a quarter of the rows, which it does not learn from. In {n_refused} splits there "
        "were too few rows to certify any variant, and the fit said so.",
        markdown(
            [
                "table", "rows", "splits", "over, without", "highest share", "mean share", "accuracy",
                "over, guaranteed", "highest share", "mean share", "accuracy",
            ],
            [row_of(results, table) for table in tables],
        ),
        f"Miser cascade, {SIZE['n_estimators']} rounds and {SIZE['n_stages']} stages; the budget is "
        f"{100 * SHARE:g} % of the price of all "
        "features. Shares are mean spends on new rows over the budget. Prices are without groups.",
    ]  # fmt: skip
    return "\n\n".join(text)


def kept(folder: Path, table: str, seed: int) -> dict[str, Any]:
    """Measure one split, unless that is done."""
    done = folder / f"{table}_{seed}.json"
    if not done.exists():
        done.write_text(json.dumps(measure(table, seed)))
        if seed % 10 == 0:
            print(f"{table}, seed {seed}: done", flush=True)
    return dict(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all splits and write the page."""
    parser = options(__doc__)
    parser.add_argument("--splits", type=int, default=WANTED)
    parser.add_argument("--large", type=int, help="splits of the two large tables (as many)")
    args = parse(parser, NAME, arguments)
    tables, n_splits = (("heart",), 1) if args.tiny else (TABLES, args.splits)
    large = n_splits if args.large is None else args.large
    results = [
        kept(args.kept, table, seed)
        for table in tables
        for seed in range(n_splits if table in BUNDLED else large)
    ]
    given = [] if args.tiny or n_splits == WANTED else ["--splits", n_splits]
    given += [] if args.large is None else ["--large", args.large]
    write_page(args.out, NAME, page(results), command(NAME, *given))


if __name__ == "__main__":
    main()
