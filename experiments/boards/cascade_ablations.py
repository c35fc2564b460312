"""What each part of the miser cascade is worth: the same experiment with one of them changed.

``farthing reproduce cascade_ablations`` writes docs/results/cascade_ablations.md: accuracy on test rows at
the six mean budgets of `experiments.boards.cascade`, for each change. What was measured is kept, so a long
run can be made in parts. FARTHING_DATA must name the folder of the tables; see
`farthing.datasets.load_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from experiments.boards.cascade import at_budgets, measure, save, split_of
from experiments.lib.first_lines import listed, restate, tables, with_first_lines
from experiments.lib.followed_fits import N_ROUNDS, SETTINGS
from experiments.lib.mean_budgets import SHARES, Followed, Split
from experiments.lib.pages import command, options, parse, write_page
from farthing.cascades import MiserCascadeClassifier
from farthing.cascades.miser_cascade.feature_chains import cut, miser_order, prefix_costs
from farthing.cascades.miser_cascade.forward_selection import forward_order
from farthing.costs import CostSheet
from farthing.learning.exits import ALWAYS, NEVER, ExitPoint, Exits
from farthing.learning.feature_prices import free_columns
from farthing.learning.out_of_fold import Columns, OutOfFoldBooster, OutOfFoldTrainer
from farthing.trees import Forest

NAME = "cascade_ablations"
TABLES = ("dna", "miniboone_tiny", "splice")
# Sets of columns, and the chains that lead through them.
Chains: TypeAlias = tuple[list[Columns], list[list[int]]]


class OneChain(MiserCascadeClassifier):
    """Only the miser's chain for all budgets."""

    def feature_chains(self, trainer: OutOfFoldTrainer) -> Chains:
        """Return the first chain."""
        sets, chains = super().feature_chains(trainer)
        return sets[: len(chains[0])], chains[:1]


class NoForward(MiserCascadeClassifier):
    """Without the chain of forward selection."""

    def feature_chains(self, trainer: OutOfFoldTrainer) -> Chains:
        """Return all chains but the second."""
        sets, chains = super().feature_chains(trainer)
        return sets, [chains[0], *chains[2:]]


class Forward(MiserCascadeClassifier):
    """One chain, that of forward selection."""

    def feature_chains(self, trainer: OutOfFoldTrainer) -> Chains:
        """Return the chain of forward selection over all features."""
        order = forward_order(trainer, free_columns(trainer.costs), trainer.bins.n_features)
        return _cut_chain(trainer.costs, order, self.n_stages)


class BlindChain(MiserCascadeClassifier):
    """One chain, in the order in which a miser buys if all prices are 1."""

    def feature_chains(self, trainer: OutOfFoldTrainer) -> Chains:
        """Return the chain of uniform prices."""
        uniform = CostSheet.uniform(trainer.costs.features)
        blind = replace(trainer, rows=replace(trainer.rows, costs=uniform))
        return _cut_chain(trainer.costs, miser_order(blind, None), self.n_stages)


class GainChain(MiserCascadeClassifier):
    """One chain, by gain over price in one booster of all features, ranked once."""

    def feature_chains(self, trainer: OutOfFoldTrainer) -> Chains:
        """Return the chain of the features whose gain is positive."""
        every = np.arange(trainer.bins.n_features)
        forest = trainer.booster(every).forest
        inner = forest.feature >= 0
        starts = forest.tree_starts()[inner]
        value, cover = forest.value[:, 0], forest.cover
        ends = [starts + forest.left[inner], starts + forest.right[inner]]
        gain = sum(cover[end] * value[end] ** 2 for end in ends) - cover[inner] * value[inner] ** 2
        gains = np.bincount(forest.feature[inner], weights=gain, minlength=len(every))
        ratio = gains / trainer.costs.own
        order = np.argsort(-ratio, kind="stable")
        return _cut_chain(trainer.costs, order[ratio[order] > 0], self.n_stages)


def _cut_chain(costs: CostSheet, order: Columns, n_stages: int) -> Chains:
    """Cut an order of columns into the stages of one chain."""
    cuts = cut(prefix_costs(costs, order), len(free_columns(costs)), n_stages)
    return [np.sort(order[:n_owned]).astype(np.int64) for n_owned in cuts], [list(range(len(cuts)))]


