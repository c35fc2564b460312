"""Counts of classes, and how impure they are."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.kernels.naive.criteria import FREE, NOISE, Constraint
from tests.kernels.naive.sums import add_up, to_fixed


def impurity_of(counts: Sequence[Any], kind: Any, alpha: Any = 0, power: Any = 2) -> Any:
    """Return the impurity of a node from its class counts, which may be floats, integers or fractions."""
    if callable(kind):
        return kind(np.array(counts)) if sum(counts) > 0 else 0
    n = add_up(counts)
    if n <= 0:
        return 0
    if kind == "entropy":
        return -add_up(c * math.log(c / n) for c in counts if c > 0)
    if kind == "gini":
        return add_up(c * (n - c) for c in counts) / n
    if kind == "powers":  # equation 3.13 of Nan's thesis
        return max(functools.reduce(operator.sub, (c**power for c in counts), n**power), 0)
    pairs = [(a, b) for i, a in enumerate(counts) for j, b in enumerate(counts) if i != j]
    return add_up(max(max(a - alpha, 0) * max(b - alpha, 0) - alpha**2, 0) for a, b in pairs)  # equation 3.10


class Classes:
    """Parting classes: a node's value is the weight of each class."""

    def __init__(
        self,
        labels: NDArray[np.int64],
        weights: Sequence[float],
        n_classes: int,
        *,
        kind: Any = "entropy",
        alpha: float = 0.0,
        power: float = 2.0,
        min_impurity: float = 0.0,
    ) -> None:
        self.weights = to_fixed(weights)
        self.min_impurity = min_impurity
        self.n_classes = n_classes
        self.impurity = functools.partial(impurity_of, kind=kind, alpha=alpha, power=power)
        self.minimax = kind not in ("entropy", "gini")
        self.cells = np.zeros((len(labels), n_classes + 1), dtype=np.int64)
        self.cells[np.arange(len(labels)), labels] = self.weights.values
        self.cells[:, -1] = 1

    def value(self, sums: NDArray[np.int64], within: Constraint = FREE) -> list[float]:
        return [self.weights.back(int(total)) for total in sums[:-1]]

    def level(self, sums: NDArray[np.int64], within: Constraint) -> float:
        return self.order_keys(sums)[0]

    def cover(self, sums: NDArray[np.int64]) -> float:
        return self.weights.back(int(sums[:-1].sum()))

    def population(self, sums: NDArray[np.int64]) -> float:
        return self.cover(sums)

    def gain(self, left: NDArray[np.int64], right: NDArray[np.int64], within: Constraint = FREE) -> float:
        levels = [self.level(side, within) for side in (left, right)]
        if within != FREE and not (within.ordered(*levels) and all(x == within.clip(x) for x in levels)):
            return 0.0
        whole, a, b = (self.impurity(self.value(sums)) for sums in (left + right, left, right))
        fall = whole - (max(a, b) if self.minimax else a + b)
        return fall if fall > NOISE * whole else 0.0

    def pure(self, sums: NDArray[np.int64]) -> bool:
        return self.impurity(self.value(sums)) <= self.min_impurity

    def order_keys(self, sums: NDArray[np.int64]) -> list[float]:
        """Return the share of each class, or of the second one if there are two."""
        weight = int(sums[:-1].sum())
        shares = [int(total) / weight if weight else 0.0 for total in sums[:-1]]
        return shares[-1:] if self.n_classes <= 2 else shares
