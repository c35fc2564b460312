"""When to stop: the exits of all stages set together, for every price of error at once.

A row passes stages 0 to M - 1. At stage m it has paid ``costs[m]`` in all, and has a risk: the error that its
calibrated probabilities expect if it stops there. It stops at the first stage whose threshold its risk does
not pass; the last stage takes all. The thresholds for a trade-off lambda are to minimise the Lagrangian

    mean over rows of error(stage where the row stops) + lambda * costs[that stage]

over rows held out. Dynamic programming finds them, from the last stage back: the value of going on from stage
m is, for each row, what the thresholds behind m make of it; the threshold of m is the best of all cuts of the
rows by their risk. If the risk at a stage is all that tells how a row will fare later (a Markov chain of
risks), these are the best thresholds there are; with two stages they are in any case.

Whatever minimises the Lagrangian has the least error of all thresholds that spend no more than it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
# Mean spend, mean error, thresholds.
Point: TypeAlias = tuple[float, float, Floats]

# Thresholds of stages where no row stops, and where all do.
NEVER: Final = -np.inf
ALWAYS: Final = np.inf
# Between two points of the path the spend grows by at most this share, or there are so many points.
_STEP: Final = 0.04
_MOST_STEPS: Final = 16
# Trade-offs, in errors for all that there is to buy.
_TRADEOFFS: Final = np.append(0.0, np.geomspace(1e-3, 1e3, 72))


@dataclass(frozen=True, eq=False)
class ExitPath:
    """Thresholds for mean budgets from nothing to all, cheapest first.

    Attributes
    ----------
    spend : ndarray of float64, shape (n_points,)
        Mean spend of the rows held out, ascending.
    risk : ndarray of float64, shape (n_points,)
        Their mean error, descending.
    chain : ndarray of int64, shape (n_points,)
        The chain that each is for.
    thresholds : ndarray of float64, shape (n_points, n_stages)
        A row stops where its risk is at most the threshold; infinite behind the end of a short chain.
    """

    spend: Floats
    risk: Floats
    chain: NDArray[np.int64]
    thresholds: Floats

    @classmethod
    def of(cls, chains: list[Exits]) -> ExitPath:
        """Return the best of all chains at every budget."""
        n_stages = max(exits.n_stages for exits in chains)
        points = [
            (spend, risk, chain, np.append(each, np.full(n_stages - len(each), ALWAYS)))
            for chain, exits in enumerate(chains)
            for spend, risk, each in exits.path()
        ]
        best = _pareto(points)
        return cls(
            np.array([point[0] for point in best]),
            np.array([point[1] for point in best]),
            np.array([point[2] for point in best], dtype=np.int64),
            np.array([point[3] for point in best]),
        )


class Exits:
    """The rows held out, sorted once, to set thresholds for many trade-offs.

    Parameters
    ----------
    costs : ndarray of float64, shape (n_stages,)
        What a row has paid when it is at each stage, ascending.
    risks : ndarray of float64, shape (n_stages, n_rows)
        What thresholds are compared with.
    errors : ndarray of float64, shape (n_stages, n_rows)
        What stopping costs.
    weights : ndarray of float64, shape (n_rows,)
        What each row counts.

    Examples
    --------
    Two rows; the second stage costs 1 and gets both right. The first row is sure at once.

    >>> exits = Exits(np.array([0.0, 1.0]), np.array([[0.1, 0.4], [0.0, 0.0]]),
    ...               np.array([[0.0, 1.0], [0.0, 0.0]]), np.ones(2))
    >>> exits.solve(0.5)
    array([0.25,  inf])
    """

    def __init__(self, costs: Floats, risks: Floats, errors: Floats, weights: Floats) -> None:
        self._costs = costs
        self._risks = risks
        self._errors = errors
        self._weights = weights / weights.sum()
        self._orders = [np.argsort(risk, kind="stable") for risk in risks]

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self._costs)

    def path(self) -> list[Point]:
        """Return mean spend, mean error and thresholds for every mean budget, cheapest first.

        Trade-offs give the corners of the convex hull; between two of them the thresholds move in step, by
        rank, so that more and more rows go on, those of the highest risk first.
        """
        n_stages = len(self._costs)
        whole = self._costs[-1] if self._costs[-1] > 0 else 1.0
        found = [self.solve(float(tradeoff / whole)) for tradeoff in _TRADEOFFS]
        alone = np.where(np.arange(n_stages) >= np.arange(n_stages)[:, np.newaxis], ALWAYS, NEVER)
        points = self._best([*found, *alone])
        found = [thresholds for _, _, thresholds in points]
        for (less, _, cheap), (more, _, dear) in pairwise(points):
            n_steps = min(_MOST_STEPS, int(np.ceil(np.log(more / less) / _STEP))) if less else _MOST_STEPS
            found += [self._between(cheap, dear, step / n_steps) for step in range(1, n_steps)]
        return self._best(found)

    def _best(self, found: list[Floats]) -> list[Point]:
        return _pareto([(*self.judge(each), each) for each in found])

    def _between(self, cheap: Floats, dear: Floats, part: float) -> Floats:
        """Return thresholds between two others, by rank; behind the end of the cheap those of the dear."""
        moved = dear.copy()
        for stage in range(len(cheap) - 1):
            risks = self._risks[stage][self._orders[stage]]
            ranks = np.searchsorted(risks, [cheap[stage], dear[stage]], side="right")
            rank = round((1 - part) * ranks[0] + part * ranks[1])
            moved[stage] = _threshold(risks, rank)
            if ranks[0] == len(risks):
                break
        return moved

    def solve(self, tradeoff: float) -> Floats:
        """Return the thresholds of one trade-off, shape (n_stages,)."""
        thresholds = np.full(len(self._costs), ALWAYS)
        value = self._errors[-1]
        for stage in range(len(self._costs) - 2, -1, -1):
            later = value + tradeoff * (self._costs[stage + 1] - self._costs[stage])
            thresholds[stage] = self._cut(stage, later - self._errors[stage])
            value = np.where(self._risks[stage] <= thresholds[stage], self._errors[stage], later)
        return thresholds

    def judge(self, thresholds: Floats) -> tuple[float, float]:
        """Return mean spend and mean error of the rows."""
        stops = stop_stages(self._risks, thresholds)
        rows = np.arange(len(stops))
        return (
            float(self._costs[stops] @ self._weights),
            float(self._errors[stops, rows] @ self._weights),
        )

    def _cut(self, stage: int, gains: Floats) -> float:
        """Return the threshold whose rows gain most by stopping."""
        order = self._orders[stage]
        risks = self._risks[stage][order]
        sums = np.cumsum((gains * self._weights)[order])
        ends = np.append(risks[1:] > risks[:-1], True)  # rows of the same risk stop together
        sums[~ends] = -np.inf
        last = int(np.argmax(sums))
        return _threshold(risks, last + 1) if sums[last] >= 0 else NEVER


def _pareto(points: list[Any]) -> list[Any]:
    """Return the points, of spend, risk and more, that nothing as cheap is as good as, cheapest first."""
    kept: list[Any] = []
    for point in sorted(points, key=lambda point: point[:2]):
        if not kept or point[1] < kept[-1][1]:
            kept.append(point)
    return kept


def _threshold(risks: Floats, n_stopped: int) -> float:
    """Return a threshold that stops so many of the rows, whose risks ascend."""
    if n_stopped == 0:
        return NEVER
    if n_stopped == len(risks):
        return ALWAYS
    return float((risks[n_stopped - 1] + risks[n_stopped]) / 2)


def stop_stages(risks: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """Return the stage where each row stops, shape (n_rows,), from risks (n_stages, n_rows)."""
    stops = risks <= thresholds[:, np.newaxis]
    stops[-1] = True
    return np.asarray(np.argmax(stops, axis=0))
