"""Early exits: the thresholds of all stages, optimised jointly for many trade-offs.

A row passes stages 0 to M - 1. At stage m it has paid ``costs[m]`` in total, and it has a risk: the expected
error, by its calibrated probabilities, of stopping there. It stops at the first stage where its risk is at
most the threshold; every row stops at the last stage. The thresholds for a trade-off lambda should minimise
the Lagrangian

    mean over rows of error(stage where the row stops) + lambda * costs[that stage]

over held-out rows. Dynamic programming finds them, from the last stage back: for each row, the cost-to-go
from stage m follows from the thresholds of later stages; the threshold of m is the best of all cuts of the
rows by their risk. If the risk at a stage is a sufficient statistic of the later risks (a Markov chain),
these thresholds are optimal; with two stages they always are.

A minimiser of the Lagrangian has the least error of all thresholds that spend no more than it does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing.base.pareto import pareto
from farthing.costs import per_price
from farthing.typing import Floats

# Mean spend, mean error, thresholds.
ExitPoint: TypeAlias = tuple[float, float, Floats]

# Thresholds at which no row stops, and at which all do.
NEVER: Final = -np.inf
ALWAYS: Final = np.inf
# Between two points of the path the log of the spend grows by at most this, unless that takes too many steps.
_STEP: Final = 0.04
_MOST_STEPS: Final = 16
# Trade-offs, in units of one error, or of the largest price of one, per cost of all stages.
_TRADEOFFS: Final = np.append(0.0, np.geomspace(1e-3, 1e3, 72))


@dataclass(frozen=True, eq=False)
class ExitPath:
    """Thresholds for mean budgets from zero to the full cost, cheapest first.

    Attributes
    ----------
    spend : ndarray of float64, shape (n_points,)
        Mean spend of held-out rows, ascending.
    risk : ndarray of float64, shape (n_points,)
        Their mean error, descending.
    chain : ndarray of int64, shape (n_points,)
        The chain that each point belongs to.
    thresholds : ndarray of float64, shape (n_points, n_stages)
        A row stops where its risk is at most the threshold; infinite after the end of a short chain.
    """

    spend: Floats
    risk: Floats
    chain: NDArray[np.int64]
    thresholds: Floats

    @classmethod
    def of(cls, chains: Sequence[Exits]) -> ExitPath:
        """Return the Pareto-efficient points of all chains."""
        n_stages = max(exits.n_stages for exits in chains)
        points = [
            (spend, risk, chain, np.append(each, np.full(n_stages - len(each), ALWAYS)))
            for chain, exits in enumerate(chains)
            for spend, risk, each in exits.path()
        ]
        spends, risks, numbers, thresholds = zip(*points, strict=True)
        spend, risk = np.array(spends), np.array(risks)
        best = pareto(spend, -risk)
        return cls(
            spend[best], risk[best], np.array(numbers, dtype=np.int64)[best], np.array(thresholds)[best]
        )


class Exits:
    """Costs, risks and errors of held-out rows at the stages of one chain, to optimise thresholds on.

    Parameters
    ----------
    costs : ndarray of float64, shape (n_stages,)
        Total cost of a row up to each stage, ascending.
    risks : ndarray of float64, shape (n_stages, n_rows)
        Risks, which are compared with the thresholds.
    errors : ndarray of float64, shape (n_stages, n_rows)
        Errors of stopping at each stage.
    weights : ndarray of float64, shape (n_rows,)
        Weights of the rows.
    price : float, optional
        The largest price of an error, if errors are in the unit of the costs; None means that they are
        counted, 1 each.

    Examples
    --------
    Two rows; the second stage costs 1 and gets both right. The first row is certain at once.

    >>> exits = Exits(np.array([0.0, 1.0]), np.array([[0.1, 0.4], [0.0, 0.0]]),
    ...               np.array([[0.0, 1.0], [0.0, 0.0]]), np.ones(2))
    >>> exits.solve(0.5)
    array([0.25,  inf])
    """

    def __init__(
        self, costs: Floats, risks: Floats, errors: Floats, weights: Floats, price: float | None = None
    ) -> None:
        self.costs = costs
        self.risks = risks
        self.errors = errors
        self.price = price
        #: Normalised to a sum of 1.
        self.weights: Floats = weights / weights.sum()
        # Rows by ascending risk at each stage, sorted once for all trade-offs, and whether the next risk is
        # higher: rows of the same risk stop together.
        self._orders = [np.argsort(risk, kind="stable") for risk in risks]
        self._sorted = [risk[order] for risk, order in zip(risks, self._orders, strict=True)]
        self._ties = [np.append(risk[1:] <= risk[:-1], False) for risk in self._sorted]

    @property
    def n_stages(self) -> int:
        """Number of stages."""
        return len(self.costs)

    def path(self) -> list[ExitPoint]:
        """Return mean spend, mean error and thresholds for a range of mean budgets, cheapest first.

        Trade-offs give the vertices of the convex hull only. Between two vertices the thresholds are
        interpolated by rank, so that more and more rows continue, those of the highest risk first.
        """
        n_stages = len(self.costs)
        whole = self.costs[-1] if self.costs[-1] > 0 else 1.0
        tradeoffs = per_price(_TRADEOFFS * (self.price or 1.0), whole)
        # In one currency, the trade-off of 1 gives the least total cost.
        exact = [] if self.price is None else [1.0]
        found = [self.solve(float(tradeoff)) for tradeoff in (*tradeoffs, *exact)]
        # Stopping all rows at one stage is always an option.
        alone = np.where(np.arange(n_stages) >= np.arange(n_stages)[:, np.newaxis], ALWAYS, NEVER)
        points = self.best([*found, *alone])
        found = [thresholds for _, _, thresholds in points]
        for (less, _, low), (more, _, high) in pairwise(points):
            ratio = float(per_price(more, less))
            n_steps = min(_MOST_STEPS, int(np.ceil(np.log(ratio) / _STEP))) if less else _MOST_STEPS
            found += [self.between(low, high, step / n_steps) for step in range(1, n_steps)]
        return self.best(found)

    def best(self, found: Sequence[Floats]) -> list[ExitPoint]:
        """Return the efficient thresholds with their mean spend and error, cheapest first."""
        points = [(*self.evaluate(each), each) for each in found]
        places = pareto(np.array([point[0] for point in points]), -np.array([point[1] for point in points]))
        return [points[place] for place in places]

    def between(self, low: Floats, high: Floats, part: float) -> Floats:
        """Return thresholds between those of two budgets, by rank.

        Parameters
        ----------
        low, high : ndarray of float64, shape (n_stages,)
            Thresholds of a lower and a higher budget.
        part : float
            Position between the two, 0 to 1.

        Returns
        -------
        ndarray of float64, shape (n_stages,)
            From the stage on where all rows stop at the lower budget, those of the higher one.
        """
        moved = high.copy()
        for stage in range(len(low) - 1):
            risks = self._sorted[stage]
            ranks = np.searchsorted(risks, [low[stage], high[stage]], side="right")
            rank = round((1 - part) * ranks[0] + part * ranks[1])
            moved[stage] = _threshold(risks, rank)
            # At the lower budget no row passes this stage, so its later thresholds are arbitrary.
            if ranks[0] == len(risks):
                break
        return moved

    def solve(self, tradeoff: float) -> Floats:
        """Return the thresholds of one trade-off, shape (n_stages,)."""
        thresholds = np.full(len(self.costs), ALWAYS)
        # Cost-to-go of each row: the Lagrangian from here on, under the thresholds of later stages.
        value = self.errors[-1]
        for stage in range(len(self.costs) - 2, -1, -1):
            later = value + tradeoff * (self.costs[stage + 1] - self.costs[stage])
            thresholds[stage] = self._cut(stage, later - self.errors[stage])
            value = np.where(self.risks[stage] <= thresholds[stage], self.errors[stage], later)
        return thresholds

    def evaluate(self, thresholds: Floats) -> tuple[float, float]:
        """Return mean spend and mean error of the rows."""
        stops = stop_stages(self.risks, thresholds)
        rows = np.arange(len(stops))
        return (
            float(self.costs[stops] @ self.weights),
            float(self.errors[stops, rows] @ self.weights),
        )

    def _cut(self, stage: int, gains: Floats) -> float:
        """Return the threshold at which the stopped rows gain most in total."""
        risks = self._sorted[stage]
        sums = np.cumsum((gains * self.weights)[self._orders[stage]])
        sums[self._ties[stage]] = -np.inf
        last = int(np.argmax(sums))
        # On a tie the rows stop: the Lagrangian is the same and the spend is lower.
        return _threshold(risks, last + 1) if sums[last] >= 0 else NEVER


def _threshold(risks: Floats, n_stopped: int) -> float:
    """Return a threshold that stops the first ``n_stopped`` rows; risks are ascending."""
    if n_stopped == 0:
        return NEVER
    if n_stopped == len(risks):
        return ALWAYS
    # Midway, so that new rows with nearly the same risk stop, too.
    return float((risks[n_stopped - 1] + risks[n_stopped]) / 2)


def stop_stages(risks: Floats, thresholds: Floats) -> NDArray[np.int64]:
    """Return the stage where each row stops, shape (n_rows,), from risks (n_stages, n_rows).

    Examples
    --------
    >>> stop_stages(np.array([[0.1, 0.4], [0.0, 0.3]]), np.array([0.2, np.inf]))
    array([0, 1])
    """
    stops = risks <= thresholds[:, np.newaxis]
    stops[-1] = True
    return np.asarray(np.argmax(stops, axis=0))
