"""Huang, Powers and Reyzin (2015), training a budgeted booster: table 1 and figures 1 to 3, beside ours.

``farthing reproduce huang2015`` writes docs/results/huang2015.md and its figures. Every trial draws its own
training and test rows and, but for the Yahoo-shaped table, its own costs, uniform on [0, 2]. Trials are kept
in build/huang2015. FARTHING_DATA must name the folder of the tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Final

import matplotlib as mpl
import numpy as np
from joblib import Parallel, delayed

from experiments.lib.booster_trials import (
    BUDGETS,
    LEAVES,
    METHODS,
    OWN_RULES,
    TINY,
    TINY_SETS,
    TRAP_BUDGET,
    YAHOO_TRIALS,
    Setting,
    Size,
    run_trial,
    run_yahoo,
    settings,
)
from experiments.lib.booster_verdicts import (
    Results,
    distance,
    duels,
    judged,
    mean_and_interval,
)
from experiments.lib.kept_trials import Figures, kept_trial
from experiments.lib.pages import command, markdown, options, parse, write_page

mpl.use("Agg")
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

NAME = "huang2015"
LABELS: Final = dict(
    zip(METHODS, ("AdaBoostBT", "greedy", "smoothed", "SpeedBoost", "hybrid", "AdaBoostRS"), strict=True)
)
COLOURS = dict(zip(LABELS, ("C0", "C1", "C2", "black", "C4", "C3"), strict=True))
WIDE: Final = ("sonar", "ionosphere")  # thousands of features: two seconds a trial


def stacked(runs: Sequence[Figures]) -> Figures:
    """Return the figures of trials as arrays over the trials."""
    return {key: np.array([run[key] for run in runs]) for key in runs[0]}


def measure(setting: Setting, seed: int, size: Size, kept: Path) -> Figures:
    """Run a trial, or take it from the folder."""
    return kept_trial(kept, f"{setting.name} {seed}", lambda: run_trial(setting, seed, size))


def measure_yahoo(seed: int, size: Size, kept: Path) -> Figures:
    """Run a trial of figure 2, or take it from the folder."""
    return kept_trial(kept, f"yahoo {seed}", lambda: run_yahoo(seed, size))


def seeds_of(setting: Setting, at_most: int | None, wide: int) -> range:
    """Return the seeds of the trials of a set: as many as the paper had, or fewer."""
    most = [setting.paper_trials, at_most, wide if setting.name in WIDE else None]
    return range(min(number for number in most if number is not None))


# What is drawn.


def draw_panel(axis: Axes, by_method: Figures, title: str) -> None:
    """Draw errors against budgets; AdaBoostRS has the axis on the right, as in the paper."""
    right = axis.twinx()
    for method in LABELS:
        mean, half = mean_and_interval(by_method[method])
        side = right if method == "rs" else axis
        style = "--" if method == "speedboost" else "-"
        side.errorbar(BUDGETS, mean, half, color=COLOURS[method], linestyle=style, linewidth=1.1, capsize=1.5)
    axis.set_title(title, fontsize=10)
    right.tick_params(axis="y", labelsize=7, colors=COLOURS["rs"])
    axis.tick_params(labelsize=7)


def legend(figure: Figure, columns: int = 6) -> None:
    """Put one legend below all panels."""
    handles = [
        Line2D([], [], color=COLOURS[m], linestyle="--" if m == "speedboost" else "-", label=label)
        for m, label in LABELS.items()
    ]
    handles[-1].set_label("AdaBoostRS (right axis)")
    figure.legend(handles=handles, loc="lower center", ncol=columns, fontsize=9, frameon=False)


def draw_figure1(results: Results, folder: Path) -> None:
    """Draw error against budget for all tables."""
    figure, axes = plt.subplots(3, 3, figsize=(12, 10))
    for axis, (name, found) in zip(axes.ravel(), results.items(), strict=False):
        draw_panel(axis, found, name)
        axis.axhline(found["adaboost"].mean(), color="grey", linewidth=0.8, linestyle=":")
    figure.supxlabel("budget", y=0.045, fontsize=10)
    figure.supylabel("test error, percent (dotted: AdaBoost without a budget)", fontsize=10)
    legend(figure)
    figure.tight_layout(rect=(0.01, 0.05, 1, 1))
    figure.savefig(folder / "huang2015-figure1.png", dpi=110)
    plt.close(figure)


def draw_figure2(runs: Figures, folder: Path) -> None:
    """Draw error against budget for the Yahoo-shaped table."""
    figure, axis = plt.subplots(figsize=(8.5, 5.5))
    draw_panel(axis, runs, "Yahoo-shaped table: one feature at 20 tells most")
    axis.set_xlabel("budget")
    axis.set_ylabel("test error, percent")
    legend(figure, columns=3)
    figure.tight_layout(rect=(0, 0.1, 1, 1))
    figure.savefig(folder / "huang2015-figure2.png", dpi=110)
    plt.close(figure)


def draw_figure3(results: Results, folder: Path) -> None:
    """Draw the error of decision trees against their number of nodes, AdaBoost's as diamonds."""
    figure, axis = plt.subplots(figsize=(8, 5.5))
    nodes = 2 * np.array(LEAVES) - 1
    for number, (name, found) in enumerate(results.items()):
        axis.plot(nodes, found["trees"].mean(axis=0), marker=".", color=f"C{number}", label=name)
        full = found["adaboost"].mean()
        axis.plot([1.25 * nodes[-1]], [full], marker="D", color=f"C{number}", clip_on=False)
    axis.set_xscale("log")
    axis.set_xlabel("nodes of the tree at most (diamonds: AdaBoost)")
    axis.set_ylabel("test error, percent")
    axis.legend(fontsize=8, ncol=5, loc="lower center", bbox_to_anchor=(0.5, 1.0), frameon=False)
    figure.tight_layout()
    figure.savefig(folder / "huang2015-figure3.png", dpi=110)
    plt.close(figure)


