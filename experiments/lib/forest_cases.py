"""The forests of `experiments.papers.nan2018_forests`, and their curves by table and seed."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from typing import Any, Final, TypeAlias

import numpy as np

from experiments.lib.forest_rivals import Setting, rival_curve, settings_of
from experiments.lib.forest_runs import (
    ALPHAS,
    IMPURITIES,
    Cache,
    Curve,
    Size,
    Task,
    by_split,
    covtype,
    early_stopping,
    forest,
    growth,
    peer,
    pruning,
    shrunk,
    stopped_by_entropy,
    weights_as_costs,
)

Curves: TypeAlias = dict[str, list[Curve]]

SHARES: Final = {"covtype": 0.30, "miniboone_tiny": 0.90}  # of the features that a chosen BudgetRF may use
PEER: Final = "RF(entropy) of scikit-learn"
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

    def rival(self, table: str, seed: int, method: str) -> Curve:
        """Return the curve of a method of figure 3.3 over all of its settings."""

        def make(setting: Setting) -> Curve:
            return rival_curve(method, self.task(table, seed), seed, self.size, setting)

        def named(setting: Setting) -> str:
            return f"{method} " + " ".join(f"{name} {value}" for name, value in setting.items())

        return np.concatenate(
            [
                self._kept(named(setting), table, seed, partial(make, setting))
                for setting in settings_of(method, self.size)
            ]
        )

    def stopped_by_impurity(self, table: str, seed: int) -> Curve:
        """Return the points of forests whose nodes are not split below some impurity."""

        def make(least: float) -> Curve:
            settings = {"min_impurity": least}
            return early_stopping(self.task(table, seed), seed, self.size.n_estimators, settings)

        return np.concatenate(
            [self._kept(f"min_impurity {n}", table, seed, partial(make, float(n))) for n in IMPURITIES]
        )

    def pruning(self, table: str, seed: int, settings: dict[str, Any], name: str) -> Curve:
        """Return the curve of one way to prune a forest, or to stop its growth early."""
        key = tuple(settings.items())
        label = " ".join(f"{option} {value}" for option, value in key)

        def make() -> Curve:
            task, grown = self.task(table, seed), self.forest(table, seed, key)
            return stopped_by_entropy(task, grown) if name == "early stopping" else pruning(task, grown, name)

        return self._kept(f"{name} {label}", table, seed, make)

    def seeds(self, table: str) -> int:
        """Return how many forests of a table are pruned."""
        return self._seeds.get(table, self._other_seeds)

    def prunings(
        self, table: str, settings: dict[str, Any], names: tuple[str, ...], n_seeds: int | None = None
    ) -> Curves:
        """Return the curves of several ways to prune the same forests, a list of seeds each."""
        curves: Curves = {name: [] for name in names}
        for seed in range(self.seeds(table) if n_seeds is None else n_seeds):  # a forest is grown once
            for name in names:
                curves[name].append(self.pruning(table, seed, settings, name))
        return curves
