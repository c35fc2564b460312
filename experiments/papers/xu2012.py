"""Xu, Weinberger, Chapelle (ICML 2012), the Greedy Miser against its rivals: figures 1 to 3.

``farthing reproduce xu2012`` writes docs/results/xu2012.md and the figures beside it. Each part is kept when
it is done, so a long run can be made in parts: ``--parts yahoo-3``. FARTHING_DATA must name the folder of the
tables; see `farthing.datasets.load_table`.
"""

from __future__ import annotations

import argparse
import shutil
import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning

from experiments.lib.curves import best
from experiments.lib.pages import command, commit, options, parse, write_page
from experiments.lib.ranking_figures import figure_1, figure_2
from experiments.lib.ranking_methods import MISER, PLAIN, TRADEOFFS, Model, methods_on, ndcg_of, ranker
from experiments.lib.ranking_problems import Problem, mslr, yahoo
from experiments.lib.ranking_results import RankingResults
from experiments.lib.satellite_bands import figure_3
from farthing.boosting import l1_path

NAME = "xu2012"
N_ROWS, N_TREES, N_TRADEOFFS = 15_000, 300, 12
N_SATELLITE_TREES = 100
N_BUDGETS, N_DRAWS, N_SHARES = 25, 2000, 500
SHARE, GOAL = 0.99, 0.2
PARTS = ("yahoo-3", "yahoo-4", "yahoo-5", "mslr", "satellite")


# The comparison.


def chosen(models: list[Model], budget: float) -> Model | None:
    """Return the model with the best validation score whose validation rows spend at most the budget."""
    return max(
        (m for m in models if m.validation_spend <= budget), key=lambda m: m.validation_score, default=None
    )


def areas(
    methods: dict[str, list[Model]], budgets: NDArray[np.float64], nothing: NDArray[np.float64]
) -> dict[str, NDArray[np.float64]]:
    """Return each query's mean NDCG@5 over budgets that are even in log: the area under its curve."""
    found = {}
    for name, models in methods.items():
        picks = [chosen(models, budget) for budget in budgets]
        found[name] = np.mean([nothing if pick is None else pick.scores for pick in picks], axis=0)
    return found


def draws(n_queries: int) -> NDArray[np.int64]:
    """Return queries drawn with replacement, shape (N_DRAWS, n_queries); the same for all methods."""
    return np.random.default_rng(0).integers(0, n_queries, size=(N_DRAWS, n_queries))


def interval(values: NDArray[np.float64]) -> str:
    """Return the middle 95 % of what the draws gave."""
    low, high = np.quantile(values, [0.025, 0.975])
    return f"({low:+.4f}, {high:+.4f})"


def reaches(scores: NDArray[np.float64], costs: NDArray[np.float64], level: float) -> float:
    """Return the least cost of a model whose score is at least that, infinite if none has it."""
    return float(costs[scores >= level].min(initial=np.inf))


class Reached:
    """At what cost methods reach 99 % of the best NDCG@5.

    The models that count are the circles of the paper's figure: of each setting the round with the best
    validation score. The best is the highest test score among the circles of all methods.
    """

    def __init__(self, methods: dict[str, list[Model]], *, every_round: bool = False) -> None:
        self._models = {
            name: [m for m in models if m.best or every_round] for name, models in methods.items()
        }

    def costs(self, rows: NDArray[np.int64], of: Callable[[Model], float]) -> dict[str, float]:
        """Return the cost of each method by the scores of these queries; infinite if it never gets there."""
        scores = {
            name: np.array([m.scores[rows].mean() for m in models]) for name, models in self._models.items()
        }
        level = SHARE * max(values.max() for values in scores.values())
        return {
            name: reaches(scores[name], np.array([of(m) for m in models]), level)
            for name, models in self._models.items()
        }

    def share(self, name: str, rows: NDArray[np.int64], of: Callable[[Model], float]) -> float:
        """Return a method's cost over the plain booster's.

        A plain booster that does not get there itself pays at least what its most expensive model does.
        """
        costs = self.costs(rows, of)
        return costs[name] / min(costs[PLAIN], max(of(m) for m in self._models[PLAIN]))


def met(share: float) -> str:
    """Return whether a share of the plain booster's cost meets the goal."""
    return "met" if share <= GOAL else "missed"


