"""EXP3.G, algorithm 6 of Nan's thesis: experts of which some ask for the label, and so see every loss."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.projection import Floats

# What doubling costs: the phases' bounds add up to those of a geometric series.
DOUBLING: Final = 2 ** (2 / 3) / (2 ** (2 / 3) - 1)


@dataclass(frozen=True, slots=True)
class Rates:
    """How fast to learn and how often to explore, by section 6.2.

    Attributes
    ----------
    eta : float
        Learning rate, c^(-1/3) (ln K / T)^(2/3).
    gamma : float
        Share of the rounds that explore, c^(-2/3) (ln K / T)^(1/3), 1 at most.

    Examples
    --------
    >>> Rates.of(n_rounds=1000, n_experts=10, cost=1.0).gamma.__round__(3)
    0.132
    """

    eta: float
    gamma: float

    @classmethod
    def of(cls, n_rounds: int, n_experts: int, cost: float) -> Rates:
        """Return the rates for a known number of rounds."""
        share = math.log(n_experts) / n_rounds
        return cls(cost ** (-1 / 3) * share ** (2 / 3), min(1.0, cost ** (-2 / 3) * share ** (1 / 3)))


def bound(n_rounds: float, n_experts: int, cost: float) -> float:
    """Return 3 c^(1/3) (ln K)^(1/3) T^(2/3), which the expected regret does not exceed.

    Where T is below ln K / c^2 every round explores, the regret is at most c T, and that is below this, too.

    Examples
    --------
    >>> round(bound(1000, 10, 1.0))
    396
    """
    return float(3 * (cost * math.log(n_experts)) ** (1 / 3) * n_rounds ** (2 / 3))


class Weights:
    """The distribution q over the experts, kept as logarithms; the last expert always asks.

    Parameters
    ----------
    n_experts : int
        K, the expert that always asks among them.
    rates : Rates
        Of the rounds to come.

    Attributes
    ----------
    logs : ndarray of float64, shape (n_experts,)
        Logarithms of q, up to a constant.

    Examples
    --------
    >>> weights = Weights(2, Rates(eta=0.5, gamma=0.2))
    >>> weights.draw(0.1), weights.draw(0.3)  # the first share gamma of all draws explores
    (1, 0)
    >>> chance = weights.chance(np.array([False, True]))
    >>> round(chance, 3)
    0.6
    >>> weights.learn(np.array([1.0, 0.5]) / chance)
    >>> weights.q.round(3)
    array([0.397, 0.603])
    """

    def __init__(self, n_experts: int, rates: Rates) -> None:
        self.logs = np.zeros(n_experts)
        self._restart(rates)

    def restart(self, rates: Rates) -> None:
        """Forget all, and go on with other rates."""
        self.logs = np.zeros_like(self.logs)
        self._restart(rates)

    def resume(self, logs: Floats, rates: Rates) -> None:
        """Take up the weights of an earlier moment."""
        self.logs = logs.copy()
        self._restart(rates)

    def _restart(self, rates: Rates) -> None:
        self.rates = rates
        self._weigh()

    def _weigh(self) -> None:
        """Bring the largest logarithm to zero, so that none underflows that matters."""
        self.logs -= self.logs.max()
        self._plain = np.exp(self.logs)
        self._sums = self._plain.cumsum()
        self._total = float(self._sums[-1])

    @property
    def q(self) -> Floats:
        """The probabilities of the experts without exploration, shape (n_experts,)."""
        return self._plain / self._total

    def draw(self, lot: float) -> int:
        """Return the expert that a lot in [0, 1) falls on, by p = (1 - gamma) q + gamma u."""
        gamma = self.rates.gamma
        if lot < gamma:
            return len(self.logs) - 1
        place = (lot - gamma) / (1 - gamma) * self._total
        return min(int(self._sums.searchsorted(place, side="right")), len(self.logs) - 1)

    def chance(self, asks: NDArray[np.bool_]) -> float:
        """Return the probability (6.5) that the expert drawn is one that asks; the last one must."""
        gamma = self.rates.gamma
        return gamma + (1 - gamma) * float(self._plain @ asks) / self._total

    def mean(self, losses: Floats) -> float:
        """Return the expected loss of the expert drawn, sum of p_i l_i."""
        gamma = self.rates.gamma
        return float((1 - gamma) * (self._plain @ losses) / self._total + gamma * losses[-1])

    def learn(self, estimates: Floats) -> None:
        """Multiply each weight by exp(-eta * estimate)."""
        self.logs -= self.rates.eta * estimates
        self._weigh()
