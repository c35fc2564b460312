"""Two currencies: accuracy within caps of money and of minutes on heart disease.

``farthing reproduce resources`` writes docs/results/resources.md, some ten minutes of one core.

The prices are those of the bundled table; the minutes are a list of our own, given on the page, since the
table has none. On each of three splits a front door over trees, boosted trees and cascades learns by money
plus a weight times minutes, for three weights, from 55 % of the rows. A fifth of the rows chooses the best
model within each pair of caps on the means, and the last quarter, looked at once, is what the page shows. The
rival is the same choice among the models that were learned by money alone. Then the caps are made hard: no
test row may pass either, in array calls.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from sklearn.model_selection import train_test_split

from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing import BudgetedClassifier
from farthing.costs import CostSheet, within_budget
from farthing.datasets import load_heart_disease
from farthing.frontier import WeightedPoint, WeightSweep, sweep_weights

NAME: Final = "resources"
# What a test takes of a patient's time, with the time of its group: assumptions of this page.
MINUTES: Final = {
    "costs": {"age": 1, "sex": 1, "cp": 3, "trestbps": 5, "restecg": 10, "ca": 60, "thal": 120, "exang": 1},
    "groups": {"blood": 10, "exercise_ecg": 30, "thallium": 60},
}
CADS: Final = (10, 50, 120, 250)
MINUTES_CAPS: Final = (10, 45, 90, 240)
METHODS: Final = ("BudgetTreeClassifier", "GreedyMiserClassifier", "MiserCascadeClassifier")


def prices() -> CostSheet:
    """Return the prices of the table with the minutes."""
    sheet = load_heart_disease().costs
    own = dict(zip(sheet.features, sheet.own.tolist(), strict=True))
    return CostSheet(own, sheet.groups, sheet.unit, resources={"minutes": MINUTES})


def measure(seed: int, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Return accuracy and spends on the test rows of one split, for each pair of caps."""
    data, sheet = load_heart_disease(), prices()
    y = np.asarray(data.y)
    learn, test = train_test_split(np.arange(len(y)), test_size=0.25, random_state=seed, stratify=y)
    door = BudgetedClassifier(methods=list(methods), cv=3, random_state=0, n_jobs=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = sweep_weights(
            door, data.X.iloc[learn], y[learn], costs=sheet, held_out=4 / 15, random_state=seed
        )
    alone = WeightSweep(sheet, [point for point in found.points if not any(point.weights.values())])
    figures = []
    for cad in CADS:
        for minutes in MINUTES_CAPS:
            caps = {sheet.unit: float(cad), "minutes": float(minutes)}
            rows = data.X.iloc[test], y[test]
            ours, rival = _tested(found, caps, *rows), _tested(alone, caps, *rows)
            figures.append({"seed": seed, "cad": cad, "minutes": minutes, "ours": ours, "alone": rival})
    return figures


def _tested(found: WeightSweep, caps: dict[str, float], X: Any, y: Any) -> dict[str, Any]:
    """Return what the best model within the caps does on test rows, and again with the caps made hard."""
    try:
        point: WeightedPoint | None = found.within(caps)
    except LookupError:
        point = None
    if point is None:
        return {"accuracy": float(max(np.mean(y), 1 - np.mean(y))), "weight": None, "spends": {}, "hard": {}}
    plain, hard = point.model.decide(X), point.model.decide(X, budget=caps)
    sheets = point.model.fitted_.costs.resources
    taken = {name: sheets[name].total_rows(hard.acquired) for name in caps}
    passed = [name for name, cap in caps.items() if not within_budget(taken[name], cap).all()]
    return {
        "accuracy": float(np.mean(plain.prediction == y)),
        "weight": point.weights["minutes"],
        "spends": {name: float(np.mean(sheets[name].total_rows(plain.acquired))) for name in caps},
        "hard": {
            "accuracy": float(np.mean(hard.prediction == y)),
            "most": {name: float(each.max()) for name, each in taken.items()},
            "passed": passed,
        },
    }


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    cells = sorted({(one["cad"], one["minutes"]) for one in results})
    means = {cell: [one for one in results if (one["cad"], one["minutes"]) == cell] for cell in cells}
    rows, better, worse, n_passed = [], 0, 0, 0
    for (cad, minutes), those in means.items():
        ours = float(np.mean([one["ours"]["accuracy"] for one in those]))
        alone = float(np.mean([one["alone"]["accuracy"] for one in those]))
        hard = [one["ours"]["hard"] for one in those if one["ours"]["hard"]]
        n_passed += sum(bool(one["passed"]) for one in hard)
        better, worse = better + (ours > alone + 1e-9), worse + (ours < alone - 1e-9)
        spends = [one["ours"]["spends"] for one in those if one["ours"]["spends"]]
        took = [
            f"{np.mean([each[name] for each in spends]):.1f}" if spends else "" for name in _caps(those[0])
        ]
        rows.append(
            [
                cad, minutes, f"{ours:.3f}", f"{alone:.3f}", *took,
                f"{np.mean([one['accuracy'] for one in hard]):.3f}" if hard else "",
            ]
        )  # fmt: skip
    over = sum(
        any(one["ours"]["spends"][name] > cap * (1 + 1e-12) for name, cap in _caps(one).items())
        for one in results
        if one["ours"]["spends"]
    )
    seeds = sorted({one["seed"] for one in results})
    gains = [
        np.mean([o["ours"]["accuracy"] - o["alone"]["accuracy"] for o in results if o["seed"] == seed])
        for seed in seeds
    ]
    error = float(np.std(gains, ddof=1) / np.sqrt(len(gains))) if len(gains) > 1 else float("nan")
    first = (
        "What does not hold: the models were chosen within the caps on the means on other rows, and "
        f"{over} of {len(results)} pass a cap on the test rows. Learning by money and minutes is better than "
        f"learning by money alone in {better} of {len(cells)} cells and worse in {worse}: "
        f"{np.mean(gains):+.4f} on average, with a standard error over splits of {error:.4f}. With the caps "
        f"made hard, {n_passed} of {len(results)} models passed one."
    )
    listed = ", ".join(f"{name} {amount}" for name, amount in MINUTES["costs"].items())
    shared = ", ".join(f"{name} {amount}" for name, amount in MINUTES["groups"].items())
    return "\n\n".join(
        [
            "# Two currencies: money and minutes on heart disease",
            first,
            f"Minutes are assumptions of this page: {listed}; shared by a group: {shared}; others none. Caps "
            "are on the mean of a row, the last column has the accuracy with hard caps on every row, by "
            '`model.decide(X, budget={"CAD": ..., "minutes": ...})`. Where no model is within the caps, '
            "the prior is counted.",
            markdown(
                ["CAD", "minutes", "accuracy", "by money alone", "mean CAD", "mean minutes", "hard caps"],
                rows,
            ),
            f"Means over {len({one['seed'] for one in results})} splits; test rows were looked at once.",
        ]
    )


def _caps(one: dict[str, Any]) -> dict[str, float]:
    return {"CAD": float(one["cad"]), "minutes": float(one["minutes"])}


def kept(folder: Path, seed: int, methods: Sequence[str]) -> list[dict[str, Any]]:
    """Measure one split, unless that is done."""
    done = folder / f"{seed}_{len(methods)}.json"
    if not done.exists():
        done.write_text(json.dumps(measure(seed, methods)))
        print(f"split {seed}: done", flush=True)
    return list(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all splits and write the page."""
    args = parse(options(__doc__), NAME, arguments)
    seeds, methods = ((0,), METHODS[:1]) if args.tiny else ((0, 1, 2), METHODS)
    results = [figures for seed in seeds for figures in kept(args.kept, seed, methods)]
    write_page(args.out, NAME, page(results), command(NAME))


if __name__ == "__main__":
    main()
