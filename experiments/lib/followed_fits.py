"""Fits of the Greedy Miser and of LightGBM with cost penalties, every round of which is a model to choose."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, TypeVar

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray

from experiments.lib.mean_budgets import SHARES, Followed, Split, follow
from experiments.lib.penalised_lightgbm import Penalty, penalised_classifier
from farthing.boosting import GreedyMiserClassifier
from farthing.boosting.greedy_miser.tradeoff_search import largest_tradeoff, spread_tradeoffs

THRESHOLDS = (0.6, 0.8, 0.9, 0.97)
SETTINGS: dict[str, Any] = {
    "max_depth": 4,
    "learning_rate": 0.2,
    "l2_regularization": 1.0,
    "min_samples_leaf": 5,
}
N_ROUNDS = 30
# One in so many of the miser's fits has a hard budget, at this part of the largest trade-off that buys.
ONE_HARD_IN, HARD_TRADEOFF = 6, 0.01

T = TypeVar("T")
FitAll: TypeAlias = Callable[[Sequence[float]], list[T]]


@dataclass(frozen=True)
class Fit:
    """One fit of the miser: who pays, the relative trade-off, a hard budget as a share of all prices."""

    charge: Literal["model", "row"]
    tradeoff: float
    budget: float | None = None


def grid(n_fits: int) -> NDArray[np.float64]:
    """Return LightGBM's trade-offs."""
    return np.append(0.0, np.geomspace(1e-6, 3e-2, n_fits - 1))


def miser_fit(split: Split, fit: Fit, n_rounds: int) -> tuple[Followed, Followed]:
    """Follow one of the miser's fits, without exits and with them."""
    total = split.costs.total(split.costs.features)
    model = GreedyMiserClassifier(
        tradeoff=fit.tradeoff,
        relative=True,
        charge=fit.charge,
        budget=None if fit.budget is None else fit.budget * total,
        n_estimators=n_rounds,
        multi_strategy="one_output_per_tree",
        costs=split.costs,
        n_jobs=1,
        **SETTINGS,
    ).fit(*split.train)
    followed = follow(model.forest_, split, THRESHOLDS, model.budget_)
    return followed.first(model.n_rounds_ + 1), followed


def spread_fits(
    n_fits: int, largest: float | None, fit_all: FitAll[T], spend: Callable[[T], float]
) -> list[T]:
    """Return fits whose spends are spread evenly (`farthing.boosting.greedy_miser.tradeoff_search`).

    ``fit_all`` takes trade-offs to fits, ``spend`` a fit to what validation rows spend in the end.
    """
    found: list[T] = []

    def spend_at(tradeoffs: Sequence[float]) -> list[float]:
        fits = fit_all(tradeoffs)
        found.extend(fits)
        return [spend(fit) for fit in fits]

    spread_tradeoffs(n_fits, largest, spend_at)
    return found


def miser_fits(
    split: Split, largest: float | None, n_fits: int, n_rounds: int, pool: Parallel
) -> list[tuple[Followed, Followed]]:
    """Follow the miser's fits: trade-offs at which rows pay, and hard budgets of the whole model.

    Where one feature more or less decides, the spend leaps between neighbouring trade-offs; hard budgets, one
    for each of the smallest shares, land in between.
    """

    def follow_all(fits: Iterable[Fit]) -> list[tuple[Followed, Followed]]:
        return [*pool(delayed(miser_fit)(split, fit, n_rounds) for fit in fits)]

    n_hard = n_fits // ONE_HARD_IN
    by_row = spread_fits(
        n_fits - n_hard,
        largest,
        lambda tradeoffs: follow_all(Fit("row", tradeoff) for tradeoff in tradeoffs),
        lambda followed: float(followed[0].spend[-1]),
    )
    tradeoff = HARD_TRADEOFF * (largest or 0.0)
    return by_row + follow_all(Fit("model", tradeoff, share) for share in SHARES[:n_hard])


def largest_of(split: Split) -> float | None:
    """Return the largest trade-off at which the miser buys anything."""
    return largest_tradeoff(lambda tradeoff: _first_cost(split, tradeoff) > 0)


def _first_cost(split: Split, tradeoff: float) -> float:
    """Return what the first splits of the first round cost together."""
    settings = {**SETTINGS, "max_depth": 1}
    model = GreedyMiserClassifier(
        tradeoff=tradeoff,
        relative=True,
        n_estimators=1,
        multi_strategy="one_output_per_tree",
        costs=split.costs,
        **settings,
    )
    bought = model.fit(*split.train).forest_.feature
    return split.costs.total([split.costs.features[column] for column in {*bought.tolist()} - {-1}])


def lightgbm_fit(split: Split, penalty: Penalty, tradeoff: float, n_rounds: int) -> Followed:
    """Follow one of LightGBM's fits."""
    forest = penalised_classifier(
        *split.train, split.costs.own, penalty=penalty, tradeoff=tradeoff, n_rounds=n_rounds, **SETTINGS
    )
    return follow(forest, split)
