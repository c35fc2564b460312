"""What each part of the miser cascade is worth: the same experiment with one of them changed.

``farthing reproduce cascade_ablations`` writes docs/results/cascade_ablations.md: accuracy on test rows at
the six mean budgets of `experiments.boards.cascade`, for each change. What was measured is kept, so a long
run can be made in parts. FARTHING_DATA must name the folder of the tables; see
`farthing.datasets.load_table`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from experiments.boards.cascade import measure, save, split_of, told_at
from experiments.lib.followed_fits import N_ROUNDS, SETTINGS
from experiments.lib.mean_budgets import SHARES, Followed, Split
from experiments.lib.pages import command, options, parse, write_page
from farthing.cascades import MiserCascadeClassifier
from farthing.cascades.miser_cascade.feature_chains import cut, free_columns, miser_order, prefix_costs
from farthing.cascades.miser_cascade.forward_selection import forward_order
from farthing.costs import CostSheet
from farthing.learning.exits import ALWAYS, Exits, Point
from farthing.learning.out_of_fold import Booster, Columns, OutOfFoldTrainer
from farthing.trees import Forest

NAME = "cascade_ablations"
TABLES = ("dna", "miniboone_tiny", "splice")


class OneChain(MiserCascadeClassifier):
    """The miser's chain for all budgets alone."""

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        sets, chains = super()._chains(nursery)
        return sets[: len(chains[0])], chains[:1]


class NoForward(MiserCascadeClassifier):
    """Without the chain of forward selection."""

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        sets, chains = super()._chains(nursery)
        return sets, [chains[0], *chains[2:]]


class Forward(MiserCascadeClassifier):
    """One chain, that of forward selection."""

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        free = free_columns(nursery.sheet)
        order = forward_order(nursery, free, nursery.bins.n_features)
        return _cut_chain(self, nursery.sheet, order)


class BlindChain(MiserCascadeClassifier):
    """One chain in the order in which a miser buys that takes all prices for one."""

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        return _one_chain(self, nursery, CostSheet.uniform(nursery.sheet.features))


class GainChain(MiserCascadeClassifier):
    """One chain in the order of gain over price in one booster of all features, ranked once."""

    def _chains(self, nursery: OutOfFoldTrainer) -> tuple[list[Columns], list[list[int]]]:
        every = np.arange(nursery.bins.n_features)
        forest = nursery.booster(every).forest
        inner = forest.feature >= 0
        starts = forest.tree_starts()[inner]
        value, cover = forest.value[:, 0], forest.cover
        ends = [starts + forest.left[inner], starts + forest.right[inner]]
        gain = sum(cover[end] * value[end] ** 2 for end in ends) - cover[inner] * value[inner] ** 2
        worth = np.bincount(forest.feature[inner], weights=gain, minlength=len(every)) / nursery.sheet.own
        order = np.argsort(-worth, kind="stable")
        return _cut_chain(self, nursery.sheet, order[worth[order] > 0])


def _one_chain(
    model: Any, nursery: OutOfFoldTrainer, sheet: CostSheet
) -> tuple[list[Columns], list[list[int]]]:
    own = nursery.sheet
    nursery.sheet = sheet
    order = miser_order(nursery, None)
    nursery.sheet = own
    return _cut_chain(model, own, order)


def _cut_chain(model: Any, sheet: CostSheet, order: Columns) -> tuple[list[Columns], list[list[int]]]:
    cuts = cut(prefix_costs(sheet, order), len(free_columns(sheet)), model.n_stages)
    return [np.sort(order[:owned]).astype(np.int64) for owned in cuts], [list(range(len(cuts)))]


class ContinuedNursery(OutOfFoldTrainer):
    """Boosters that go on from the scores of the one before, if its features are among theirs."""

    _last: tuple[set[int], Any, list[Forest]] | None = None

    def booster(self, columns: Columns) -> Booster:
        """Grow a booster, with as many more rounds as suit the rows held out."""
        making = self.boosting(self.folds[0].learn)
        trees: list[Forest] = []
        if self._last is not None and self._last[0] <= set(columns.tolist()):
            making.scores, trees = self._last[1].copy(), list(self._last[2])
        grow = self.grow(self.folds[0].learn, columns)
        n_before, n_outputs = len(trees), len(making.scores)
        best, n_rounds, scores = self.held_loss(making.scores), 0, making.scores.copy()
        for number in range(1, self.settings.n_estimators + 1 if len(columns) else 1):
            making.round(grow)
            if (loss := self.held_loss(making.scores)) < best:
                best, n_rounds, scores = loss, number, making.scores.copy()
        trees += making.trees[: n_rounds * n_outputs]
        self._last = set(columns.tolist()), scores, trees
        making.trees = trees
        rounds = (n_before // n_outputs) + n_rounds
        return Booster(self._forest(making, rounds), scores, rounds)


class Continued(OneChain):
    """Boosters that continue, on one chain."""

    _nursery = ContinuedNursery


class CommonExits(Exits):
    """The same threshold at every stage up to a last one."""

    def path(self) -> list[Point]:
        """Return mean spend, mean error and thresholds for every mean budget, cheapest first."""
        found = []
        for quantile in np.linspace(0, 1, 60):
            for last in range(1, self.n_stages):
                thresholds = np.full(self.n_stages, np.quantile(self._risks[1:], quantile))
                thresholds[0] = -np.inf
                thresholds[last:] = ALWAYS
                found.append(thresholds)
        return self._best([*found, np.full(self.n_stages, ALWAYS)])


class Common(MiserCascadeClassifier):
    """One common threshold."""

    _exits = CommonExits


class HullExits(Exits):
    """The corners of the convex hull alone, without the thresholds between them."""

    def _between(
        self,
        cheap: NDArray[np.float64],
        dear: NDArray[np.float64],  # noqa: ARG002
        part: float,  # noqa: ARG002
    ) -> NDArray[np.float64]:
        return cheap


class Hull(MiserCascadeClassifier):
    """The corners of the hull alone."""

    _exits = HullExits


class Uncalibrated(MiserCascadeClassifier):
    """Scores as they come."""

    def _calibrate(self, nursery: OutOfFoldTrainer, boosters: list[Booster]) -> None:  # noqa: ARG002
        self.temperatures_ = np.ones(len(boosters))


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
    yield from told_at(model.fit(*split.train, validation=split.validation), split)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure what is not measured yet, and write the page."""
    parser = options(__doc__)
    parser.add_argument("--tables", nargs="*", default=[*TABLES])
    parser.add_argument("--seeds", type=int, nargs="*", default=[0])
    parser.add_argument("--most", type=int, help="measure at most so many changes in this run")
    args = parse(parser, NAME, arguments)
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
        write_page(args.out, NAME, page(found, args.tables, args.seeds), command(NAME))


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


HEAD = """# What each part of the miser cascade is worth

Mean accuracy on test rows over {n_budgets} mean budgets, tables and prices as in [cascade](cascade.md), seeds
{seeds}. Each line changes one thing.
"""


if __name__ == "__main__":
    main()
