"""Search for trade-offs whose models have evenly spread spends."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

# The first trade-offs, as shares of the largest that buys anything.
_FIRST = tuple(10**-power for power in (0.0, 0.75, 1.5, 2.25, 3.0))
# Trade-offs that are tried at a time. A constant, so that any number of threads gives the same trade-offs.
_AT_ONCE = 4
# Gaps between trade-offs that differ by less than this factor are not split further: the spend jumps there.
_CLOSE = 1.15
# Spends below this share of the plain booster's count as equal.
_LEAST_SHARE = 0.01
# Most steps, by factors of 2, of the search for the largest trade-off that buys anything.
_DOUBLINGS = 100


def largest_tradeoff(spends: Callable[[float], bool], start: float = 1.0) -> float | None:
    """Return the largest trade-off at which anything is bought, to within a factor of 2 below it.

    Parameters
    ----------
    spends : callable
        Whether a model of that trade-off spends anything; true up to some trade-off and false above it.
    start : float
        Where to start.

    Returns
    -------
    float or None
        None if nothing is ever bought, or if something is bought at any trade-off.

    Examples
    --------
    >>> largest_tradeoff(lambda tradeoff: tradeoff < 0.3)
    0.25
    >>> largest_tradeoff(lambda tradeoff: tradeoff < 300.0)
    256.0
    """
    tradeoff = start
    if spends(tradeoff):
        for _ in range(_DOUBLINGS):
            if not spends(2 * tradeoff):
                return tradeoff
            tradeoff *= 2
        return None
    for _ in range(_DOUBLINGS):
        tradeoff /= 2
        if spends(tradeoff):
            return tradeoff
    return None


def spread_tradeoffs(
    n_tradeoffs: int, largest: float | None, spend_at: Callable[[Sequence[float]], Sequence[float]]
) -> list[float]:
    """Return trade-offs with spends spread evenly, on a log scale, from the plain booster's to 1 % of it.

    The search starts with zero and five trade-offs descending from the largest. Then, four at a time, the
    widest gaps between the spends of neighbours are halved. A fixed grid does worse: at small trade-offs many
    of its models have the same spend, and elsewhere there are gaps without a model for a budget.

    Parameters
    ----------
    n_tradeoffs : int
        How many.
    largest : float or None
        The largest trade-off at which anything is bought; see `largest_tradeoff`. If there is none, zero is
        the only one returned.
    spend_at : callable
        From trade-offs to the mean spend of the model of each. It is called a few times, never twice with the
        same trade-off.

    Returns
    -------
    list of float
        Ascending; the first is 0.

    Examples
    --------
    >>> found = spread_tradeoffs(9, 1.0, lambda tradeoffs: [1 / (t + 0.1) for t in tradeoffs])
    >>> [round(1 / (t + 0.1), 1) for t in found]
    [10.0, 9.9, 9.5, 7.6, 5.7, 3.6, 2.7, 1.9, 0.9]
    """
    first = [0.0] if largest is None else [0.0, *(largest * part for part in _FIRST)]
    first = first[:n_tradeoffs]
    spends = dict(zip(first, spend_at(first), strict=True))
    if largest is None or spends[0.0] == 0:
        return first
    while len(spends) < n_tradeoffs:
        more = _between(spends, min(_AT_ONCE, n_tradeoffs - len(spends)))
        spends.update(zip(more, spend_at(more), strict=True))
    return sorted(spends)


def _between(spends: Mapping[float, float], n_most: int) -> list[float]:
    """Return trade-offs that halve the widest gaps, assuming that their spends are halfway, too."""
    # Also keeps a spend of zero out of the logarithm.
    least = _LEAST_SHARE * spends[0.0]
    gaps = [
        _Gap(low, high, abs(math.log(max(spends[low], least) / max(spends[high], least))))
        for low, high in itertools.pairwise(sorted(spends))
    ]
    found = []
    for _ in range(n_most):
        widest = max(gaps, key=lambda gap: gap.rank)
        gaps.remove(widest)
        middle = widest.middle
        found.append(middle)
        gaps += [_Gap(*ends, widest.width / 2) for ends in ((widest.low, middle), (middle, widest.high))]
    return found


@dataclass(frozen=True, slots=True)
class _Gap:
    """Two neighbouring trade-offs, and the logarithm of the ratio of their spends."""

    low: float
    high: float
    width: float

    @property
    def middle(self) -> float:
        # Zero has no geometric mean with anything: go down by half a decade instead.
        return self.high / math.sqrt(10) if self.low == 0 else math.sqrt(self.low * self.high)

    @property
    def rank(self) -> tuple[float, float]:
        """The width first; gaps too narrow to split have width 0 and rank by their trade-offs alone."""
        ratio = self.high / self.middle
        return (self.width if ratio**2 > _CLOSE else 0.0), ratio
