"""LightGBM as a rival under mean budgets: penalised, coupled or lazy, or on the best static subset.

Each rival has its own fits, every round of which is a model. Validation rows choose one for each budget
(`experiments.lib.mean_budgets`), and the chosen setting is fitted again with the validation rows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import lightgbm
import numpy as np
from numpy.typing import NDArray

from experiments.lib.followed_fits import grid
from experiments.lib.mean_budgets import SHARES, Followed, Split, follow, prior
from experiments.lib.penalised_lightgbm import penalised_classifier
from farthing.costs import CostSheet

# As the cascade and the miser have by default.
N_ROUNDS = 100
SETTINGS: dict[str, Any] = {
    "max_depth": 4,
    "learning_rate": 0.1,
    "l2_regularization": 1.0,
    "min_samples_leaf": 5,
}
COUPLED, LAZY, SUBSET = "LightGBM coupled", "LightGBM lazy", "LightGBM on a subset"
RIVALS = (COUPLED, LAZY, SUBSET)

Row = tuple[NDArray[np.bool_], float]  # which test rows are right; what they spend on average


@dataclass(frozen=True)
class Setting:
    """A fit of LightGBM: a penalty, or the first columns of an order.

    Attributes
    ----------
    family : str
        The rival whose setting it is.
    tradeoff : float
        Relative to the initial loss.
    columns : tuple of int or None
        Those that it may use; None is all.
    """

    family: str
    tradeoff: float = 0.0
    columns: tuple[int, ...] | None = None

    def fit(self, split: Split, n_rounds: int = N_ROUNDS) -> Followed:
        """Return the model after each round, as validation and test rows see it."""
        X, y = split.train
        hidden = X
        if self.columns is not None:
            hidden = np.full_like(X, np.nan)
            hidden[:, self.columns] = X[:, self.columns]
        forest = penalised_classifier(
            hidden,
            y,
            list_prices(split.costs),
            penalty="lazy" if self.family == LAZY else "coupled",
            tradeoff=self.tradeoff,
            n_rounds=n_rounds,
            **SETTINGS,
        )
        return follow(forest, split)


def list_prices(costs: CostSheet) -> NDArray[np.float64]:
    """Return what each feature costs alone, its group's part included, shape (n_features,)."""
    return np.array([costs.price(feature) for feature in costs.features])


def settings(family: str, split: Split, n_fits: int) -> list[Setting]:
    """Return trade-offs for a penalty, or sizes for subsets, half of them by gain, half by gain per price."""
    if family != SUBSET:
        return [Setting(family, float(t)) for t in grid(n_fits)]
    each = n_fits // 2
    gains = gains_of(split)
    whole = split.costs.total(split.costs.features)
    found = []
    for key in (gains, gains / np.maximum(list_prices(split.costs), 1e-9)):
        order = np.argsort(-key, kind="stable")
        names = [split.costs.features[column] for column in order]
        spent = np.array([split.costs.total(names[: n + 1]) for n in range(len(names))]) / whole
        # The largest prefix within each budget, and within others between them.
        between = [s for s in np.geomspace(0.005, 1.0, 4 * each) if s not in SHARES]
        sizes = dict.fromkeys(
            int(np.searchsorted(spent, share * (1 + 1e-9), side="right")) for share in (*SHARES, *between)
        )
        found += [Setting(family, columns=tuple(order[:size])) for size in [s for s in sizes if s][:each]]
    return found


def gains_of(split: Split) -> NDArray[np.float64]:
    """Return what each feature gains in a booster that knows no prices."""
    X, y = split.train
    n_classes = int(y.max()) + 1
    options: dict[str, Any] = {"objective": "binary" if n_classes == 2 else "multiclass", "verbosity": -1}
    if n_classes > 2:
        options["num_class"] = n_classes
    options |= {"max_depth": 4, "num_leaves": 16, "learning_rate": 0.1, "num_threads": 1}
    booster = lightgbm.train(options, lightgbm.Dataset(X, y), N_ROUNDS)
    return np.asarray(booster.feature_importance("gain"), dtype=np.float64)


def together(split: Split) -> Split:
    """Return the split with all rows but those of the test to learn from."""
    rows = [np.concatenate(pair) for pair in zip(split.train, split.validation, strict=True)]
    return replace(split, train=(rows[0], rows[1]))


def rival(family: str, split: Split, n_fits: int, n_rounds: int = N_ROUNDS) -> list[Row]:
    """Return a rival's results at the six budgets, after so many fits and one for each setting chosen."""
    tried = settings(family, split, n_fits)
    fits = [setting.fit(split, n_rounds) for setting in tried]
    models = Followed.joined([prior(split), *fits])
    origin = [(-1, 0), *((place, r) for place, fit in enumerate(fits) for r in range(len(fit.spend)))]
    whole = split.costs.total(split.costs.features)
    everything = together(split)
    again: dict[int, Followed] = {-1: prior(everything)}
    rows: list[Row] = []
    for share in SHARES:
        chosen = models.within(share * whole)
        assert chosen is not None  # the prior fits
        place, after = origin[chosen]
        if place not in again:
            again[place] = tried[place].fit(everything, n_rounds)
        refitted = again[place]
        after = min(after, len(refitted.test_spend) - 1)
        rows.append((refitted.right[after], float(refitted.test_spend[after])))
    return rows
