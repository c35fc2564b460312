"""Guarantees of a budget and of an agreement: how often they are broken on new rows, and what they cost.

``farthing reproduce guarantees`` writes docs/results/guarantees.md, some forty minutes of one core.
FARTHING_DATA must name the folder of the tables that are not bundled; see `farthing.datasets.load_table`.

A seed splits a table into rows to learn from, of which a quarter is kept for the test of the guarantee, and
new rows, at least half of the table. The miser cascade is fitted once, on the other three quarters, and
serves both ways: aimed at the mean budget by its own held-out scores, and with the variant that
``Guarantee(budget, confidence=0.9)`` certifies, as in a fit with that guarantee. A second fit, on all rows to
learn from, is the one without a guarantee; what it gains is the price of keeping rows. A budget is broken if
the mean spend on the new rows is above it. The new rows are finite, too, and are what is left of the table
rather than new draws, so this is an estimate of how often the mean over all rows is above it.

The same fit with ``Guarantee(agreement=0.95, confidence=0.9)`` is compared with the cheapest variant that
agrees on 0.95 of the rows of the test, which is what one would take who does not know how far they are off.
"""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from experiments.boards.reasons import load as load_numbers
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing import Guarantee, certify
from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.datasets import load_bupa_liver, load_heart_disease, load_hepatitis, load_pima_diabetes
from farthing.errors import GuaranteeError
from farthing.learning.guarantees.ladders import by_spend