@dataclass
class _LastBooster:
    """The booster that was grown last, by the columns it may use."""

    columns: set[int]
    scores: NDArray[np.float64]
    trees: list[Forest]


@dataclass(frozen=True, eq=False)
class ContinuedTrainer(OutOfFoldTrainer):
    """Boosters that continue the one before, if its features are among theirs."""

    # A list, since the trainer itself is frozen; it has at most one entry.
    last: list[_LastBooster] = field(default_factory=list, init=False)

    def boosters(self, sets: Sequence[Columns]) -> list[OutOfFoldBooster]:
        """Grow one booster after another."""
        return [self.booster(columns) for columns in sets]

    def booster(self, columns: Columns) -> OutOfFoldBooster:
        """Grow a booster, with as many more rounds as suit the held-out rows."""
        boosting = self.boosting(self.folds[0].learn)
        trees: list[Forest] = []
        if self.last and self.last[0].columns <= set(columns.tolist()):
            boosting.scores, trees = self.last[0].scores.copy(), list(self.last[0].trees)
        grow = self.grow(self.folds[0].learn, columns)
        n_before, n_outputs = len(trees), len(boosting.scores)
        least, n_rounds, scores = self.held_out_loss(boosting.scores), 0, boosting.scores.copy()
        for number in range(1, self.settings.n_estimators + 1 if len(columns) else 1):
            boosting.round(grow)
            if (loss := self.held_out_loss(boosting.scores)) < least:
                least, n_rounds, scores = loss, number, boosting.scores.copy()
        trees += boosting.trees[: n_rounds * n_outputs]
        self.last[:] = [_LastBooster(set(columns.tolist()), scores, trees)]
        boosting.trees = trees
        n_all = (n_before // n_outputs) + n_rounds
        return OutOfFoldBooster(self.forest(boosting, n_all), scores, n_all)


class Continued(OneChain):
    """Boosters that continue, on one chain."""

    trainer_type = ContinuedTrainer


class CommonExits(Exits):
    """The same threshold at every stage up to a last one."""

    def path(self) -> list[ExitPoint]:
        """Return mean spend, mean error and thresholds for every mean budget, cheapest first."""
        found = []
        for quantile in np.linspace(0, 1, 60):
            for last in range(1, self.n_stages):
                thresholds = np.full(self.n_stages, np.quantile(self.risks[1:], quantile))
                thresholds[0] = NEVER
                thresholds[last:] = ALWAYS
                found.append(thresholds)
        return self.best([*found, np.full(self.n_stages, ALWAYS)])


class Common(MiserCascadeClassifier):
    """One common threshold."""

    exits_type = CommonExits


class HullExits(Exits):
    """Only the corners of the convex hull, without the thresholds between them."""

    def between(
        self,
        low: NDArray[np.float64],
        high: NDArray[np.float64],  # the signature of the base
        part: float,
    ) -> NDArray[np.float64]:
        """Return the thresholds of the lower budget, which are known already."""
        return low


class Hull(MiserCascadeClassifier):
    """Only the corners of the hull."""

    exits_type = HullExits


class Uncalibrated(MiserCascadeClassifier):
    """Scores without calibration."""

    def temperatures(
        self,
        trainer: OutOfFoldTrainer,  # the signature of the base
        boosters: list[OutOfFoldBooster],
    ) -> NDArray[np.float64]:
        """Return a temperature of 1 for each booster."""
        return np.ones(len(boosters))


CHANGES: dict[str, Callable[..., Any]] = {
    "as it is": MiserCascadeClassifier,
    "chain: without forward selection": NoForward,
    "chain: one, the miser's": OneChain,
    "chain: one, forward selection": Forward,
    "chain: one, gain over price ranked once": GainChain,
    "chain: one, a miser blind to prices": BlindChain,
    "boosters: continued, one chain": Continued,
    "stages: 3": lambda *a, **k: MiserCascadeClassifier(*a, **k, n_stages=3),
    "stages: 8": lambda *a, **k: MiserCascadeClassifier(*a, **k, n_stages=8),
    "stages: 40": lambda *a, **k: MiserCascadeClassifier(*a, **k, n_stages=40),
    "thresholds: one common": Common,
    "thresholds: corners of the hull alone": Hull,
    "calibration: none": Uncalibrated,
    "trust: 0, errors made": lambda *a, **k: MiserCascadeClassifier(*a, **k, trust=0.0),
    "trust: 1, errors expected": lambda *a, **k: MiserCascadeClassifier(*a, **k, trust=1.0),
    "exit: learned": lambda *a, **k: MiserCascadeClassifier(*a, **k, exit="learned"),
}


def changed(split: Split, make: Callable[..., Any], n_rounds: int) -> Iterator[Followed]:
    """Yield the changed cascade of each budget."""
    model = make(split.costs, n_estimators=n_rounds, n_jobs=1, random_state=0, **SETTINGS)
    yield from at_budgets(model.fit(*split.train, validation=split.validation), split)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", default=[*TABLES])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--most", type=int, help="measure at most so many changes in this run")
    parser.add_argument("--restate", action="store_true", help="only write the first lines of the page again")
    args = parse(parser, NAME, arguments)
    if args.restate:
        restate(args.out / f"{NAME}.md", first_lines, command(NAME, "--restate"))
        return
    n_rounds, most_rows = N_ROUNDS, None
    if args.tiny:
        n_rounds, most_rows, args.tables = 2, 150, ["thyroid_ann"]
    found: dict[str, dict[str, list[float]]] = {}
    left = args.most
    for seed in args.seeds:
        for name in args.tables:
            split = None
            for change, make in CHANGES.items():
                file = file_of(args.kept, name, seed, change)
                if not file.exists():
                    if left == 0:
                        continue
                    left = None if left is None else left - 1
                    split = split_of(name, seed, most_rows) if split is None else split
                    save(file, measure(split, changed(split, make, n_rounds), by_budget=True))
                accuracy = np.load(file)["right"].mean(axis=1)
                found.setdefault(change, {}).setdefault(name, []).append(float(accuracy.mean()))
                print(f"{name} {seed} {change:45} {accuracy.round(4)} mean {accuracy.mean():.4f}", flush=True)
    if all(len(found.get(change, ())) == len(args.tables) for change in CHANGES):
        text = with_first_lines(page(found, args.tables, args.seeds), first_lines)
        write_page(args.out, NAME, text, command(NAME))