# What is written.


def sizes_table(found: list[Setting], results: Results) -> str:
    """Return sizes beside those of the paper's table 1."""
    return markdown(
        [
            "set",
            "features (paper)",
            "training",
            "test",
            "rounds of AdaBoost",
            "trials (paper)",
            "AdaBoost's error",
        ],
        [
            [
                s.name,
                f"{s.X.shape[1]} ({s.paper_features})",
                str(s.n_train),
                str(min(s.n_test, len(s.y) - s.n_train)),
                str(s.rounds),
                f"{len(results[s.name]['adaboost'])} ({s.paper_trials})",
                f"{results[s.name]['adaboost'].mean():.1f} %",
            ]
            for s in found
        ],
    )


def errors_table(by_set: Results) -> str:
    """Return mean errors at four budgets, the least of the paper's three rules in bold."""
    rows = []
    for name, by_method in by_set.items():
        for budget in (4.0, 10.0, 20.0, 30.0):
            column = int(np.flatnonzero(budget == BUDGETS)[0])
            means = {m: float(by_method[m][:, column].mean()) for m in LABELS}
            least = min(means[m] for m in OWN_RULES)
            cells = [f"**{means[m]:.1f}**" if means[m] <= least else f"{means[m]:.1f}" for m in LABELS]
            rows.append([name, f"{budget:g}", *cells])
    return markdown(["set", "budget", *LABELS.values()], rows)


def winners_table(by_set: Results) -> str:
    """Return, for each set, at which budgets each of the three rules has the least mean error."""
    rows = []
    for name, by_method in by_set.items():
        means = np.array([by_method[m].mean(axis=0) for m in OWN_RULES])
        ahead = means == means.min(axis=0)
        rows.append([name, *(", ".join(f"{b:g}" for b in BUDGETS[wins]) or "none" for wins in ahead)])
    return markdown(["set", "basic", "greedy", "smoothed"], rows)