def compare(problem: Problem, methods: dict[str, list[Model]], say: Callable[[str], None]) -> None:
    """Print areas, their differences, and the costs of 99 % of the best score."""
    most = max(model.spend for models in methods.values() for model in models)
    budgets = np.geomspace(most / 1000, most, N_BUDGETS)
    area = areas(methods, budgets, ndcg_of(problem.test, np.zeros(len(problem.test.qid))))
    say(f"{problem.sizes}.")
    say(f"Budgets: {N_BUDGETS} from {budgets[0]:.3g} to {budgets[-1]:.5g}, even in log.\n")
    say(
        "| method | area | miser - method, 95 % interval | best circle | spend at 99 % of the best | "
        "its price by equation 3 | spend, any round |"
    )
    say("|---|---|---|---|---|---|---|")
    everyone = np.arange(len(area[MISER]))
    circles, rounds = Reached(methods), Reached(methods, every_round=True)
    spend, price = circles.costs(everyone, lambda m: m.spend), circles.costs(everyone, lambda m: m.model_cost)
    any_round = rounds.costs(everyone, lambda m: m.spend)
    resampled = draws(len(everyone))
    for name, models in methods.items():
        gaps = area[MISER] - area[name]
        gap = "" if name == MISER else f"{gaps.mean():+.4f} {interval(gaps[resampled].mean(axis=1))}"
        top = max(model.scores.mean() for model in models if model.best)
        cells = ["never" if np.isinf(c[name]) else f"{c[name]:.0f}" for c in (spend, price, any_round)]
        say(f"| {name} | {area[name].mean():.4f} | {gap} | {top:.4f} | {' | '.join(cells)} |")
    say("")
    if np.isinf(spend[PLAIN]):
        say("- The plain booster never gets there. Shares are of what its dearest circle spends.")
    for name in (name for name in methods if name.startswith(MISER)):
        share = circles.share(name, everyone, lambda m: m.spend)
        again = [circles.share(name, rows, lambda m: m.spend) for rows in resampled[:N_SHARES]]
        low, high = np.quantile(again, [0.025, 0.975], method="nearest")
        by_price = circles.share(name, everyone, lambda m: m.model_cost)
        at_any = rounds.share(name, everyone, lambda m: m.spend)
        say(
            f"- {name}: {share:.2f} of the plain booster's spend ({low:.2f} to {high:.2f} over draws of "
            f"queries; goal: at most {GOAL}: {met(share)}); by the price of equation 3, {by_price:.2f} "
            f"({met(by_price)}); over any round, {at_any:.2f}."
        )


# The page.


def ranking(part: str, args: argparse.Namespace) -> RankingResults:
    """Fit the methods on one ranking table and draw its figures."""
    problem = mslr() if part == "mslr" else yahoo(args.rows, int(part.removeprefix("yahoo-")))
    methods, path = methods_on(problem, args.trees, args.jobs, args.tradeoffs)
    learn, held = problem.choosing[0]
    given: dict[str, Any] = {
        name: (t.X, t.grades, t.qid) for name, t in (("validation", held), ("test", problem.test))
    }
    with warnings.catch_warnings():
        # The weakest penalties need more steps than are worth it.
        warnings.simplefilter("ignore", ConvergenceWarning)
        lasso = l1_path(ranker(problem, 0), learn.X, learn.grades, **given, n_alphas=args.tradeoffs)
    linear = best(lasso)
    figure_1(problem.name, path, methods, args.kept / f"xu2012_figure1_{part}.png")
    figure_2(path, args.kept / f"xu2012_figure2_{part}.png")
    seed = "" if part == "mslr" else f", seed {part.removeprefix('yahoo-')}"
    return RankingResults(
        f"{problem.name}{seed}",
        problem.sizes,
        methods,
        ndcg_of(problem.test, np.zeros(len(problem.test.qid))),
        linear.test_score,
        linear.test_spend,
        commit(),
    )


def run(part: str, args: argparse.Namespace) -> None:
    """Run one part, and keep its results and figures."""
    begin = time.perf_counter()
    if part == "satellite":
        n_trees = min(args.trees, N_SATELLITE_TREES)
        results = satellite(n_trees, args.jobs, args.kept / "xu2012_figure3.png")
    else:
        results = ranking(part, args)
    results.save(args.kept / f"{part}.json")
    print(f"{part}: {time.perf_counter() - begin:.0f} s", flush=True)


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the parts that are not kept yet, and write the page of all that are."""
    parser = options(__doc__)
    parser.add_argument("--parts", nargs="*", default=list(PARTS), help="those of the page, or yahoo-<seed>")
    parser.add_argument(
        "--rows", type=int, default=N_ROWS, help="documents before replication; the paper: 473,134"
    )
    parser.add_argument("--trees", type=int, default=N_TREES, help="rounds of boosting; the paper: 3,000")
    parser.add_argument(
        "--tradeoffs", type=int, default=N_TRADEOFFS, help="how many to find by what documents spend"
    )
    parser.add_argument("--jobs", type=int, default=2)
    args = parse(parser, NAME, arguments)
    if args.tiny:
        args.rows, args.trees, args.tradeoffs, args.jobs = 400, 2, 3, 1
        args.parts = ["yahoo-0", "satellite"]
    for part in args.parts:
        if not (args.kept / f"{part}.md").exists():
            run(part, args)
    done = [part for part in dict.fromkeys((*PARTS, *args.parts)) if (args.kept / f"{part}.md").exists()]
    pieces = [(args.kept / f"{part}.md").read_text() for part in done]
    head = HEAD.format(rows=args.rows, trees=args.trees, tradeoffs=args.tradeoffs, grid=len(TRADEOFFS))
    for figure in args.kept.glob("*.png"):
        shutil.copy(figure, args.out)
    write_page(args.out, NAME, "".join((head, *pieces, TAIL)), command(NAME))


HEAD = """# The Greedy Miser against its rivals