NAME: Final = "guarantees"
#: Budgets, as shares of the price of all features.
SHARES: Final = (0.15, 0.3)
CONFIDENCE: Final = 0.9
#: Share of rows whose label shall be that of the model without a budget.
AGREEMENT: Final = 0.95
WANTED: Final = 200
# Small fits, since there are 2,400 of them; the rows of a table are few, too.
MOST_LEARN: Final = 1000
SIZE: Final[dict[str, Any]] = {"n_estimators": 20, "n_stages": 6, "n_jobs": 1}
BUNDLED: Final = {
    "heart": load_heart_disease,
    "pima": load_pima_diabetes,
    "bupa": load_bupa_liver,
    "hepatitis": load_hepatitis,
}
#: Both fits without the guarantee, and the variant with it.
WAYS: Final = {"plain": "without", "same fit": "same fit", "sure": "guaranteed"}
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
    """Fit on one split; return spends as shares of each budget, and accuracies, on new rows."""
    X, y, costs = load(table)
    order = np.random.default_rng(seed).permutation(len(y))
    n_learn = min(len(y) // 2, MOST_LEARN)
    learn, new = order[:n_learn], order[n_learn : n_learn + 4000]
    sure = Guarantee(budget=1.0, confidence=CONFIDENCE)
    tested, learned = np.split(learn, [round(sure.holdout * n_learn)])
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        whole = cascade(costs, seed).fit(X[learn], y[learn])
        part = cascade(costs, seed).fit(X[learned], y[learned])
    found: dict[str, Any] = {"table": table, "seed": seed, "n_learn": n_learn, "n_tested": len(tested)}
    for share in SHARES:
        budget = share * costs.total(costs.features)
        try:
            kept = certify(part, X[tested], replace(sure, budget=budget), learned=X[learned])
        except GuaranteeError:
            kept = None
        models = {"plain": whole.at(budget), "same fit": part.at(budget), "sure": kept}
        found[str(share)] = {
            name: None if model is None else judged(model, X[new], y[new], budget)
            for name, model in models.items()
        }
        found[str(share)]["most"] = most_within(part, X[new], replace(sure, budget=budget))
    found["agreement"] = agreement(part, X[learned], X[tested], X[new], y[new])
    return {**found, "seconds": time.process_time() - start}


def cascade(costs: CostSheet, seed: int) -> MiserCascadeClassifier:
    """Return the cascade of one split."""
    return MiserCascadeClassifier(costs, random_state=seed, **SIZE)


def judged(model: MiserCascadeClassifier, X: Any, y: Any, budget: float) -> dict[str, float]:
    """Return the mean spend over the budget, and the accuracy."""
    found = model.decide(X)
    return {"share": float(found.spent.mean()) / budget, "accuracy": float(np.mean(found.prediction == y))}


def most_within(model: MiserCascadeClassifier, X: Any, guarantee: Guarantee) -> float:
    """Return the share of the budget that the variants could use by one who knows what new rows spend."""
    assert guarantee.budget is not None
    ladder = model.guarantee_ladder(guarantee)
    spends = [float(ladder.make(rung).spend(X).mean()) for rung in ladder.rungs]
    return max([spend for spend in spends if spend <= guarantee.budget], default=0.0) / guarantee.budget


def agreement(model: MiserCascadeClassifier, learned: Any, tested: Any, X: Any, y: Any) -> dict[str, Any]:
    """Return what the guaranteed and the plugged-in variant do on new rows, beside the whole model."""
    guarantee = Guarantee(agreement=AGREEMENT, confidence=CONFIDENCE)
    whole = model.at(None)
    ladder = by_spend(model.guarantee_ladder(guarantee), learned)
    variants = [ladder.make(rung) for rung in ladder.rungs]
    expected = whole.predict(tested)
    plugged = (one for one in variants if np.mean(one.predict(tested) == expected) >= AGREEMENT)
    models = {
        "same fit": next(plugged, whole),
        "sure": certify(model, tested, guarantee, learned=learned),
        "whole": whole,
    }
    decided = {name: one.decide(X) for name, one in models.items()}
    labels, full = decided["whole"].prediction, float(decided["whole"].spent.mean())
    return {
        name: {
            "agreed": float(np.mean(found.prediction == labels)),
            "share": float(found.spent.mean()) / full if full else 1.0,
            "accuracy": float(np.mean(found.prediction == y)),
            "is_whole": models[name].budget is None,
        }
        for name, found in decided.items()
    }


def agreement_row(results: Sequence[dict[str, Any]], table: str) -> list[object]:
    """Return the line of a table in the section on agreement."""
    own = [one for one in results if one["table"] == table]
    cells: list[object] = [table, own[0]["n_tested"], len(own)]
    for name in ("same fit", "sure"):
        given = [one["agreement"][name] for one in own]
        n_broken = sum(one["agreed"] < AGREEMENT for one in given)
        cells += [
            f"{n_broken / len(given):.3f} ({n_broken} of {len(given)})",
            f"{min(one['agreed'] for one in given):.3f}",
            f"{np.mean([one['share'] for one in given]):.2f}",
            f"{np.mean([one['accuracy'] for one in given]):.4f}",
        ]
    cells.append(f"{np.mean([one['agreement']['whole']['accuracy'] for one in own]):.4f}")
    cells.append(sum(one["agreement"]["sure"]["is_whole"] for one in own))
    return cells


def agreement_verdict(results: Sequence[dict[str, Any]], tables: Sequence[str]) -> tuple[list[str], str]:
    """Return the tables where the agreement is broken too often, and what it costs over all tables."""
    given = [one | one["agreement"] for one in results]
    over = []
    for table in tables:
        broken = np.mean([one["sure"]["agreed"] < AGREEMENT for one in given if one["table"] == table])
        if broken > 1 - CONFIDENCE + 1e-9:
            over.append(f"{table} for the agreement ({100 * broken:.1f} %)")
    n_broken = {name: sum(one[name]["agreed"] < AGREEMENT for one in given) for name in ("sure", "same fit")}
    n_whole = sum(one["sure"]["is_whole"] for one in given)
    text = (
        f"At an agreement of {AGREEMENT:g}: broken in {n_broken['sure']} of {len(given)} splits with the "
        f"guarantee, in {n_broken['same fit']} by the cheapest variant that agrees so often on the rows of "
        f"the test. It spends {over_tables(given, 'sure', 'share'):.2f} of what the whole model does, that "
        f"variant {over_tables(given, 'same fit', 'share'):.2f}. In {n_whole} splits the rows were too few "
        "to certify any other than the whole model."
    )
    return over, text


def row_of(results: Sequence[dict[str, Any]], table: str, share: float) -> list[object]:
    """Return the line of a table and a budget."""
    own = [one for one in results if one["table"] == table]
    cells: list[object] = [table, own[0]["n_learn"], own[0]["n_tested"], len(own)]
    for name in WAYS:
        given = [one[str(share)][name] for one in own if one[str(share)][name] is not None]
        if not given:
            return [*cells, *["none given"] * 4 * len(WAYS)][: 5 + 4 * len(WAYS)]
        shares = np.array([one["share"] for one in given])
        cells += [
            f"{np.mean(shares > 1):.3f} ({int((shares > 1).sum())} of {len(given)})",
            f"{shares.max():.2f}",
            f"{shares.mean():.2f}",
            f"{np.mean([one['accuracy'] for one in given]):.4f}",
        ]
    cells.append(f"{np.mean([one[str(share)]['most'] for one in own]):.2f}")
    return cells


def over_tables(given: Sequence[dict[str, Any]], name: str, what: str) -> float:
    """Return the mean over the tables, each of which counts once."""
    tables = {one["table"] for one in given}
    return float(
        np.mean([np.mean([one[name][what] for one in given if one["table"] == table]) for table in tables])
    )


def verdict(results: Sequence[dict[str, Any]], share: float, tables: Sequence[str]) -> tuple[list[str], str]:
    """Return the tables where a guarantee is broken too often, and what it costs over all tables."""
    given = [one | one[str(share)] for one in results if one[str(share)]["sure"] is not None]
    over = []
    for table in tables:
        broken = [one["sure"]["share"] > 1 for one in given if one["table"] == table]
        if broken and np.mean(broken) > 1 - CONFIDENCE + 1e-9:
            over.append(f"{table} at {share:g} ({100 * np.mean(broken):.1f} %)")
    used = {name: over_tables(given, name, "share") for name in WAYS}
    right = {name: over_tables(given, name, "accuracy") for name in WAYS}
    by_table = [
        np.mean([one[str(share)]["most"] for one in results if one["table"] == table]) for table in tables
    ]
    most = float(np.mean(by_table))
    n_broken = sum(one["sure"]["share"] > 1 for one in given)
    n_over = sum(one[str(share)]["plain"]["share"] > 1 for one in results)
    text = (
        f"At a budget of {share:g} of the price of all features: broken in {n_broken} of {len(given)} splits "
        f"with the guarantee (confidence {CONFIDENCE:g}), in {n_over} of {len(results)} without. "
        f"On average over the tables it uses "
        f"{used['sure']:.2f} of the budget, where one who knew what new rows spend could use {most:.2f} by "
        f"the same variants; without it the same fit uses {used['same fit']:.2f}, and one on "
        f"all rows {used['plain']:.2f}. It costs {right['same fit'] - right['sure']:.4f} of accuracy by the "
        f"test and {right['plain'] - right['same fit']:.4f} by the rows that are kept for it. In "
        f"{len(results) - len(given)} splits there were too few rows to certify any variant, and it said so."
    )
    return over, text


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    tables = [table for table in TABLES if any(one["table"] == table for one in results)]
    counts = [sum(one["table"] == table for one in results) for table in tables]
    found = [verdict(results, share, tables) for share in SHARES]
    found.append(agreement_verdict(results, tables))
    over = [one for names, _ in found for one in names]
    percent = f"{100 * (1 - CONFIDENCE):.0f} %"
    first = (
        f"What does not hold: the guarantee is broken in more than {percent} of splits of {', '.join(over)}. "
        if over
        else f"On no table is a guarantee broken in more than {percent} of splits. "
    ) + "What it costs is a part of the budget, which stays unused, and some accuracy."
    few = ""
    if min(counts) < WANTED:
        few = f"Not shown yet: {WANTED} splits of each table; here are {min(counts)} to {max(counts)}. "
    heads = ["over", "highest share", "mean share", "accuracy"]
    text = [
        "# Budgets that hold on new rows",
        few + first,
        "\n".join(f"- {words}" for _, words in found),
    ]
    for share in SHARES:
        text += [
            f"## Budget: {share:g} of the price of all features",
            markdown(
                [
                    "table", "rows", "of them tested", "splits",
                    *[f"{head}, {WAYS[name]}" for name in WAYS for head in heads],
                    "most within",
                ],
                [row_of(results, table, share) for table in tables],
            ),
        ]  # fmt: skip
    heads = ["broken", "least agreement", "share of the whole spend", "accuracy"]
    text += [
        f"## Agreement: the label of the model without a budget on {AGREEMENT:g} of rows",
        markdown(
            [
                "table", "of them tested", "splits",
                *[f"{head}, {WAYS[name]}" for name in ("same fit", "sure") for head in heads],
                "accuracy, whole model", "whole model certified",
            ],
            [agreement_row(results, table) for table in tables],
        ),
    ]  # fmt: skip
    text.append(
        f"Miser cascade, {SIZE['n_estimators']} rounds and {SIZE['n_stages']} stages. Shares are mean spends "
        "on new rows over the budget. Prices are without groups. A split takes "
        f"{np.mean([one['seconds'] for one in results]):.2f} seconds of one core on average. Of few rows no "
        "test can certify much: if a row may spend the price of all features, nobody knows from 20 rows that "
        'one in ten does not. "Most within" is the largest share of the budget that a variant of the test '
        "uses without being above it on the new rows themselves; the rest is lost since rows of the same "
        "risk all go on, or none does. On bupa the cheapest feature costs more than the smaller budget, so "
        "that no "
        "cascade spends between nothing and too much."
    )
    return "\n\n".join(text)


def place(folder: Path, table: str, seed: int) -> Path:
    """Return the file of one split."""
    return folder / f"{table}_{seed}_agreed.json"


def kept(folder: Path, table: str, seed: int) -> dict[str, Any]:
    """Measure one split, unless that is done."""
    done = place(folder, table, seed)
    if not done.exists():
        done.write_text(json.dumps(measure(table, seed)))
        if seed % 10 == 0:
            print(f"{table}, seed {seed}: done", flush=True)
    return dict(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all splits and write the page."""
    parser = options(__doc__)
    parser.add_argument("--splits", type=int, default=WANTED)
    parser.add_argument(
        "--done", action="store_true", help="write the page of the splits that are measured already"
    )
    args = parse(parser, NAME, arguments)
    tables, n_splits = (("heart",), 1) if args.tiny else (TABLES, args.splits)
    wanted = [
        (table, seed)
        for table in tables
        for seed in range(n_splits)
        if not args.done or place(args.kept, table, seed).exists()
    ]
    results = [kept(args.kept, table, seed) for table, seed in wanted]
    given = [] if args.tiny or n_splits == WANTED else ["--splits", n_splits]
    write_page(args.out, NAME, page(results), command(NAME, *given, *["--done"] * args.done))


if __name__ == "__main__":
    main()
