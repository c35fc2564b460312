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
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from farthing._core import ExitThresholds
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
        self._core = ExitThresholds(
            np.ascontiguousarray(costs),
            np.ascontiguousarray(risks),
            np.ascontiguousarray(errors),
            self.weights,
        )

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
        # Stopping all rows at one stage is always an option.
        alone = np.where(np.arange(n_stages) >= np.arange(n_stages)[:, np.newaxis], ALWAYS, NEVER)
        spends, errors, found = self._efficient(
            np.concatenate([self._core.solve(np.append(tradeoffs, exact)), alone])
        )
        if len(found) > 1:
            less, more = spends[:-1], spends[1:]
            # The first spend may be 0, and the ratio infinite.
            ratios = np.where(less > 0, per_price(more, less), np.inf)
            steps = np.minimum(_MOST_STEPS, np.ceil(np.log(ratios) / _STEP)).astype(np.int64).tolist()
            between = [
                self._core.between(found[i], found[i + 1], np.arange(1, n_steps) / n_steps)
                for i, n_steps in enumerate(steps)
                if n_steps > 1
            ]
            spends, errors, found = self._efficient(np.concatenate([found, *between]))
        return list(zip(spends.tolist(), errors.tolist(), found, strict=True))

    def best(self, found: Sequence[Floats]) -> list[ExitPoint]:
        """Return the efficient thresholds with their mean spend and error, cheapest first."""
        spends, errors, thresholds = self._efficient(np.array(found))
        return list(zip(spends.tolist(), errors.tolist(), thresholds, strict=True))

    def _efficient(self, thresholds: Floats) -> tuple[Floats, Floats, Floats]:
        """Return mean spends, mean errors and thresholds of the efficient ones of some, cheapest first."""
        spends, errors = self._core.evaluate(thresholds)
        places = pareto(spends, -errors)
        return spends[places], errors[places], thresholds[places]

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
        return np.asarray(self._core.between(low, high, np.array([part]))[0])

    def solve(self, tradeoff: float) -> Floats:
        """Return the thresholds of one trade-off, shape (n_stages,)."""
        return np.asarray(self._core.solve(np.array([tradeoff]))[0])

    def evaluate(self, thresholds: Floats) -> tuple[float, float]:
        """Return mean spend and mean error of the rows."""
        spends, errors = self._core.evaluate(thresholds[np.newaxis])
        return float(spends[0]), float(errors[0])


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
