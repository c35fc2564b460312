"""Prices of features with shared parts, and what is affordable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.kernels.naive.sums import add_up


@dataclass
class Sheet:
    """Own costs by feature, shared costs by group, and the group of each feature (-1: none)."""

    own: Sequence[float]
    shared: Sequence[float] = ()
    group_of: Sequence[int] | None = None

    def groups(self, features: Iterable[int]) -> set[int]:
        return set() if self.group_of is None else {self.group_of[j] for j in features} - {-1}

    def total(self, features: Iterable[int]) -> float:
        """Add own costs in the order of the sheet, then shared costs in the order of the groups."""
        features = set(features)
        costs = [self.own[j] for j in sorted(features)]
        costs += [self.shared[g] for g in sorted(self.groups(features))]
        return float(add_up(costs))

    def price(self, feature: int, owned: set[int] = frozenset()) -> float:
        if feature in owned:
            return 0.0
        fresh = self.groups([feature]) - self.groups(owned)  # one group at most
        return float(add_up([self.own[feature], *(self.shared[g] for g in fresh)]))

    def affords(self, feature: int, owned: set[int], budget: float) -> bool:
        return self.total({*owned, feature}) <= budget * (1 + 1e-12)
