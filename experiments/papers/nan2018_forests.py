"""Nan's thesis (2018), chapters 3 and 4: BudgetRF and BudgetPrune beside the published numbers.

``farthing reproduce nan2018_forests`` writes docs/results/nan2018_forests.md and the figures beside it. What
has been computed is kept, so a run that was stopped goes on. ``--parts figure3.4`` runs some parts alone and
takes the others from the page that is there; with ``--parts`` alone nothing is run and the text is written
anew. FARTHING_DATA must name the folder of the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import numpy as np

from experiments.lib.claims import failing_first
from experiments.lib.forest_cases import FORESTS, PEER, Runs
from experiments.lib.forest_claims import (
    early_claims,
    growth_claims,
    price_claims,
    pruning_claims,
    rival_claims,
    split_claims,
    subset_claims,
    tree_claims,
    usage_claims,
)
from experiments.lib.forest_figures import (
    N_BUDGETS,
    beside_figure_4_3,
    figure_3_3,
    figure_3_4,
    figure_4_3,
    figure_4_4,
    figure_4_5,
    figure_4_6,
)
from experiments.lib.forest_rivals import ALPHAS as THESIS_ALPHAS
from experiments.lib.forest_rivals import DEPTHS, MISER_TRADEOFFS, PARTS, RATES, SETTINGS
from experiments.lib.forest_runs import ALPHAS, ENTROPIES, IMPURITIES, Cache, Size, Task, forest
from experiments.lib.pages import RESULTS, command, options, parse, write_page
from experiments.lib.single_trees import PIMA, TABLES, UNAVAILABLE
from experiments.lib.stored_pages import StoredPage, restate, tables
from farthing.forests import prune_path
from farthing.report import audit

NAME: Final = "nan2018_forests"
PAGE: Final = Path(__file__).with_suffix(".md")

# Table 3.1 of the thesis: percentage of the features used, and test error, at 1, 10, 20 and 40 trees.
COUNTS: Final = (1, 10, 20, 40)
PUBLISHED: Final = {
    "miniboone_tiny": {
        "RF(Gini)": "27.32 (0.1278), 85.06 (0.0803), 94.83 (0.0730), 98.42 (0.0693)",
        "RF(entropy)": "20.67 (0.1230), 75.54 (0.0775), 90.35 (0.0713), 97.54 (0.0680)",
        "BudgetRF": "16.40 (0.1241), 57.80 (0.0786), 73.57 (0.0721), 86.78 (0.0689)",
    },
    "covtype": {
        "RF(Gini)": "22.57 (0.2107), 63.04 (0.1307), 70.76 (0.1238), 76.63 (0.1196)",
        "RF(entropy)": "21.68 (0.2045), 63.56 (0.1313), 72.37 (0.1239), 79.34 (0.1200)",
        "BudgetRF": "11.37 (0.2122), 23.21 (0.1364), 25.92 (0.1232), 29.01 (0.1156)",
    },
}
CHOSEN: Final = "BudgetRF, chosen"
TINY: Final = Size(n_estimators=2, miser_trees=3, n_settings=1)
TINY_SHRINK: Final = 400
# Where the stored page has the figures of each part: field, heading, and the words around it.
STORED: Final = {
    "table3.1": (
        ("large", "## Table 3.1", "covtype:", "MiniBooNE (miniboone_tiny):"),
        ("mini", "## Table 3.1", "MiniBooNE (miniboone_tiny):", '"RF" draws'),
    ),
    "table4.1": (("usage", "## Table 4.1", "", "The pruning is"),),
    "figure3.3": (
        ("against", "## Figure 3.3", "3_3.png)", "One seed."),
        ("beside", "## Figure 3.3", "at the same cost:", "Published points"),
    ),
    "figure3.4": (("trees", "## Figure 3.4", "3_4.png)", "Errors are on"),),
    "figure4.3": (
        ("pruned_mini", "## Figure 4.3", "\nminiboone_tiny:", "\ncovtype:"),
        ("pruned_large", "## Figure 4.3", "\ncovtype:", "Two more rivals"),
    ),
    "figure4.3-rivals": (
        ("more_mini", "## Figure 4.3", "miniboone_tiny, one seed:", "covtype, one seed:"),
        ("more_large", "## Figure 4.3", "covtype, one seed:", ""),
    ),
    "figure4.4": (("prices", "## Figure 4.4", "4_4.png)", "The same forests"),),
    "figure4.5": (("splits", "## Figure 4.5", "4_5.png)", "The forests before"),),
    "figure4.6": (("subsets", "## Figure 4.6", "for each split.", "BudgetPrune has"),),
}


# ---- tables ------------------------------------------------------------------------------------------------


def table_3_1(runs: Runs, table: str, n_seeds: int) -> str:
    """Return the table in Markdown, the thesis's lines above ours."""
    lines = [
        "| forest | " + " | ".join(f"{n} trees" for n in COUNTS) + " |",
        "|---|" + "---|" * len(COUNTS),
    ]
    for row, published in PUBLISHED[table].items():
        lines.append(f"| thesis: {row} | " + " | ".join(published.split(", ")) + " |")
    counts = [min(n, runs.size.n_estimators) for n in COUNTS]
    seeds = range(n_seeds)
    n_features = runs.task(table, 0).train.X.shape[1]
    for row in (*FORESTS, CHOSEN):
        curves = [
            runs.growth(table, seed, runs.choice(table, seed) if row == CHOSEN else row) for seed in seeds
        ]
        mean = np.mean(curves, axis=0)
        cells = [f"{100 * mean[n - 1, 2] / n_features:.2f} ({mean[n - 1, 3]:.4f})" for n in counts]
        lines.append(f"| ours: {row} | " + " | ".join(cells) + " |")
    picked = [runs.choice(table, seed) for seed in seeds]
    names = "; ".join(f"{name} ({picked.count(name)} of {len(picked)} seeds)" for name in sorted(set(picked)))
    share, error = mean[-1, 2] / n_features, mean[-1, 3]
    text = "\n".join(lines) + f"\n\nChosen: {names}."
    if table == "covtype":
        met = "met" if share <= 0.3 and error <= 0.12 else "missed"
        text += f" Goal: at most 30 % of the features at an error of at most 0.12: {met}."
    return text


