"""The figures of `experiments.papers.nan2018_forests`: each is drawn, and its numbers come back as text."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from experiments.lib.forest_cases import EVERYTHING, Curves, Runs
from experiments.lib.forest_claims import tree_halves, tree_table
from experiments.lib.forest_published import PUBLISHED_POINTS, beside_published
from experiments.lib.forest_rivals import BUDGET_RF, SETTINGS
from experiments.lib.forest_runs import chosen
from experiments.lib.pages import markdown
from experiments.lib.single_trees import small_tables, tree_curves
from experiments.lib.stored_pages import tables

mpl.use("Agg")
from matplotlib import pyplot as plt

N_BUDGETS: Final = 24
CHOSEN_RF: Final = "BudgetRF, chosen"
# Of the table of figure 3.3: where its published curves have points.
BUDGETS_3_3: Final = {
    "miniboone_tiny": (3.0, 6.0, 9.0, 12.0, 15.0, 22.0, 30.0, 45.0),
    "covtype": (3.0, 5.0, 7.0, 10.0, 13.0, 16.0, 24.0, 45.0),
}

# ---- curves ------------------------------------------------------------------------------------------------


def budgets_of(curves: Curves, n: int = N_BUDGETS) -> NDArray[np.float64]:
    """Return evenly spread budgets, from the least at which a method has a model that looks at something."""
    runs = [run for found in curves.values() for run in found]
    low = min(run[run[:, 0] > 0, 0].min(initial=np.inf) for run in runs)
    return np.linspace(low, max(run[:, 0].max() for run in runs), n)


def mean_and_error(errors: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the mean over seeds and its standard error; NaN where a seed has nothing."""
    spread = errors.std(axis=0, ddof=1) / np.sqrt(len(errors)) if len(errors) > 1 else 0 * errors[0]
    return errors.mean(axis=0), spread


def draw(ax: Any, curves: Curves, title: str, prefix: str = "") -> None:
    """Draw the mean error over seeds against the budget."""
    budgets = budgets_of(curves)
    for name, runs in curves.items():
        mean, spread = mean_and_error(chosen(runs, budgets))
        ax.errorbar(budgets, mean, spread, marker=".", markersize=4, label=prefix + name)
    ax.set(title=title, xlabel="mean cost", ylabel="test error")


