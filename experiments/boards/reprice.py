"""Models moved to other prices beside new fits at them: accuracy and spend on new rows.

``farthing reproduce reprice`` writes docs/results/reprice.md, a few minutes of one core. FARTHING_DATA must
name the folder of the tables that are not bundled; see `farthing.datasets.load_table`.

A draw multiplies each price by a factor between 0.5 and 1.5, and splits the table. Models are fitted at the
old prices with a mean budget of 15 % of the price of all features. ``reprice`` moves them to the new prices,
and so does a new fit on the same rows; both keep the same budget in money.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np

from experiments.boards.guarantees import MOST_LEARN, SHARES, TABLES, load
from experiments.lib.pages import command, markdown, options, parse, write_page
from farthing.cascades import MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.forests import PrunedForestClassifier
from farthing.report import reprice_loss

NAME: Final = "reprice"
SHARE: Final = SHARES[0]
METHODS: Final[dict[str, Callable[[CostSheet, float, int], Any]]] = {
    "miser cascade": lambda costs, budget, seed: MiserCascadeClassifier(
        costs, budget, n_estimators=30, n_stages=8, random_state=seed, n_jobs=1
    ),
    "pruned forest": lambda costs, budget, seed: PrunedForestClassifier(
        costs, budget, n_estimators=20, growth_tradeoff=0.1, random_state=seed, n_jobs=1
    ),
}


def measure(table: str, method: str, seed: int) -> dict[str, Any]:
    """Return accuracies, and spends as shares of the budget, of one draw."""
    X, y, costs = load(table)
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(y))
    n_learn = min(len(y) // 2, MOST_LEARN)
    learn, new = order[:n_learn], order[n_learn : n_learn + 4000]
    prices = CostSheet(costs.own * rng.uniform(0.5, 1.5, len(costs.own)))
    budget = SHARE * costs.total(costs.features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = METHODS[method](costs, budget, seed).fit(X[learn], y[learn])
        found = reprice_loss(model, prices, (X[learn], y[learn]), (X[new], y[new]))
    # What the model spends if nobody tells it of the new prices.
    stale = float(prices.total_rows(model.acquired(X[new])).mean())
    return {
        "table": table,
        "method": method,
        "seed": seed,
        "stale": stale / budget,
        "moved": found.spend / budget,
        "refit": found.refit_spend / budget,
        "stale_score": float(model.score(X[new], y[new])),
        "moved_score": found.score,
        "refit_score": found.refit_score,
    }


def page(results: Sequence[dict[str, Any]]) -> str:
    """Return the page in Markdown."""
    pairs = list(dict.fromkeys((one["table"], one["method"]) for one in results))
    rows, worse = [], []
    for table, method in pairs:
        own = [one for one in results if (one["table"], one["method"]) == (table, method)]
        losses = np.array([one["refit_score"] - one["moved_score"] for one in own])
        error = float(losses.std(ddof=1) / np.sqrt(len(losses))) if len(losses) > 1 else float("nan")
        if losses.mean() > 2 * error:
            worse.append(f"{method} on {table} ({losses.mean():+.4f})")
        means = {key: np.mean([one[key] for one in own]) for key in own[0] if isinstance(own[0][key], float)}
        rows.append(
            [
                table, method, len(own),
                *(f"{means[key + '_score']:.4f} / {means[key]:.2f}" for key in ("stale", "moved", "refit")),
                f"{losses.mean():+.4f} +- {error:.4f}",
            ]
        )  # fmt: skip
    over = {key: np.mean([one[key] > 1 for one in results]) for key in ("stale", "moved", "refit")}
    lost = np.mean([one["refit_score"] - one["moved_score"] for one in results])
    first = (
        f"What does not hold: a new fit is better by more than two standard errors for {', '.join(worse)}. "
        if worse
        else "Nowhere is a new fit better by more than two standard errors. "
    )
    text = [
        "# Prices change: models moved to the new ones, and new fits",
        f"{first}On average a new fit gains {lost:+.4f} of accuracy. The spend on new rows is over the "
        f"budget in {over['moved']:.2f} of the draws for moved models, {over['refit']:.2f} for new fits, and "
        f"{over['stale']:.2f} for models that are left as they were.",
        markdown(
            ["table", "method", "draws", "left as it was", "moved", "new fit", "loss against a new fit"], rows
        ),
        "Accuracy / mean spend over the budget, on new rows. Each price is multiplied by a factor between "
        f"0.5 and 1.5; the budget is {100 * SHARE:g} % of the price of all features before that. A moved "
        "model keeps its trees, and the stages and prunings that the old prices led to; only where rows "
        "leave, or which of the prunings is taken, is chosen anew. A new fit also learns what to buy.",
    ]
    return "\n\n".join(text)


def kept(folder: Path, table: str, method: str, seed: int) -> dict[str, Any]:
    """Measure one draw, unless that is done."""
    done = folder / f"{table}_{method.replace(' ', '_')}_{seed}.json"
    if not done.exists():
        done.write_text(json.dumps(measure(table, method, seed)))
    return dict(json.loads(done.read_text()))


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure all draws and write the page."""
    parser = options(__doc__)
    parser.add_argument("--draws", type=int, default=10)
    args = parse(parser, NAME, arguments)
    tables, n_draws = (("heart",), 2) if args.tiny else (TABLES, args.draws)
    results = [
        kept(args.kept, table, method, seed)
        for table in tables
        for method in METHODS
        for seed in range(n_draws)
    ]
    given = [] if args.tiny or n_draws == 10 else ["--draws", n_draws]
    write_page(args.out, NAME, page(results), command(NAME, *given))


if __name__ == "__main__":
    main()