def table_4_1(task: Task, n_estimators: int) -> str:
    """Return how a typical feature is used before and after pruning, at the same error."""
    model = forest(task, 0, n_estimators, {})
    path = prune_path(model, task.validation.X, task.validation.y)
    level = path.forest_errors[0] + 0.001
    pruned = path[int(np.flatnonzero(path.forest_errors <= level)[-1])].model
    before, after = audit(model, task.test.X), audit(pruned, task.test.X)
    # Typical is what most rows use a few times before pruning, and most drop after it.
    feature = int(np.argmax(before.few - after.few))
    lines = ["| forest | no usage | 1-7 | > 7 | cost | error |", "|---|---|---|---|---|---|"]
    lines.append("| thesis, unpruned | 7.3 % | 91.7 % | 1 % | 42.0 | 6.6 % |")
    lines.append("| thesis, BudgetPrune | 68.3 % | 31.5 % | 0.2 % | 24.3 | 6.7 % |")
    for label, found, fitted in (("unpruned", before, model), ("BudgetPrune", after, pruned)):
        shares = (1 - found.share[feature], found.few[feature], found.many[feature])
        error = np.mean(fitted.predict(task.test.X) != task.test.y)
        cells = " | ".join(f"{100 * share:.1f} %" for share in shares)
        lines.append(
            f"| ours, {label} (feature {found.sheet.features[feature]}) | {cells} | {found.mean:.1f} "
            f"| {100 * error:.1f} % |"
        )
    return "\n".join(lines)


# ---- the page ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Scale:
    """How much is run: seeds of each part, the size of the models, and one row in so many."""

    seeds: int = 5
    prune_seeds: int = 5
    forest_seeds: int = 3
    split_seeds: int = 5
    size: Size = field(default_factory=Size)
    shrink: int = 1


def parts(
    cache: Cache, scale: Scale, names: Sequence[str], out: Path, fields: dict[str, str]
) -> dict[str, Callable[[], dict[str, str]]]:
    """Return what runs each part of the page and gives its fields; ``fields`` are those of earlier parts."""
    runs = Runs(cache, scale.size, scale.shrink, scale.seeds, scale.prune_seeds)
    return {
        "table3.1": lambda: {
            "mini": table_3_1(runs, "miniboone_tiny", scale.seeds),
            "large": table_3_1(runs, "covtype", scale.forest_seeds),
        },
        "table4.1": lambda: {"usage": table_4_1(runs.task("miniboone_tiny", 0), scale.size.n_estimators)},
        "figure3.3": lambda: dict(zip(("against", "beside"), figure_3_3(runs, out), strict=True)),
        "figure3.4": lambda: {"trees": figure_3_4(names, out)},
        "figure4.3": lambda: dict(zip(("pruned_mini", "pruned_large"), figure_4_3(runs, out), strict=True)),
        "figure4.3-rivals": lambda: {
            "more_mini": beside_figure_4_3(runs, "miniboone_tiny", fields["pruned_mini"]),
            "more_large": beside_figure_4_3(runs, "covtype", fields["pruned_large"]),
        },
        "figure4.4": lambda: {"prices": figure_4_4(runs, out)},
        "figure4.5": lambda: {"splits": figure_4_5(runs, scale.split_seeds, out)},
        "figure4.6": lambda: {"subsets": figure_4_6(runs, out)},
    }