def standings(curves: Curves, budgets: NDArray[np.float64] | None = None) -> str:
    """Return the errors of all methods at some budgets, in Markdown; by default at evenly spread ones."""
    if budgets is None:
        budgets = budgets_of(curves)[:: N_BUDGETS // 8]
    lines = [
        "| mean cost at most | " + " | ".join(f"{budget:.1f}" for budget in budgets) + " |",
        "|---|" + "---|" * len(budgets),
    ]
    for name, runs in curves.items():
        mean, spread = mean_and_error(chosen(runs, budgets))
        cells = [
            "" if np.isnan(m) else f"{m:.4f} ± {s:.4f}" if len(runs) > 1 else f"{m:.4f}"
            for m, s in zip(mean, spread, strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def verdict(curves: Curves) -> str:
    """Say how BudgetPrune stands against each rival, seed by seed at the same budgets."""
    budgets = budgets_of(curves)
    ours = chosen(curves["BudgetPrune"], budgets)
    lines = []
    for name, runs in curves.items():
        if name == "BudgetPrune":
            continue
        mean, spread = mean_and_error(ours - chosen(runs, budgets))
        known = ~np.isnan(mean)
        worse, better = (mean > spread)[known], (mean < -spread)[known]
        worst = np.nanmax(mean - spread)
        lines.append(
            f"- {name}: better by more than a standard error at {better.sum()} of {known.sum()} budgets, "
            f"worse by more than one at {worse.sum()}"
            + (
                f" (mean cost {', '.join(f'{b:.1f}' for b in budgets[known][worse])}; at most {worst:.4f} "
                "beyond it)."
                if worse.any()
                else "."
            )
        )
    return "\n".join(lines)


def save(figure: Any, file: Path) -> None:
    """Write a figure beside the page."""
    figure.tight_layout()
    figure.savefig(file, dpi=90)
    plt.close(figure)


# ---- figures -----------------------------------------------------------------------------------------------


def figure_3_3(runs: Runs, folder: Path) -> tuple[str, str]:
    """Draw BudgetRF against its rivals, ours and published.

    Returns our errors at some budgets, and the published points with ours, both in Markdown.
    """
    figure, axes = plt.subplots(1, 2, figsize=(13, 5.5))
    found, published = [], []
    for ax, (table, budgets) in zip(axes, BUDGETS_3_3.items(), strict=True):
        curves = {
            BUDGET_RF: [runs.rival(table, 0, BUDGET_RF)],
            CHOSEN_RF: [runs.alphas(table, 0)],
            **{method: [runs.rival(table, 0, method)] for method in SETTINGS if method != BUDGET_RF},
        }
        draw(ax, curves, table)
        for number, (method, points) in enumerate(PUBLISHED_POINTS[table].items()):
            colour = f"C{list(curves).index(method)}"
            label = "published: dotted" if number == 0 else None
            ax.plot(*zip(*points, strict=True), ":", marker="o", mfc="none", color=colour, label=label)
        ax.set_ylim(top=0.45)  # beyond it are models that have hardly bought anything
        ax.legend()
        found.append(f"{table}:\n\n{standings(curves, np.array(budgets))}")
        published.append(beside_published(table, curves))
    save(figure, folder / "nan2018_forests_3_3.png")
    return "\n\n".join(found), "\n\n".join(published)


def figure_3_4(names: Sequence[str], folder: Path) -> str:
    """Draw error against max-cost of single trees: powers by depth, pairs by its threshold.

    Returns the mean difference of the two at small and at large max-costs, in Markdown.
    """
    halves = {}
    figure, axes = plt.subplots(2, 4, figsize=(14, 6.5))
    for ax, (name, X, y) in zip(axes.ravel(), small_tables(names), strict=False):
        curves = tree_curves(X, y)
        halves[name] = tree_halves(curves)
        for label, curve in curves.items():
            ax.plot(*zip(*curve, strict=True), marker=".", label=label)
        ax.set(title=f"{name} ({len(y)} rows)", xlabel="max-cost", ylabel="error")
    axes.ravel()[-1].axis("off")
    axes.ravel()[-1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    save(figure, folder / "nan2018_forests_3_4.png")
    return tree_table(halves)


def figure_4_3(runs: Runs, folder: Path) -> tuple[str, str]:
    """Draw four ways to prune the same forests; return their errors and BudgetPrune's standing."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    texts = []
    for ax, table in zip(axes, ("miniboone_tiny", "covtype"), strict=True):
        curves = runs.prunings(table, {}, EVERYTHING)
        draw(ax, curves, f"{table}, {runs.seeds(table)} seeds")
        ax.legend()
        texts.append(f"{standings(curves)}\n\nBudgetPrune against\n\n{verdict(curves)}")
    save(figure, folder / "nan2018_forests_4_3.png")
    return texts[0], texts[1]


def beside_figure_4_3(runs: Runs, table: str, pruned: str) -> str:
    """Return two more rivals of figure 4.3 at the budgets of its table, one seed each, in Markdown.

    Parameters
    ----------
    runs : Runs
        The curves.
    table : str
        The table.
    pruned : str
        Our errors in figure 4.3, as `figure_4_3` gives them.
    """
    header, rows = tables(pruned)[0].header, tables(pruned)[0].rows
    budgets = np.array([float(cell) for cell in header[1:]])
    curves = {
        "Greedy Miser": [runs.rival(table, 0, "Greedy Miser")],
        "early stopping by impurity": [runs.stopped_by_impurity(table, 0)],
    }
    lines = standings(curves, budgets).splitlines()
    ours = next(row for row in rows if row[0] == "BudgetPrune")
    lines.insert(2, f"| {' | '.join(ours)} |")
    return "\n".join(lines)


def figure_4_4(runs: Runs, folder: Path) -> str:
    """Draw two ways to prune at two price lists; return their mean errors and how much these rise."""
    both = ("BudgetPrune", "CCP")
    uniform, weighted = (runs.prunings(table, {}, both) for table in ("miniboone_tiny", "by weight"))
    figure, ax = plt.subplots(figsize=(6, 4.5))
    draw(ax, uniform, "", "uniform, ")
    draw(ax, weighted, "miniboone_tiny: costs uniform and by weight", "by weight, ")
    ax.legend()
    save(figure, folder / "nan2018_forests_4_4.png")
    found = [run for prices in (uniform, weighted) for of in prices.values() for run in of]
    least = max(run[run[:, 0] > 0, 0].min() for run in found)  # from here on all have bought something
    budgets = np.linspace(least, max(run[:, 0].max() for run in found), N_BUDGETS)
    errors = {
        (name, prices is weighted): chosen(prices[name], budgets)
        for prices in (uniform, weighted)
        for name in both
    }
    rows = []
    for name in both:
        before, after = (errors[name, other].mean() for other in (False, True))
        rows.append([name, f"{before:.4f}", f"{after:.4f}", f"{after - before:+.4f}"])
    return markdown(["mean error", "uniform prices", "prices by weight", "difference"], rows)


def figure_4_5(runs: Runs, n_seeds: int, folder: Path) -> str:
    """Draw prunings of forests of two impurities; return what the forests cost and err before pruning.

    Covtype has ``n_seeds`` forests of each.
    """
    both, pairs = ("BudgetPrune", "CCP"), {"impurity": "pairs", "max_cuts": 20}
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    rows = []
    for ax, table in zip(axes, ("miniboone_tiny", "covtype"), strict=True):
        n = n_seeds if table == "covtype" else runs.seeds(table)
        found = [runs.prunings(table, settings, both, n) for settings in ({}, pairs)]
        for curves, prefix in zip(found, ("entropy, ", "pairs, "), strict=True):
            draw(ax, curves, f"{table}, seeds: {n}", prefix)
        ax.legend()
        whole = [np.mean([run[run[:, 0].argmax(), 2:] for run in curves["CCP"]], axis=0) for curves in found]
        (cost, error), (pairs_cost, pairs_error) = whole
        figures = [f"{cost:.1f}", f"{pairs_cost:.1f}", f"{error:.4f}", f"{pairs_error:.4f}"]
        budgets = budgets_of({"all": [run for curves in found for of in curves.values() for run in of]})
        budgets = budgets[budgets <= pairs_cost]
        entropy, ours, ccp = (
            chosen(curves[name], budgets).mean(axis=0)
            for curves, name in ((found[0], both[0]), (found[1], both[0]), (found[1], both[1]))
        )
        low = budgets <= pairs_cost / 2
        ahead, behind = ours < entropy, ours > ccp
        counts = [f"{part.sum()} of {part.size}" for part in (ahead[low], ahead[~low], behind)]
        rows.append([table, *figures, *counts, n])
    save(figure, folder / "nan2018_forests_4_5.png")
    header = ["unpruned", "cost, entropy", "cost, Pairs", "error, entropy", "error, Pairs"]
    pruned = ["pruned Pairs ahead, low budgets", "high budgets", "pruned Pairs behind CCP", "seeds"]
    return markdown([*header, *pruned], rows)


def figure_4_6(runs: Runs, folder: Path) -> str:
    """Draw prunings of forests with two sizes of feature subsets; return BudgetPrune's standing."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    texts = []
    for ax, k in zip(axes, (20, 120), strict=True):
        curves = runs.prunings("dna", {"max_features": k}, EVERYTHING[:3])
        draw(ax, curves, f"dna, {k} of 180 features per split")
        ax.legend()
        texts.append(f"BudgetPrune at {k} features per split against\n\n{verdict(curves)}")
    save(figure, folder / "nan2018_forests_4_6.png")
    return "\n\n".join(texts)
