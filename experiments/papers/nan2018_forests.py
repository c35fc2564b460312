"""Nan's thesis (2018), chapters 3 and 4: BudgetRF and BudgetPrune beside the published numbers.

``farthing reproduce nan2018_forests`` writes docs/results/nan2018_forests.md and the figures beside it. What
has been computed is kept, so a run that was stopped goes on. FARTHING_DATA must name the folder of the
tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Final, TypeAlias

import matplotlib as mpl
import numpy as np
from numpy.typing import NDArray

from experiments.lib.forest_runs import (
    ALPHAS,
    LEAVES,
    TRADEOFFS,
    Cache,
    Curve,
    Size,
    Task,
    by_split,
    chosen,
    covtype,
    early_stopping,
    forest,
    growth,
    miser,
    peer,
    pruning,
    shrunk,
    weights_as_costs,
)
from experiments.lib.pages import command, options, parse, write_page
from experiments.lib.single_trees import PIMA, TABLES, small_tables, tree_curves
from farthing.forests import prune_path
from farthing.report import audit

mpl.use("Agg")
from matplotlib import pyplot as plt

NAME: Final = "nan2018_forests"
PAGE: Final = Path(__file__).with_suffix(".md")
Curves: TypeAlias = dict[str, list[Curve]]

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
SHARES: Final = {"covtype": 0.30, "miniboone_tiny": 0.90}  # of the features that a chosen BudgetRF may use
PEER: Final = "RF(entropy) of scikit-learn"
CHOSEN: Final = "BudgetRF, chosen"
FORESTS: Final[dict[str, dict[str, Any]]] = {
    "RF(Gini)": {"impurity": "gini", "max_features": "sqrt"},
    "RF(entropy)": {"impurity": "entropy", "max_features": "sqrt"},
    PEER: {},
    "BudgetRF, all thresholds": {"impurity": "pairs"},
    "BudgetRF, 20 drawn": {"impurity": "pairs", "max_cuts": 20},
}
LARGE: Final = {"impurity": "pairs", "cuts_above": 1000}
CHOICES: Final[dict[str, dict[str, Any]]] = {
    **{name: settings for name, settings in FORESTS.items() if name.startswith("BudgetRF")},
    "3 drawn above 1,000 rows": {**LARGE, "max_cuts": 3},
    "1 drawn above 1,000 rows, no bootstrap": {**LARGE, "max_cuts": 1, "bootstrap": False},
    "3 drawn above 1,000 rows, no bootstrap": {**LARGE, "max_cuts": 3, "bootstrap": False},
}
EVERYTHING: Final = ("BudgetPrune", "CCP", "GreedyPrune", "early stopping")
N_BUDGETS: Final = 24
TINY: Final = Size(n_estimators=2, miser_trees=14)
TINY_SHRINK: Final = 100


class Runs:
    """The curves of all figures, by table and seed."""

    def __init__(self, cache: Cache, size: Size, shrink: int, seeds: int, large_seeds: int) -> None:
        self.cache = cache
        self.size = size
        self.shrink = shrink
        self._seeds = {"covtype": large_seeds}
        self._other_seeds = seeds
        mini = shrunk(by_split("miniboone_tiny"), shrink)
        self._tables: dict[str, Callable[[int], Task]] = {
            "covtype": lambda seed: covtype(seed, shrink),
            "miniboone_tiny": lambda _: mini,
            "by weight": lambda _: weights_as_costs(mini),
            "dna": lambda _: shrunk(by_split("dna", validation=0.25), shrink),
        }
        # Tables are large and forests larger: the runs go table by table, seed by seed.
        self.task = lru_cache(maxsize=4)(lambda name, seed: self._tables[name](seed))
        self.forest = lru_cache(maxsize=1)(
            lambda name, seed, settings: forest(
                self.task(name, seed), seed, size.n_estimators, dict(settings)
            )
        )

    def _kept(self, what: str, table: str, seed: int, make: Callable[[], Curve]) -> Curve:
        name = f"{table} {seed} {what}" + (f" shrunk {self.shrink}" if self.shrink > 1 else "")
        return self.cache.get("_".join(name.replace(",", "").split()), make)

    def growth(self, table: str, seed: int, row: str) -> Curve:
        """Return a forest's curve from tree to tree."""

        def make() -> Curve:
            task, n_estimators = self.task(table, seed), self.size.n_estimators
            settings = {**FORESTS, **CHOICES}[row]
            if row == PEER:
                return growth(task, peer(task, seed, n_estimators))
            return growth(task, forest(task, seed, n_estimators, settings))

        return self._kept(row, table, seed, make)

    def choice(self, table: str, seed: int) -> str:
        """Return the settings of the least validation error whose validation rows use few enough features."""
        n_features = self.task(table, seed).train.X.shape[1]
        ends = {name: self.growth(table, seed, name)[-1] for name in CHOICES}
        within = {name: end for name, end in ends.items() if end[0] <= SHARES[table] * n_features}
        return min(within or ends, key=lambda name: ends[name][1])

    def alphas(self, table: str, seed: int) -> Curve:
        """Return BudgetRF's curve over trees and thresholds of Pairs, at the chosen settings."""
        settings = CHOICES[self.choice(table, seed)]

        def make(alpha: float) -> Curve:
            task = self.task(table, seed)
            return growth(task, forest(task, seed, self.size.n_estimators, {**settings, "alpha": alpha}))

        return np.concatenate(
            [self._kept(f"alpha {a}", table, seed, partial(make, float(a))) for a in ALPHAS]
        )

    def miser(self, table: str, seed: int) -> Curve:
        """Return the Greedy Miser's curve over rounds and trade-offs."""

        def make(tradeoff: float) -> Curve:
            return miser(self.task(table, seed), tradeoff, self.size.miser_trees)

        return np.concatenate(
            [self._kept(f"miser {lam:g}", table, seed, partial(make, lam)) for lam in TRADEOFFS]
        )

    def pruning(self, table: str, seed: int, settings: dict[str, Any], name: str) -> Curve:
        """Return the curve of one way to prune a forest, or to stop its growth early."""
        key = tuple(settings.items())
        label = " ".join(f"{option} {value}" for option, value in key)

        def stopped(rows: int) -> Curve:
            return early_stopping(self.task(table, seed), seed, self.size.n_estimators, settings, rows)

        if name == "early stopping":
            points = [self._kept(f"{name} {n} {label}", table, seed, partial(stopped, n)) for n in LEAVES]
            return np.concatenate(points)
        return self._kept(
            f"{name} {label}",
            table,
            seed,
            lambda: pruning(self.task(table, seed), self.forest(table, seed, key), name),
        )

    def seeds(self, table: str) -> int:
        """Return how many forests of a table are pruned."""
        return self._seeds.get(table, self._other_seeds)

    def prunings(self, table: str, settings: dict[str, Any], names: tuple[str, ...]) -> Curves:
        """Return the curves of several ways to prune the same forests, a list of seeds each."""
        curves: Curves = {name: [] for name in names}
        for seed in range(self.seeds(table)):  # seed by seed, so that a forest is grown once
            for name in names:
                curves[name].append(self.pruning(table, seed, settings, name))
        return curves


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


