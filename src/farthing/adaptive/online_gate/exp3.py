"""EXP3.G, algorithm 6 of Nan's thesis: weights over experts, some of which ask for the label."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

# The price of the doubling trick: the bounds of the phases add up to a geometric series.
DOUBLING: Final = 2 ** (2 / 3) / (2 ** (2 / 3) - 1)


@dataclass(frozen=True, slots=True)
class Rates:
    """Learning rate and exploration rate, by section 6.2.

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
        # The rates that balance the three terms of the bound (6.16) in section 6.2.
        share = math.log(n_experts) / n_rounds
        return cls(cost ** (-1 / 3) * share ** (2 / 3), min(1.0, cost ** (-2 / 3) * share ** (1 / 3)))


def bound(n_rounds: float, n_experts: int, cost: float) -> float:
    """Return 3 c^(1/3) (ln K)^(1/3) T^(2/3), which the expected regret does not exceed.

    Where T is below ln K / c^2 every round explores; the regret is then at most c T, which is below this.

    Examples
    --------
    >>> round(bound(1000, 10, 1.0))
    396
    """
    return float(3 * (cost * math.log(n_experts)) ** (1 / 3) * n_rounds ** (2 / 3))


class Weights:
    """The distribution q over the experts, stored as logarithms; the last expert always asks.

    Parameters
    ----------
    n_experts : int
        K, the expert that always asks included.
    rates : Rates
        Rates of the rounds to come.

    Attributes
    ----------
    logs : ndarray of float64, shape (n_experts,)
        Logarithms of q, up to a constant.

    Examples
    --------
    >>> weights = Weights(2, Rates(eta=0.5, gamma=0.2))
    >>> weights.draw(0.1), weights.draw(0.3)  # numbers below gamma explore
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
        """Reset to equal weights, with other rates."""
        self.logs = np.zeros_like(self.logs)
        self._restart(rates)

    def resume(self, logs: Floats, rates: Rates) -> None:
        """Set the weights to those of an earlier state."""
        self.logs = logs.copy()
        self._restart(rates)

    def _restart(self, rates: Rates) -> None:
        self.rates = rates
        self._normalise()

    def _normalise(self) -> None:
        # With the largest logarithm at zero, only weights that do not matter can underflow.
        self.logs -= self.logs.max()
        self._plain = np.exp(self.logs)
        self._sums = self._plain.cumsum()
        self._total = float(self._sums[-1])

    @property
    def q(self) -> Floats:
        """The probabilities of the experts without exploration, shape (n_experts,)."""
        return self._plain / self._total

    def draw(self, uniform: float) -> int:
        """Return the expert that a uniform number in [0, 1) selects, by p = (1 - gamma) q + gamma u."""
        gamma = self.rates.gamma
        # The exploration set is the expert that always asks, alone (section 6.2).
        if uniform < gamma:
            return len(self.logs) - 1
        # The rest of the unit interval is uniform again; `min` guards against rounding up to its end.
        place = (uniform - gamma) / (1 - gamma) * self._total
        return min(int(self._sums.searchsorted(place, side="right")), len(self.logs) - 1)

    def chance(self, asks: NDArray[np.bool_]) -> float:
        """Return the probability (6.5) that the drawn expert asks for the label; the last one must."""
        gamma = self.rates.gamma
        # At least gamma, which bounds the estimates that are divided by it.
        return gamma + (1 - gamma) * float(self._plain @ asks) / self._total

    def mean(self, losses: Floats) -> float:
        """Return the expected loss of the drawn expert, sum of p_i l_i."""
        gamma = self.rates.gamma
        return float((1 - gamma) * (self._plain @ losses) / self._total + gamma * losses[-1])

    def learn(self, estimates: Floats) -> None:
        """Multiply each weight by exp(-eta * estimate)."""
        self.logs -= self.rates.eta * estimates
        self._normalise()
