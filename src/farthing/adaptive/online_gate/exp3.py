"""EXP3.G, algorithm 6 of Nan's thesis: weights over experts, some of which ask for the label."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats

# The price of the doubling trick: the bounds of the phases add up to a geometric series; see `regret_bound`.
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


def phase_length(number: int, first: int) -> int:
    """Return the length of the phase of a round, where each phase is twice as long as the one before.

    Phase m, from 0, has 2^m n rounds, n = ``first``, and begins after (2^m - 1) n of them: a round begins a
    phase if it is the round ``length - first + 1``.

    Parameters
    ----------
    number : int
        Number of the round, from 1.
    first : int
        Length of the first phase.

    Examples
    --------
    >>> [phase_length(number, 1) for number in range(1, 9)]
    [1, 2, 2, 4, 4, 4, 4, 8]
    >>> [phase_length(number, 3) for number in range(1, 11)]
    [3, 3, 3, 6, 6, 6, 6, 6, 6, 12]
    """
    return first << (((number - 1) // first + 1).bit_length() - 1)


def regret_bound(n_rounds: int, n_experts: int, cost: float, horizon: int | None) -> float:
    """Return an upper bound of the expected regret after some rounds, before or past the horizon.

    Let B(n) = 3 c^(1/3) (ln K)^(1/3) n^(2/3), by (6.16) the bound of n rounds with the rates of n. With these
    rates the terms of (6.16) that grow with the rounds are smaller before round n, so B(n) bounds the regret
    of any part of a phase of n rounds that begins with the phase. For T <= H, the horizon, that is B(H).

    Past H the gate restarts in phases of 2H, 4H, ... rounds. The regret against one expert for all rounds is
    at most the sum over the phases of the regret against the best expert of each. If T rounds have begun
    phase M, then T > (2^M - 1) H, and the sum is at most

        sum of B(2^m H) for m = 0 to M = B(H) (a 2^(2M/3) - 1) / (a - 1),  a = 2^(2/3).

    For x = 2^M >= 2, x^(2/3) - (x - 1)^(2/3) falls with x; at x = 2 it is a - 1 = 0.59, less than 1 / a =
    0.63. So a x^(2/3) - 1 < a (x - 1)^(2/3), and the sum is below a / (a - 1) B(T), the bound of the doubling
    trick. An unknown horizon is H = 1, where T >= 2^M gives the same directly.

    Parameters
    ----------
    n_rounds : int
        T.
    n_experts : int
        K.
    cost : float
        c.
    horizon : int or None
        H, None if it is not known.

    Examples
    --------
    >>> [round(regret_bound(n, 10, 1.0, horizon=1000)) for n in (500, 1000, 2000)]
    [396, 396, 1699]
    """
    if horizon is not None and n_rounds <= horizon:
        return bound(horizon, n_experts, cost)
    return DOUBLING * bound(n_rounds, n_experts, cost)


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