# ---- figure 3.3 --------------------------------------------------------------------------------------------


def figure_3_3(runs: Runs, folder: Path) -> str:
    """Draw BudgetRF against the Greedy Miser; return their errors at some budgets in Markdown."""
    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    tables = []
    for ax, table in zip(axes, ("miniboone_tiny", "covtype"), strict=True):
        curves = {"BudgetRF": [runs.alphas(table, 0)], "Greedy Miser": [runs.miser(table, 0)]}
        draw(ax, curves, table)
        ax.legend()
        tables.append(f"{table}:\n\n{standings(curves)}")
    save(figure, folder / "nan2018_forests_3_3.png")
    return "\n\n".join(tables)


# ---- figure 3.4 --------------------------------------------------------------------------------------------


def figure_3_4(names: Sequence[str], folder: Path) -> None:
    """Draw error against max-cost of single trees: powers by depth, pairs by its threshold."""
    tables = list(small_tables(names))
    figure, axes = plt.subplots(2, 4, figsize=(14, 6.5))
    for ax, (name, X, y) in zip(axes.ravel(), tables, strict=False):
        for label, curve in tree_curves(X, y).items():
            ax.plot(*zip(*curve, strict=True), marker=".", label=label)
        ax.set(title=f"{name} ({len(y)} rows)", xlabel="max-cost", ylabel="error")
    axes.ravel()[-1].axis("off")
    axes.ravel()[-1].legend(*axes[0, 0].get_legend_handles_labels(), loc="center")
    save(figure, folder / "nan2018_forests_3_4.png")