{rows:,} documents before replication, {trees} rounds of depth 4 at a learning rate of 0.1. Trade-offs are
relative to the first loss: {tradeoffs} of them, found by what validation documents spend
(`miser_path(tradeoffs={tradeoffs})`); for mslr_fold1_10k a fixed grid of {grid}, since the folds of its
cross-validation need the same.

- A circle is, as in the paper's figure 1, the round with the best NDCG@5 on validation queries, one for each
  setting of a method; the plain booster has one setting, a trade-off of 0.
- "99 % of the best": the best is the highest test NDCG@5 of any circle of any method. A method reaches 99 %
  of it at the mean spend of its cheapest circle that does, on test documents. "Any round" asks the same of
  all rounds that were the best so far on validation queries, whatever their setting's best is: there the
  plain booster may stop early, too. A plain booster that does not get there counts with its dearest model.
- Spend is what a document pays by the contract, the features looked at on its own paths through the trees;
  the paper's cost (equation 3) is the price of all features that a model tests anywhere.
- Area: at each budget a method offers the model with the best NDCG@5 on validation queries among those whose
  validation documents spend no more; without one it orders by chance. The area is the mean over the budgets
  of NDCG@5 on test queries. Intervals: paired bootstrap over test queries, 2,000 draws (500 for ratios).
- "miser, rows pay" is charge="row", which is not in the paper.
"""

TAIL = """
## What differs from the paper

- The Yahoo set cannot be shared; the Yahoo-shaped table has its shape and its prices, but what its features
  tell is drawn (experiments/lib/yahoo_shaped.py). It shows how the methods behave, not what they reach on the
  real set.
- There are fewer documents and rounds here, and so a plain booster that has not bought everything yet; the
  paper's has.
- Early exit saves tree by tree, but the first ten rounds of a booster that knows no prices have bought much
  of what it will ever buy, as the paper found, too. It has no model for small budgets, hence its small area.
- Figure 3 has the four spectral bands of satellite in place of the descriptors of Scene-15.

## How far to trust it

- Three seeds of the Yahoo-shaped table. `--parts yahoo-<seed>` runs others.
- By the paper's cost, the price of equation 3, the miser gets there for a fifth of the plain booster's or
  less on all three. By spend it misses on seed 5: the plain booster's best round on validation queries is the
  80th there, while it is the 180th and the 280th on the others. So it spends only 4,062, and the miser would
  have to get there for 812; its circles below that, of 551 and less, are short of it by 0.008 and more.
- The sizes and the rounds were chosen on a table of another seed than those here; the generator was left as
  it was. An earlier page had 8,000 documents and 100 rounds, of which three seeds gave 0.16, 0.55 and 1.00 of
  the plain booster's spend: the level hangs on the best of many noisy scores, and a hundred test queries do
  not tell 98 from 99 %. Rounds matter, too: the miser goes on learning from what it owns, at no further cost.
- A page after that had a fixed grid of 11 trade-offs, and gave 0.06 on seed 3 and 0.24 on seed 4, where the
  spends of neighbouring circles, 1,250 and 2,565, lay on either side of a fifth of the plain booster's. So
  the trade-offs are now found by what validation documents spend. Seed 5 was not looked at before.
- The intervals of the shares draw test queries only; models, validation queries and prices are held.
- mslr_fold1_10k has 43 test queries. No circle of the plain booster gets to 99 % of the best there, so the
  miser's share is of the spend of the plain booster's best round; "inf" is a method, or a draw of queries,
  that does not get there itself. A linear model does as well as any of the trees on so few queries.
"""


if __name__ == "__main__":
    main()
