"""Sums of numbers on a grid of whole multiples."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any


@dataclass
class Fixed:
    """Numbers rounded to whole multiples of a unit."""

    values: list[int]
    unit: float

    def back(self, total: int) -> float:
        return float(total) * self.unit


def to_fixed(x: Sequence[float], sum_bits: int = 62) -> Fixed:
    """Round to the finest power of two at which len(x) numbers sum to at most 2**sum_bits."""
    exact = [Fraction(float(value)) for value in x]
    largest = max((abs(value) for value in exact), default=Fraction(0))
    whole = all(value.denominator == 1 for value in exact)
    shift = 0
    if largest and not (whole and sum(map(abs, exact)) < 2 ** min(53, sum_bits)):
        magnitude = math.frexp(float(largest))[1]
        shift = min(1000, sum_bits - (len(exact) - 1).bit_length() - magnitude)
    return Fixed([round(value * Fraction(2) ** shift) for value in exact], math.ldexp(1.0, -shift))


def add_up(numbers: Iterable[Any]) -> Any:
    """Add one after the other, which Python's own sum of floats has not done since 3.12."""
    return functools.reduce(operator.add, numbers, 0)