# ---- curves ------------------------------------------------------------------------------------------------


def budgets_of(curves: Curves, n: int = N_BUDGETS) -> NDArray[np.float64]:
    """Return evenly spread budgets, from the least at which a method has a model that looks at something."""
    runs = [run for found in curves.values() for run in found]
    low = min(run[run[:, 0] > 0, 0].min() for run in runs)
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


def standings(curves: Curves) -> str:
    """Return the errors of all methods at some budgets, in Markdown."""
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


def figures_4_4_to_4_6(runs: Runs, folder: Path) -> str:
    """Draw other prices, other forests and feature subsets; return BudgetPrune's standing at the last."""
    both = ("BudgetPrune", "CCP")
    figure, ax = plt.subplots(figsize=(6, 4.5))
    draw(ax, runs.prunings("miniboone_tiny", {}, both), "", "uniform, ")
    draw(
        ax, runs.prunings("by weight", {}, both), "miniboone_tiny: costs uniform and by weight", "by weight, "
    )
    ax.legend()
    save(figure, folder / "nan2018_forests_4_4.png")

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    for ax, table in zip(axes, ("miniboone_tiny", "covtype"), strict=True):
        draw(ax, runs.prunings(table, {}, both), table, "entropy, ")
        draw(ax, runs.prunings(table, {"impurity": "pairs", "max_cuts": 20}, both), table, "pairs, ")
        ax.legend()
    save(figure, folder / "nan2018_forests_4_5.png")

    figure, axes = plt.subplots(1, 2, figsize=(11, 4.5))
    texts = []
    for ax, k in zip(axes, (20, 120), strict=True):
        curves = runs.prunings("dna", {"max_features": k}, EVERYTHING[:3])
        draw(ax, curves, f"dna, {k} of 180 features per split")
        ax.legend()
        texts.append(f"BudgetPrune at {k} features per split against\n\n{verdict(curves)}")
    save(figure, folder / "nan2018_forests_4_6.png")
    return "\n\n".join(texts)


# ---- the page ----------------------------------------------------------------------------------------------


def main(arguments: Sequence[str] | None = None) -> None:
    """Run everything and write the page."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=int, default=5, help="seeds (5; 10 runs in the thesis)")
    parser.add_argument("--prune-seeds", type=int, default=5, help="seeds of figure 4.3 on covtype (5)")
    parser.add_argument("--forest-seeds", type=int, default=3, help="seeds of table 3.1 on covtype (3)")
    given = parse(parser, NAME, arguments)
    seeds = 1 if given.tiny else given.seeds
    prune_seeds, forest_seeds = min(seeds, given.prune_seeds), min(seeds, given.forest_seeds)
    size, shrink = (TINY, TINY_SHRINK) if given.tiny else (Size(), 1)
    runs = Runs(Cache(given.kept), size, shrink, seeds, prune_seeds)
    mini, large = table_3_1(runs, "miniboone_tiny", seeds), table_3_1(runs, "covtype", forest_seeds)
    usage = table_4_1(runs.task("miniboone_tiny", 0), size.n_estimators)
    figure_3_4((PIMA,) if given.tiny else (*TABLES, PIMA), given.out)
    pruned = figure_4_3(runs, given.out)
    subsets = figures_4_4_to_4_6(runs, given.out)
    against = figure_3_3(runs, given.out)
    text = PAGE.read_text().format(
        shown=f"1/{shrink} of the thesis's rows"
        if shrink > 1
        else "36,603/15,688/58,101 rows as in the thesis",
        seeds=seeds,
        prune_seeds=prune_seeds,
        forest_seeds=forest_seeds,
        mini=mini,
        large=large,
        usage=usage,
        against=against,
        pruned_mini=pruned[0],
        pruned_large=pruned[1],
        subsets=subsets,
        n_estimators=size.n_estimators,
        alphas=", ".join(map(str, ALPHAS)),
        miser=size.miser_trees,
        leaves=", ".join(map(str, LEAVES)),
        n_budgets=N_BUDGETS,
    )
    arguments_used = ("--seeds", seeds, "--prune-seeds", prune_seeds, "--forest-seeds", forest_seeds)
    write_page(given.out, NAME, text, command(NAME, *arguments_used))


if __name__ == "__main__":
    main()