def closeness(by_set: Results) -> str:
    """Return how far greedy and SpeedBoost are apart, and greedy and smoothed for comparison."""
    rows = [
        [name, *(f"{distance(found, 'greedy', m):.2f}" for m in ("speedboost", "smoothed"))]
        for name, found in by_set.items()
    ]
    return markdown(["set", "greedy and SpeedBoost", "greedy and smoothed"], rows)


def trap_table(results: Results) -> str:
    """Return what greedy and smoothed spend of a budget of 2 in all their rounds."""
    return markdown(
        ["set", "greedy spends", "smoothed spends"],
        [
            [name, f"{found['greedy_spent'].mean():.3f}", f"{found['smoothed_spent'].mean():.3f}"]
            for name, found in results.items()
        ],
    )


def trees_table(results: Results) -> str:
    """Return the trees of five sizes beside the best rule at the budget that covers their mean spend."""
    rows = []
    for name, found in results.items():
        for duel in duels(found):
            if duel.leaves not in (3, 9, 33, 129):
                continue
            ahead = "trees" if duel.worst < 0 else LABELS[duel.rule] if duel.best > 0 else "neither"
            rows.append(
                [
                    name,
                    duel.leaves,
                    f"{duel.error:.1f}",
                    f"{duel.spend:.1f}",
                    f"{duel.budget:g}",
                    f"{duel.rule_error:.1f} ({LABELS[duel.rule]})",
                    ahead,
                ]
            )
    head = ["set", "leaves", "error of trees", "their mean spend", "budget", "best rule at it", "ahead"]
    return markdown(head, rows)


def trials_line(found: list[Setting], results: Results, n_yahoo: int) -> str:
    """Say where the paper had more trials."""
    fewer = [
        f"{len(results[s.name]['adaboost'])} on {s.name} ({s.paper_trials})"
        for s in found
        if len(results[s.name]["adaboost"]) < s.paper_trials
    ]
    fewer += [f"{n_yahoo} of figure 2 ({YAHOO_TRIALS})"] if n_yahoo < YAHOO_TRIALS else []
    if not fewer:
        return "There are as many trials as in the paper."
    return f"Fewer trials than the paper's: {', '.join(fewer)}."


PAGE = """# Huang, Powers and Reyzin (2015): training a budgeted booster

What the paper says and does not hold here:

{fails}

What is not there: Yahoo's table is not available, so figure 2 is that of an imitation. {trials}

What differs:

- The stumps test one indicator each, and none is constant (`intercept=False`), as in the paper. The numbers
  of features agree with the paper's to the digit where a feature is a threshold between two values of a
  column (ecoli, sonar, ionosphere); the paper does not say how the others were made.
- heart has 303 rows, the whole Cleveland table; the paper had 270. ecoli is cp against the rest.
- A tied vote counts as half an error, everywhere on this page; the paper does not say whose a tie is. Many
  votes of AdaBoostRS are ties.
- "hybrid" is only named in the paper. Ours is greedy until the best feature not bought yet has less than a
  tenth of the quality of the first round's best, then smoothed.
- AdaBoostRS samples from {n_rounds} rounds of AdaBoost with a seed for each row.
- Training stops at the first choice that the budget does not cover, as algorithm 1 does (`exhaust=False`);
  the default of `AdaBoostBTClassifier` is to go on with what it can afford.
- Decision trees are grown best first to a number of leaves, without regard to costs. Their spend is a mean
  over rows; a budget of the rules holds for every row.

What holds:

{holds}

## How it is measured

Means over the trials; intervals in the figures are 95 %. Every trial draws its own training and test rows and
its own costs, uniform on [0, 2]. Each rule is fitted once per trial, with a budget of {top:g} and {n_rounds}
rounds; the errors at smaller budgets come from the same fit, since its first rounds are the model of a
smaller budget.

## Sizes (table 1)

{sizes}

## Figure 1: error against budget

![Figure 1](huang2015-figure1.png)

Test errors in percent; what is at least as good as the best of the paper's three rules is bold:

{errors}

At which budgets each rule has the least mean error of the three:

{winners}

## The trap of cheap features

With thousands of features some cost almost nothing, and greedy takes them round after round. Of a budget of
{trap:g}, {n_rounds} rounds spend on average:

{trap_table}

## Greedy and SpeedBoost

Mean distance between the mean errors over all budgets, in points:

{closeness}

## Figure 2: one expensive feature that predicts well

![Figure 2](huang2015-figure2.png)

The table has the shape of Yahoo's: 519 features at its own prices over ten, {yahoo_train:,} rows to train on
and {yahoo_test:,} to test on, one feature at price 20 that predicts well and many cheaper ones that predict a
little each. Errors are those of this imitation, not of Yahoo's.
AdaBoostBT chooses the expensive feature first and ends there while it cannot afford it; AdaBoostRS does not
begin to sample while the most expensive feature is beyond the budget, and then has little left.

{yahoo}

## Figure 3: decision trees

![Figure 3](huang2015-figure3.png)

Trees beside the best rule at the least budget that covers their mean spend. "Ahead" is who has the lower
error by a 95 % interval of the difference over the trials: the trees, against each of the five rules, or the
best rule.

{trees}
"""


