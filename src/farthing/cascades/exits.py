"""When to stop: the exits of all stages set together, for every price of error at once.

A row passes stages 0 to M - 1. At stage m it has paid ``costs[m]`` in all, and has a risk: the error that its
calibrated probabilities expect if it stops there. It stops at the first stage whose threshold its risk does
not pass; the last stage takes all. The thresholds for a trade-off lambda are to minimise the Lagrangian

    mean over rows of error(stage where the row stops) + lambda * costs[that stage]

over rows held out. Two steps find them:

1. Dynamic programming, from the last stage back. The value of going on from stage m is, for each row, what
   the thresholds behind m make of it; the threshold of m is the best of all cuts of the rows by their risk.
   If the risk at a stage is all that tells how a row will fare later (a Markov chain of risks), these are the
   best thresholds there are.
2. Descent, threshold by threshold: each is set to its exact optimum, over the rows that reach its stage, with
   the others fixed, until none moves. The Lagrangian never rises, so what comes out is no worse than step 1,
   and no change of a single threshold betters it.

Whatever minimises the Lagrangian has the least error of all thresholds that spend no more than it does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# Thresholds of stages where no row stops, and where all do.
NEVER: Final = -np.inf
ALWAYS: Final = np.inf
_MOST_TURNS: Final = 5
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
    thresholds : ndarray of float64, shape (n_points, n_stages)
        A row stops where its risk is at most the threshold.
    """

    spend: Floats
    risk: Floats
    thresholds: Floats

    def within(self, budget: float | None) -> int:
        """Return the place of the least risk whose spend is within a mean budget; 0 if none is."""
        if budget is None:
            return len(self.spend) - 1
        return max(0, int(np.searchsorted(self.spend, budget * (1 + 1e-12), side="right")) - 1)


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

    def path(self) -> ExitPath:
        """Return the thresholds of all trade-offs, and of each stage alone, that are best for some budget."""
        n_stages = len(self._costs)
        whole = self._costs[-1] if self._costs[-1] > 0 else 1.0
        found = [self.solve(float(tradeoff / whole)) for tradeoff in _TRADEOFFS]
        for stage in range(n_stages):
            found.append(np.where(np.arange(n_stages) >= stage, ALWAYS, NEVER))
        points = [(*self.judge(thresholds), thresholds) for thresholds in found]
        points.sort(key=lambda point: point[:2])
        kept: list[tuple[float, float, Floats]] = []
        for point in points:
            if not kept or point[1] < kept[-1][1]:
                kept.append(point)
        spend, risk, thresholds = zip(*kept, strict=True)
        return ExitPath(np.array(spend), np.array(risk), np.array(thresholds))

    def solve(self, tradeoff: float) -> Floats:
        """Return the thresholds of one trade-off, shape (n_stages,)."""
        return self._descend(self._backward(tradeoff), tradeoff)

    def judge(self, thresholds: Floats) -> tuple[float, float]:
        """Return mean spend and mean error of the rows."""
        stops = stop_stages(self._risks, thresholds)
        rows = np.arange(len(stops))
        return (
            float(self._costs[stops] @ self._weights),
            float(self._errors[stops, rows] @ self._weights),
        )

    def _backward(self, tradeoff: float) -> Floats:
        thresholds = np.full(len(self._costs), ALWAYS)
        value = self._errors[-1]
        for stage in range(len(self._costs) - 2, -1, -1):
            later = value + tradeoff * (self._costs[stage + 1] - self._costs[stage])
            thresholds[stage] = self._cut(stage, later - self._errors[stage], None)
            value = np.where(self._risks[stage] <= thresholds[stage], self._errors[stage], later)
        return thresholds

    def _descend(self, thresholds: Floats, tradeoff: float) -> Floats:
        rows = np.arange(self._risks.shape[1])
        for _ in range(_MOST_TURNS):
            before = thresholds.copy()
            stops = self._risks <= thresholds[:, np.newaxis]
            # Where a row would stop behind each stage.
            next_stop = np.full(len(rows), len(stops) - 1)
            for stage in range(len(stops) - 2, -1, -1):
                reach = np.asarray(~stops[:stage].any(axis=0))
                later = self._errors[next_stop, rows]
                later = later + tradeoff * (self._costs[next_stop] - self._costs[stage])
                thresholds[stage] = self._cut(stage, later - self._errors[stage], reach)
                stops[stage] = self._risks[stage] <= thresholds[stage]
                next_stop = np.where(stops[stage], stage, next_stop)
            if np.array_equal(before, thresholds):
                break
        return thresholds

    def _cut(self, stage: int, gains: Floats, reach: NDArray[np.bool_] | None) -> float:
        """Return the threshold whose rows gain most by stopping, of those that reach the stage."""
        order = self._orders[stage]
        if reach is not None:
            order = order[reach[order]]
            if not len(order):
                return NEVER
        risks = self._risks[stage][order]
        sums = np.cumsum((gains * self._weights)[order])
        ends = np.append(risks[1:] > risks[:-1], True)  # rows of the same risk stop together
        sums[~ends] = -np.inf
        last = int(np.argmax(sums))
        if not sums[last] >= 0:
            return NEVER
        if last == len(risks) - 1:
            return ALWAYS
        return float((risks[last] + risks[last + 1]) / 2)


def stop_stages(risks: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """Return the stage where each row stops, shape (n_rows,), from risks (n_stages, n_rows)."""
    stops = risks <= thresholds[:, np.newaxis]
    stops[-1] = True
    return np.asarray(np.argmax(stops, axis=0))