def file_of(kept: Path, name: str, seed: int, change: str) -> Path:
    """Return where the result of a change is kept."""
    slug = "".join(c if c.isalnum() else "_" for c in change)
    return kept / f"{name}-{seed}-{slug}.npz"


def page(found: dict[str, dict[str, list[float]]], tables: list[str], seeds: list[int]) -> str:
    """Return the page."""
    lines = [HEAD.format(seeds=", ".join(map(str, seeds)), n_budgets=len(SHARES))]
    lines += [
        f"| change | {' | '.join(tables)} | mean | against as it is |",
        "|---" * (len(tables) + 3) + "|",
    ]
    base = np.mean([found["as it is"][name] for name in tables])
    for change, by_table in found.items():
        means = [float(np.mean(by_table[name])) for name in tables]
        cells = " | ".join(f"{mean:.4f}" for mean in means)
        lines.append(f"| {change} | {cells} | {np.mean(means):.4f} | {np.mean(means) - base:+.4f} |")
    return "\n".join(lines) + "\n"


def first_lines(text: str) -> list[str]:
    """Return which parts are worth nothing that can be told, from the table of a page."""
    worth = {row["change"]: float(row["against as it is"]) for row in tables(text)[""]}
    names = [name for name in tables(text)[""][0] if name not in {"change", "mean", "against as it is"}]
    changes = {change: gap for change, gap in worth.items() if change != "as it is"}

    def told(which: Callable[[float], bool]) -> str:
        return listed([f'"{change}" ({gap:+.4f})' for change, gap in changes.items() if which(gap)])

    return [
        f"Not every part earns its place here: {told(lambda gap: gap >= 0)} would be at least as good; less "
        f"than {SMALL:g} is lost by {told(lambda gap: -SMALL < gap < 0)}.",
        f"Not there: standard errors, and other seeds and tables than those below ({listed(names)}). A "
        "difference of a thousandth or two may be chance.",
        "The cascade is a method of our own: no paper has figures to compare these with.",
    ]


SMALL = 0.002

HEAD = """# What each part of the miser cascade is worth

Mean accuracy on test rows over {n_budgets} mean budgets, tables and prices as in [cascade](cascade.md), seeds
{seeds}. Each line changes one thing.
"""


if __name__ == "__main__":
    main()