def report(found: list[Setting], results: Results, yahoo: Figures, size: Size) -> str:
    """Return the page."""
    fails, holds = judged(results)
    n_yahoo = len(yahoo["rs"])
    return PAGE.format(
        fails="\n".join(fails) or "- Nothing of what was tested.",
        holds="\n".join(holds) or "- None of what was tested holds on all sets.",
        trials=trials_line(found, results, n_yahoo),
        top=BUDGETS[-1],
        n_rounds=size.n_rounds,
        sizes=sizes_table(found, results),
        errors=errors_table(results),
        winners=winners_table(results),
        trap=TRAP_BUDGET,
        trap_table=trap_table(results),
        closeness=closeness(results),
        yahoo_train=size.yahoo_train,
        yahoo_test=size.yahoo_test,
        yahoo=errors_table({"Yahoo-shaped": yahoo}),
        trees=trees_table(results),
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the trials, draw and write."""
    parser = options(__doc__)
    parser.add_argument(
        "--trials", type=int, help="of each set at most (those of the paper: 100 or 400, and 20 of figure 2)"
    )
    parser.add_argument("--wide-trials", type=int, default=100, help="of sonar and ionosphere at most (100)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
    given = parse(parser, NAME, arguments)
    size = Size()
    if given.tiny:
        size, given.trials, given.jobs = TINY, 2, 1
        found = [replace(one, n_test=100, rounds=TINY.n_rounds) for one in settings(TINY_SETS)]
    else:
        found = settings()
    workers = Parallel(n_jobs=given.jobs)
    results: Results = {}
    for setting in found:
        seeds = seeds_of(setting, given.trials, given.wide_trials)
        results[setting.name] = stacked(
            workers(delayed(measure)(setting, seed, size, given.kept) for seed in seeds)
        )
        print(f"{setting.name}: {len(seeds)} trials", flush=True)
    yahoo_seeds = range(min(YAHOO_TRIALS, given.trials or YAHOO_TRIALS))
    yahoo = stacked(workers(delayed(measure_yahoo)(seed, size, given.kept) for seed in yahoo_seeds))
    draw_figure1(results, given.out)
    draw_figure2(yahoo, given.out)
    draw_figure3(results, given.out)
    text = report(found, results, yahoo, size)
    print(text)
    counts = [] if given.trials is None else ["--trials", given.trials]
    write_page(given.out, NAME, text, command(NAME, *counts, "--wide-trials", given.wide_trials))


if __name__ == "__main__":
    main()
