"""What trees are grown for, of which the plainest are gradients; bounds of values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from tests.kernels.naive.sums import Fixed, to_fixed

NOISE = 1e-12  # a gain below this share of what there was to gain is rounding


@dataclass(frozen=True)
class Constraint:
    """Bounds of the values of both sides of a split, and their order: 1 rising, -1 falling, 0 any."""

    lower: float = -math.inf
    upper: float = math.inf
    direction: int = 0

    def clip(self, value: float) -> float:
        return min(max(value, self.lower), self.upper)

    def ordered(self, left: float, right: float) -> bool:
        return (right - left) * self.direction >= 0

    def below(self, left: float, right: float) -> tuple[Constraint, Constraint]:
        """Return the bounds of what is below the left and the right side of a split with these values."""
        if not self.direction:
            return self, self
        middle = min(max(left / 2 + right / 2, min(left, right)), max(left, right))
        low, high = Constraint(self.lower, middle), Constraint(middle, self.upper)
        return (low, high) if self.direction > 0 else (high, low)


FREE = Constraint()


class Target(Protocol):
    """What the rows are grown for. `cells` has what each row adds to the sums of its node; the last is 1."""

    cells: NDArray[np.int64]

    def value(self, sums: NDArray[np.int64], within: Constraint = FREE) -> list[float]: ...
    def level(self, sums: NDArray[np.int64], within: Constraint) -> float: ...
    def cover(self, sums: NDArray[np.int64]) -> float: ...
    def population(self, sums: NDArray[np.int64]) -> float: ...
    def gain(self, left: NDArray[np.int64], right: NDArray[np.int64], within: Constraint = FREE) -> float: ...
    def pure(self, sums: NDArray[np.int64]) -> bool: ...
    def order_keys(self, sums: NDArray[np.int64]) -> list[float]: ...


class Gradients:
    """Least squares to negative gradients: a node's value is G / (H + l2_regularization)."""

    def __init__(
        self,
        gradients: Sequence[float],
        hessians: Sequence[float] | None = None,
        l2_regularization: float = 0.0,
    ) -> None:
        n = len(gradients)
        # Unit hessians of few rows share one integer with the gradients, which leaves these fewer bits.
        packed = hessians is None and 62 - 2 * n.bit_length() >= 24
        self.g = to_fixed(gradients, 62 - n.bit_length() if packed else 62)
        self.h = Fixed([1] * n, 1.0) if hessians is None else to_fixed(hessians)
        self.l2_regularization = l2_regularization
        self.cells = np.array([self.g.values, self.h.values, [1] * n], dtype=np.int64).T

    def value(self, sums: NDArray[np.int64], within: Constraint = FREE) -> list[float]:
        weight = self.cover(sums) + self.l2_regularization
        return [within.clip(self.g.back(int(sums[0])) / weight if weight > 0 else 0.0)]

    def level(self, sums: NDArray[np.int64], within: Constraint) -> float:
        return self.value(sums, within)[0]

    def cover(self, sums: NDArray[np.int64]) -> float:
        return self.h.back(int(sums[1]))

    def population(self, sums: NDArray[np.int64]) -> float:
        return float(sums[-1])

    def explained(self, sums: NDArray[np.int64], within: Constraint = FREE) -> float:
        weight = self.cover(sums) + self.l2_regularization
        g = self.g.back(int(sums[0]))
        kept = self.level(sums, within)
        if kept != self.level(sums, FREE):
            return (2 * g - weight * kept) * kept
        return g * g / weight if weight > 0 else 0.0

    def gain(self, left: NDArray[np.int64], right: NDArray[np.int64], within: Constraint = FREE) -> float:
        if not within.ordered(self.level(left, within), self.level(right, within)):
            return 0.0
        parts = self.explained(left, within) + self.explained(right, within)
        rise = parts - self.explained(left + right, within)
        return rise / 2 if rise > NOISE * abs(parts) else 0.0

    def pure(self, sums: NDArray[np.int64]) -> bool:
        return False

    def order_keys(self, sums: NDArray[np.int64]) -> list[float]:
        return self.value(sums)


def on_grid(x: NDArray[np.float64], n_added: int, bits: int) -> Fixed:
    """Round to the finest power of two at which n_added of the numbers sum to at most 2**bits."""
    exact = [Fraction(float(value)) for value in np.ravel(x)]
    largest = max(abs(value) for value in exact)
    shift = 0
    if largest and not (all(v.denominator == 1 for v in exact) and largest * n_added < 2 ** min(53, bits)):
        shift = min(1000, bits - (n_added - 1).bit_length() - math.frexp(float(largest))[1])
    return Fixed([round(value * Fraction(2) ** shift) for value in exact], math.ldexp(1.0, -shift))
