"""A sampled vote, written from the definitions: whole numbers for lots, the sheet's own sums for prices."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet

MASK = 2**64 - 1
GOLDEN = 0x9E3779B97F4A7C15


def mix(z: int) -> int:
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
    return z ^ (z >> 31)


def random_bits(key: int, counter: int) -> int:
    return mix((mix((key + GOLDEN) & MASK) + (counter + 1) * GOLDEN) & MASK)


def key_of(seed: int, bought: set[int]) -> int:
    key = random_bits(int.from_bytes(b"farthing"), seed)
    for column in bought:
        key ^= random_bits(int.from_bytes(b"purchase"), column)
    return key


def draw(shares: list[int], key: int, counter: int) -> int:
    place = random_bits(key, counter) * sum(shares) >> 64
    return next(i for i, upto in enumerate(accumulate(shares)) if upto > place)


class Row:
    """What one row reads, buys and is refused."""

    def __init__(self, values: NDArray[Any], sheet: CostSheet, budget: float) -> None:
        self.values, self.sheet, self.budget = values, sheet, budget
        self.bought: set[int] = set()
        self.refused: set[int] = set()

    def total(self, more: set[int]) -> float:
        names = [self.sheet.features[column] for column in self.bought | (more - self.refused)]
        return self.sheet.total(names)

    def price(self, columns: set[int]) -> float:
        names = [self.sheet.features[column] for column in columns - self.refused]
        return self.sheet.total(names, owned=[self.sheet.features[column] for column in self.bought])

    def affords(self, columns: set[int]) -> bool:
        return self.total(columns) <= self.budget * (1 + 1e-12)

    def read(self, column: int) -> float:
        if column not in self.bought | self.refused:
            (self.bought if self.affords({column}) else self.refused).add(column)
        return float(self.values[column]) if column in self.bought else math.nan


class Vote:
    """The learners: functions from a reader to a vote, with their columns and weights."""

    def __init__(self, learners: list[Any], columns: list[set[int]], alphas: list[float]) -> None:
        self.learners, self.columns, self.alphas = learners, columns, alphas

    @classmethod
    def of_forest(cls, forest: Any, alphas: NDArray[np.float64]) -> Vote:
        def learner(root: int) -> Any:
            def vote(read: Any) -> float:
                node = root
                while forest.feature[node] >= 0:
                    following = forest.route(node, read(int(forest.feature[node])))
                    if following is None:
                        break
                    node = following
                return float(forest.value[node, 0])

            return vote

        bounds = list(zip(forest.offsets[:-1], forest.offsets[1:], strict=True))
        columns = [{int(c) for c in forest.feature[a:b] if c >= 0} for a, b in bounds]
        return cls([learner(int(a)) for a, _ in bounds], columns, alphas.tolist())

    @classmethod
    def of_linear(cls, votes: Any) -> Vote:
        def learner(column: int, factor: float, missing: float) -> Any:
            def vote(read: Any) -> float:
                if column < 0:
                    return factor
                x = read(column)
                return missing if math.isnan(x) else factor * x

            return vote

        lists = [array.tolist() for array in (votes.column, votes.factor, votes.missing)]
        learners = [learner(*one) for one in zip(*lists, strict=True)]
        return cls(learners, [{c} - {-1} for c in lists[0]], votes.alphas.tolist())


def grid(x: float, steps: float) -> float:
    return float(np.rint(x * steps)) / steps


def sample(
    vote: Vote,
    row: Row,
    plan: Any,
    *,
    sampling: str,
    seed: int,
    n_samples: int | None,
    max_samples: int,
) -> tuple[float, int]:
    """Return the output and the number of draws; of the plan only its numbers for rounding are used."""
    n_learners = len(vote.learners)
    costs = [row.sheet.total([row.sheet.features[c] for c in columns]) for columns in vote.columns]
    steps = plan.steps
    if sampling == "top":
        return top(vote, row, costs, steps, n_samples)
    shares = np.diff(plan.cumulative, prepend=np.uint64(0)).tolist()
    exact = [t for t in range(n_learners) if sampling == "cost" and costs[t] == 0]
    certain = 0.0
    for t in exact:
        certain += grid(vote.alphas[t] * vote.learners[t](row.read), steps)
    limit = max_samples if n_samples is None else n_samples
    total, draws = 0.0, 0
    while len(exact) < n_learners:
        if n_samples is None and row.affords(set().union(*vote.columns)):
            full = 0.0
            for t in range(n_learners):
                full += grid(vote.alphas[t] * vote.learners[t](row.read), steps)
            return full, draws
        dearest = max(row.price(columns) for columns in vote.columns)
        if draws >= limit or row.total(set()) + dearest > row.budget * (1 + 1e-12):
            break
        t = draw(shares, key_of(seed, row.bought), draws)
        total += plan.weights[t] * vote.learners[t](row.read)
        draws += 1
    return (certain + plan.scale * total / draws if draws else certain), draws


def top(vote: Vote, row: Row, costs: list[float], steps: float, n_samples: int | None) -> tuple[float, int]:
    def rank(t: int) -> Any:
        cost, alpha = Fraction(costs[t]), Fraction(vote.alphas[t])
        return (1, -alpha / cost, -alpha, t) if cost else (0, 0, -alpha, t)

    total, taken = 0.0, 0
    for t in sorted(range(len(costs)), key=rank):
        if taken == n_samples:
            break
        if row.affords(vote.columns[t]):
            total += grid(vote.alphas[t] * vote.learners[t](row.read), steps)
            taken += 1
    return total, taken
