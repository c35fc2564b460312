"""FMCC and VoC, written from their definitions: full distances, counts and regressions at each step."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy.stats import foldnorm

from farthing.costs import CostSheet

Floats = NDArray[np.float64]


@dataclass
class Reference:
    """Training rows and a model f(x) = intercept + sum of votes, as `margins` of each row and feature."""

    values: Floats  # (n_rows, n_features)
    margins: Floats  # (n_rows, n_features): label times vote
    signs: Floats
    weights: Floats
    intercept: float
    scale: Floats
    gap: Floats
    categorical: NDArray[np.bool_]
    used: NDArray[np.bool_]
    n_neighbors: int | None
    radius: float = 0.0

    def distances(self, measured: dict[int, float]) -> Floats:
        """Return squared distances over what is measured, in the order in which it was."""
        total = np.zeros(len(self.values))
        for j, x in measured.items():
            own = self.values[:, j]
            apart = (own != x) * 1.0 if self.categorical[j] else own - x
            squared = np.where(np.isnan(own), np.nan, apart * apart * self.scale[j])
            total += np.where(np.isnan(squared), self.gap[j], squared)
        return total

    def neighborhood(self, measured: dict[int, float]) -> NDArray[np.int64]:
        """Return the rows that agree, or those no farther than the last that weighs enough or the radius."""
        if self.n_neighbors is None:
            rows = np.arange(len(self.values))
            for j, x in measured.items():
                agree = rows[self.values[rows, j] == x]
                rows = agree if len(agree) else rows
            return rows
        if not measured:
            return np.arange(len(self.values))
        distances = self.distances(measured)
        order = np.argsort(distances, kind="stable")
        heavy = np.cumsum(self.weights[order]) >= min(self.n_neighbors, self.weights.sum())
        farthest = distances[order][int(np.argmax(heavy))]
        return np.flatnonzero((distances <= farthest) | (distances <= self.radius**2))

    def share_right(self, rows: NDArray[np.int64], features: list[int]) -> float:
        """Return the share of the rows, by weight, with a positive margin (equations 2.4 and 2.5)."""
        margins = self.signs[rows] * self.intercept
        for j in features:
            margins = margins + self.margins[rows, j]
        return float(self.weights[rows][margins > 0].sum() / self.weights[rows].sum())


@dataclass
class Account:
    """What one row has bought."""

    sheet: CostSheet
    budget: float
    bought: list[int] = field(default_factory=list)

    def price(self, j: int) -> float:
        names = self.sheet.features
        return self.sheet.price(names[j], owned=[names[i] for i in self.bought])

    def affords(self, j: int) -> bool:
        names = self.sheet.features
        return self.sheet.total([names[i] for i in [*self.bought, j]]) <= self.budget * (1 + 1e-12)


def best(gains: dict[int, float], account: Account, alpha: float) -> int | None:
    """Return the feature of the largest net gain; ties go to the gain, then the price, then the left."""
    offers = {j: (gain, alpha * account.price(j)) for j, gain in gains.items() if account.affords(j)}
    ranked = sorted(offers, key=lambda j: (-(offers[j][0] - offers[j][1]), -offers[j][0], offers[j][1], j))
    return ranked[0] if ranked else None


def fmcc(
    reference: Reference, x: Floats, votes: Floats, account: Account, *, alpha: float, confidence: float
) -> tuple[float, float]:
    """Follow algorithm 1 for one row; return the vote and its probability of being right."""
    measured: dict[int, float] = {}
    heard: list[int] = []
    vote, accuracy = reference.intercept, 0.0
    while not (heard and accuracy > confidence):
        rows = reference.neighborhood(measured)
        open_ = [j for j in range(len(x)) if reference.used[j] and j not in heard]
        chosen = best({j: reference.share_right(rows, [*heard, j]) for j in open_}, account, alpha)
        if chosen is None:
            break
        account.bought.append(chosen)
        heard.append(chosen)
        if not math.isnan(x[chosen]):
            measured[chosen] = float(x[chosen])
        vote += votes[chosen]
        accuracy = reference.share_right(reference.neighborhood(measured), heard)
    return vote, accuracy


def local_regression(
    values: Floats, signs: Floats, weights: Floats, ridge: float, measured: dict[int, float]
) -> tuple[float, Floats]:
    """Return E[y | x_O] and what each other feature is worth, by one weighted regression each."""
    columns = list(measured)
    x = np.array([measured[j] for j in columns])
    distances = np.sqrt(((values[:, columns] - x) ** 2).sum(axis=1))
    order = np.argsort(distances)
    middle = int(np.argmax(np.cumsum(weights[order]) >= weights.sum() / 2))
    bandwidth = distances[order][middle]
    kernel = np.exp(-0.5 * (distances / bandwidth) ** 2) if bandwidth > 0 else (distances == 0) * 1.0
    kernel = kernel * weights

    def regress(target: Floats, features: list[int]) -> tuple[float, Floats]:
        """Minimise sum of kernel (target - a - Z b)^2 + ridge b^2."""
        Z = np.column_stack([np.ones(len(values)), values[:, features]])
        penalty = ridge * np.diag([0.0] + [1.0] * len(features))
        found = np.linalg.solve(Z.T * kernel @ Z + penalty, Z.T * kernel @ target)
        return float(found[0]), found[1:]

    intercept, slopes = regress(signs, columns)
    g = intercept + float(slopes @ x)
    worth = np.full(values.shape[1], np.nan)
    for j in set(range(values.shape[1])) - set(columns):
        start, on = regress(values[:, j], columns)
        left = values[:, j] - start - values[:, columns] @ on
        spread = float(kernel @ left**2 + ridge * on @ on)
        w = regress(signs, [*columns, j])[1][-1]
        s = abs(float(w)) * math.sqrt(spread / kernel.sum())
        with np.errstate(all="ignore"):  # SciPy computes the skewness too, which is 0 / 0 far from zero
            worth[j] = (foldnorm.mean(abs(g) / s, scale=s) - abs(g)) / 2 if s > 1e-9 else 0.0
    return g, worth