def stored_fields(page: StoredPage) -> dict[str, str]:
    """Return the fields of all parts of the stored page."""
    return {name: text for part in STORED for name, text in stored_part(part, page).items()}


def stored_part(part: str, page: StoredPage) -> dict[str, str]:
    """Return the fields of a part of the stored page."""
    return {name: page.between(heading, start, end) for name, heading, start, end in STORED[part]}


def claims(fields: dict[str, str]) -> str:
    """Return what the thesis claims, with a verdict each."""
    found = [
        *growth_claims("covtype", fields["large"]),
        *growth_claims("MiniBooNE", fields["mini"]),
        *rival_claims(fields["against"]),
        *tree_claims(fields["trees"]),
        *pruning_claims("Figure 4.3", "miniboone_tiny", fields["pruned_mini"]),
        *pruning_claims("Figure 4.3", "covtype", fields["pruned_large"]),
        *early_claims("miniboone_tiny", fields["more_mini"]),
        *early_claims("covtype", fields["more_large"]),
        *price_claims(fields["prices"]),
        *split_claims(fields["splits"]),
        *subset_claims(fields["subsets"]),
        *usage_claims(fields["usage"]),
    ]
    return failing_first(found)


def fill(fields: dict[str, str], scale: Scale) -> str:
    """Return the page of the fields of all parts."""
    peers = {row[0]: row[1] for row in tables(fields["large"])[0].rows}
    whole = "36,603/15,688/58,101 rows as in the thesis"
    return PAGE.read_text().format(
        claims=claims(fields),
        unavailable=" and ".join(UNAVAILABLE),
        peer=_error(peers[f"ours: {PEER}"]),
        thesis_peer=_error(peers["thesis: RF(entropy)"]),
        shown=whole if scale.shrink == 1 else f"1/{scale.shrink} of the thesis's rows",
        seeds=scale.seeds,
        prune_seeds=scale.prune_seeds,
        forest_seeds=scale.forest_seeds,
        n_estimators=scale.size.n_estimators,
        alphas=", ".join(map(str, ALPHAS)),
        thesis_alphas=", ".join(map(str, THESIS_ALPHAS)),
        miser=scale.size.miser_trees,
        rates=", ".join(map(str, RATES)),
        n_tradeoffs=len(MISER_TRADEOFFS),
        depths=", ".join(map(str, DEPTHS)),
        astc_parts=" and ".join(f"{part:.0%}" for part in PARTS),
        n_cstc=len(SETTINGS["CSTC"]),
        n_cstc_trees=len(SETTINGS["CSTC over trees"]),
        impurities=", ".join(map(str, IMPURITIES)),
        n_entropies=len(ENTROPIES),
        n_budgets=N_BUDGETS,
        **fields,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything, or some parts, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds (5; 10 runs in the thesis)")
    parser.add_argument("--prune-seeds", type=int, default=5, help="seeds of figure 4.3 on covtype (5)")
    parser.add_argument("--forest-seeds", type=int, default=3, help="seeds of table 3.1 on covtype (3)")
    parser.add_argument("--split-seeds", type=int, default=5, help="seeds of figure 4.5 on covtype (5)")
    parser.add_argument("--parts", nargs="*", choices=STORED, help="run these only; the rest from the page")
    given = parse(parser, NAME, arguments)
    seeds = 1 if given.tiny else given.seeds
    counts = (min(seeds, n) for n in (given.prune_seeds, given.forest_seeds, given.split_seeds))
    scale = Scale(seeds, *counts, *((TINY, TINY_SHRINK) if given.tiny else ()))
    names = (PIMA,) if given.tiny else (*TABLES, PIMA)
    wanted = list(STORED) if given.parts is None else given.parts
    found = None if given.parts is None else StoredPage.read(RESULTS / f"{NAME}.md")
    fields: dict[str, str] = {}
    for part, run in parts(Cache(given.kept), scale, names, given.out, fields).items():
        fields |= run() if found is None or part in wanted else stored_part(part, found)
    text = fill(fields, scale)
    if found is None:
        used = {"--seeds": seeds, "--prune-seeds": scale.prune_seeds, "--forest-seeds": scale.forest_seeds}
        pairs = [word for pair in {**used, "--split-seeds": scale.split_seeds}.items() for word in pair]
        write_page(given.out, NAME, text, command(NAME, *pairs))
    else:
        line = command(NAME, "--split-seeds", scale.split_seeds, "--parts", *wanted)
        restate(given.out / f"{NAME}.md", found, text, line, ", ".join(["text", *wanted]))


def _error(cell: str) -> str:
    """Return the error of a cell of table 3.1."""
    return cell.split("(")[1].rstrip(")")


if __name__ == "__main__":
    main()
