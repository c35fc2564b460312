"""The planner of sets, word for word as `cpp/neighbors/set_planner.hpp` says it, in plain NumPy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet

Floats = NDArray[np.float64]


@dataclass
class Plans:
    """Training rows, sets and prices."""

    values: Floats  # (n_rows, n_features)
    codes: NDArray[np.uint8]
    scale: Floats
    gap: Floats
    categorical: NDArray[np.bool_]
    weights: Floats
    half: NDArray[np.uint8]
    losses: NDArray[np.float32]
    members: NDArray[np.bool_]
    sheet: CostSheet
    n_neighbors: float
    tradeoff: float
    shrinkage: float

    def neighbors(self, known: Floats, skipped: int = -1) -> NDArray[np.int64]:
        """Return the nearest rows that weigh enough, with all ties of the last; all if nothing is known."""
        far = np.zeros(len(self.values))
        for column in np.flatnonzero(~np.isnan(known)):
            own = self.values[:, column]
            if self.categorical[column]:
                apart = np.where(own == known[column], 0.0, self.scale[column])
            else:
                apart = (own - known[column]) ** 2 * self.scale[column]
            far += np.where(np.isnan(own), self.gap[column], apart)
        if np.isnan(known).all():
            return np.arange(len(far))
        others = np.flatnonzero(np.arange(len(far)) != skipped)
        order = others[np.argsort(far[others], kind="stable")]
        enough = np.flatnonzero(np.cumsum(self.weights[order]) >= self.n_neighbors)
        last = far[order[enough[0] if len(enough) else -1]]
        return np.asarray(others[far[others] <= last])

    def _charge(self, prices: Floats, left: float) -> Floats:
        """Return the weighted prices, infinite where one is over what is left."""
        fits = np.isfinite(prices) & (prices <= left)
        return np.where(fits, self.tradeoff * np.where(fits, prices, 0.0), np.inf)

    def choose(
        self,
        known: Floats,
        heard: NDArray[np.bool_],
        owned: NDArray[np.bool_],
        affordable: NDArray[np.bool_],
        left: float,
        skipped: int = -1,
    ) -> tuple[dict[int, float], float]:
        """Return what going on costs with each open column, and the loss of stopping."""
        near = self.neighbors(known, skipped)
        features = np.array(self.sheet.features, dtype=object)
        paid = set(features[owned])
        dead = heard & np.isnan(known)

        def price(columns: NDArray[np.bool_]) -> float:
            return self.sheet.total([*paid, *features[columns & ~heard]]) - self.sheet.total(paid)

        usable = [not (one & dead).any() and (affordable | heard)[one].all() for one in self.members]
        prices = np.array(
            [price(one) if ok else np.inf for one, ok in zip(self.members, usable, strict=True)]
        )
        prices[prices > left] = np.inf
        weights, losses = self.weights[near], self.losses[near].astype(np.float64)
        means = weights @ losses / weights.sum()
        inside = np.array([heard[one].all() and not (one & dead).any() for one in self.members])
        stop = float(means[inside].min()) if inside.any() else np.inf
        plans = np.where(inside, np.inf, means + self._charge(prices, left))
        costs = {}
        for column in np.flatnonzero(~heard & affordable).tolist():
            only = np.arange(len(heard)) == column
            with_it = np.array(
                [
                    price(one | only) if np.isfinite(p) else np.inf
                    for one, p in zip(self.members, prices, strict=True)
                ]
            )
            charge = self._charge(with_it, left)
            total = 0.0
            for answer in np.unique(self.codes[near, column]):
                for half in (0, 1):
                    cell = self.codes[near, column] == answer
                    chooses, judges = cell & (self.half[near] == half), cell & (self.half[near] != half)
                    if not judges.any():
                        continue
                    judged = weights[chooses] @ losses[chooses] + self.shrinkage * means
                    few = weights[chooses].sum() + self.shrinkage
                    ranked = np.full(len(charge), np.inf)
                    ranked[np.isfinite(charge)] = (judged + few * np.where(np.isfinite(charge), charge, 0.0))[
                        np.isfinite(charge)
                    ]
                    if not np.isfinite(ranked).any():
                        total = np.inf
                        continue
                    best = int(np.argmin(ranked))
                    total += float(
                        weights[judges] @ losses[judges, best] + weights[judges].sum() * charge[best]
                    )
            cost = total / float(weights.sum())
            if np.isfinite(plans).any() and self.members[int(np.argmin(plans)), column]:
                cost = min(cost, float(plans.min()))
            costs[column] = cost
        return costs, stop
