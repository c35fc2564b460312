"""The naive twins of the compiled kernels, in the order of the data flow.

No histogram, no subtraction, no heap, no bits, no thread: a twin looks at all rows again for every question.
What it shares with the fast kernel is the definition alone: the bins, the grid of the sums, the formulas of
the gains, the order in which ties are broken.
"""

from __future__ import annotations

import functools
import math
import operator
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

LEFT, RIGHT, STAY = 0, 1, 2  # where a missing value goes
NOISE = 1e-12  # a gain below this share of what there was to gain is rounding

# ---- bins --------------------------------------------------------------------------------------------------


@dataclass
class ColumnBins:
    """One column cut into bins; a missing value has the number after the last bin."""

    codes: NDArray[np.int64]  # (n_rows,)
    n_bins: int
    edges: list[float] = field(default_factory=list)  # of a numeric column
    bin_of_code: list[int] = field(default_factory=list)  # of a categorical column

    @property
    def categorical(self) -> bool:
        return bool(self.bin_of_code)


def between(low: float, high: float) -> float:
    """Return a number m with low <= m < high, half way where that exists."""
    middle = low / 2 + high / 2
    return middle if low <= middle < high else low


def nearest(ascending: list[float], goal: float) -> float:
    """Return the last below the goal or the first not below, whichever is nearer; the lower of equals."""
    below = [value for value in ascending if value < goal]
    above = [value for value in ascending if value >= goal]
    if not above or (below and goal - below[-1] <= above[0] - goal):
        return below[-1]
    return above[0]


def edges_of(values: Iterable[float], max_bins: int) -> list[float]:
    """Return the edges of a numeric column: a bin for each value, or bins of nearly equal counts."""
    count = Counter(float(value) for value in values if not math.isnan(value))
    distinct = sorted(count)
    if len(distinct) <= max_bins:
        return [between(low, high) for low, high in pairwise(distinct)]
    edges: list[float] = []
    rows_left, bins_left, in_bin = sum(count.values()), max_bins, 0
    for value, following in pairwise(distinct):
        in_bin += count[value]
        fair = rows_left / bins_left
        if bins_left > 1 and (in_bin >= fair or count[following] >= fair):
            edges.append(between(value, following))
            rows_left, bins_left, in_bin = rows_left - in_bin, bins_left - 1, 0
    return edges


def bins_of_codes(values: Iterable[float], n_codes: int, max_bins: int) -> list[int]:
    """Return the bin of each category: its own, or the last one, which the rarest share."""
    if n_codes <= max_bins:
        return list(range(n_codes))
    count = Counter(int(value) for value in values if not math.isnan(value))
    by_frequency = sorted(range(n_codes), key=lambda code: (-count[code], code))
    alone = sorted(by_frequency[: max_bins - 1])
    return [alone.index(code) if code in alone else max_bins - 1 for code in range(n_codes)]


def bin_column(
    column: NDArray[np.floating], n_categories: int = 0, max_bins: int = 255, n_sample: int = 65_536
) -> ColumnBins:
    """Cut one column; the bins are learned from a sample of the rows if there are many."""
    column = column.astype(np.float64)
    sample = column[sample_rows(len(column), n_sample)]
    missing = np.isnan(column)
    if n_categories:
        bin_of_code = bins_of_codes(sample, n_categories, max_bins)
        n_bins = max(bin_of_code) + 1
        codes = np.array([n_bins if np.isnan(x) else bin_of_code[int(x)] for x in column], dtype=np.int64)
        return ColumnBins(codes, n_bins, bin_of_code=bin_of_code)
    edges = edges_of(sample, max_bins)
    below = (np.array(edges)[None, :] < column[:, None]).sum(axis=1)
    return ColumnBins(np.where(missing, len(edges) + 1, below), len(edges) + 1, edges=edges)


def sample_rows(n_rows: int, n_sample: int) -> list[int]:
    """Return one row from each of n_sample equal stretches of the table, or all rows."""
    if n_rows <= n_sample:
        return list(range(n_rows))
    starts = [i * n_rows // n_sample for i in range(n_sample + 1)]
    return [low + random_bits(0, i) % (high - low) for i, (low, high) in enumerate(pairwise(starts))]


def random_bits(key: int, counter: int) -> int:
    """Return the draw of a counter-based generator, made of two rounds of SplitMix64."""
    weyl, word = 0x9E3779B97F4A7C15, 2**64

    def mix(z: int) -> int:
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % word
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % word
        return z ^ (z >> 31)

    return mix((mix((key + weyl) % word) + (counter + 1) * weyl) % word)


# ---- sums on a grid ----------------------------------------------------------------------------------------


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


# ---- criteria ----------------------------------------------------------------------------------------------


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


class VectorGradients:
    """Least squares to the negative gradients of several outputs, by a diagonal hessian.

    Splits are searched on a grid of 24 bits per row, by the outputs with the largest gradients; values are
    summed on the grid of 62 bits. A cell is the gradients, the hessians, both again for the values, and 1.
    """

    most_searched = 32
    most_orders = 4

    def __init__(
        self,
        gradients: NDArray[np.float64],
        hessians: NDArray[np.float64] | None = None,
        l2_regularization: float = 0.0,
        rows: NDArray[np.int64] | None = None,
    ) -> None:
        n_outputs, n = gradients.shape
        ones = np.ones(gradients.shape)
        grids = [
            on_grid(of, *limit)
            for limit in ((1, 24), (n, 62))
            for of in (gradients, ones if hessians is None else hessians)
        ]
        self.g, self.h, self.g_fine, self.h_fine = grids
        whole = [np.array(grid.values).reshape(n_outputs, n) for grid in grids]
        squares = [add_up(x * x for x in (of if rows is None else of[rows]).tolist()) for of in gradients]
        by_squares = sorted(range(n_outputs), key=lambda k: -squares[k])
        searched = sorted(by_squares[: self.most_searched])
        whole[0], whole[1] = whole[0][searched], whole[1][searched]
        # A gradient without a hessian would have an infinite score.
        whole[1] = np.where(whole[0] != 0, np.maximum(whole[1], 1), whole[1])
        self.n_searched, self.n_outputs = len(searched), n_outputs
        self.l2_regularization = l2_regularization
        self.cells = np.vstack([*whole, np.ones(n, dtype=np.int64)]).T

    def split_up(self, sums: NDArray[np.int64]) -> list[NDArray[np.int64]]:
        s, k = self.n_searched, self.n_outputs
        return np.split(sums[:-1], [s, 2 * s, 2 * s + k])

    def value(self, sums: NDArray[np.int64], within: Constraint = FREE) -> list[float]:
        _, _, g, h = self.split_up(sums)
        weights = [self.h_fine.back(int(x)) + self.l2_regularization for x in h]
        tops = [self.g_fine.back(int(x)) for x in g]
        return [top / weight if weight > 0 else 0.0 for top, weight in zip(tops, weights, strict=True)]

    def level(self, sums: NDArray[np.int64], within: Constraint) -> float:
        return 0.0

    def cover(self, sums: NDArray[np.int64]) -> float:
        return add_up(self.h.back(int(x)) for x in self.split_up(sums)[1])

    def population(self, sums: NDArray[np.int64]) -> float:
        return float(sums[-1])

    def quads(self, sums: NDArray[np.int64]) -> list[tuple[list[float], list[float]]]:
        """Return gradients and hessians in grid steps, four outputs at a time; zeros fill the last four."""
        g, h = ([*map(float, part.tolist()), *[0.0] * (-len(part) % 4)] for part in self.split_up(sums)[:2])
        l2 = min(max(self.l2_regularization / self.h.unit, 2.0**-20), 2.0**200)
        return [(g[i : i + 4], [x + l2 for x in h[i : i + 4]]) for i in range(0, len(g), 4)]

    def explained(self, sums: NDArray[np.int64]) -> float:
        lanes = [
            [g[p] * g[p] / h[p] + g[p + 2] * g[p + 2] / h[p + 2] for p in (0, 1)] for g, h in self.quads(sums)
        ]
        return add_up(a + b for a, b in lanes) * self.unit

    @property
    def unit(self) -> float:
        return self.g.unit * self.g.unit / self.h.unit

    def gain(self, left: NDArray[np.int64], right: NDArray[np.int64], within: Constraint = FREE) -> float:
        lanes = [0.0, 0.0]
        for (gl, hl), (gr, hr) in zip(self.quads(left), self.quads(right), strict=True):
            tops = [gl[k] * gl[k] * hr[k] + gr[k] * gr[k] * hl[k] for k in range(4)]
            bottoms = [hl[k] * hr[k] for k in range(4)]
            for p in (0, 1):
                top = tops[p] * bottoms[p + 2] + tops[p + 2] * bottoms[p]
                lanes[p] += top / (bottoms[p] * bottoms[p + 2])
        parts = (lanes[0] + lanes[1]) * self.unit
        rise = parts - self.explained(left + right)
        return rise / 2 if rise > NOISE * parts else 0.0

    def pure(self, sums: NDArray[np.int64]) -> bool:
        return False

    def order_keys(self, sums: NDArray[np.int64]) -> list[float]:
        g, h, *_ = self.split_up(sums)
        weights = [self.h.back(int(x)) + self.l2_regularization for x in h]
        return [self.g.back(int(x)) / w if w > 0 else 0.0 for x, w in zip(g, weights, strict=True)]

    def orders(self, parts: list[NDArray[np.int64]], node: NDArray[np.int64]) -> list[int]:
        """Return the outputs that categories are ordered by: those whose scores grow most."""

        def score(sums: NDArray[np.int64], k: int) -> float:
            return self.g.back(int(sums[k])) * self.order_keys(sums)[k]

        growths = []
        for k in range(self.n_searched):
            growth = -score(node, k)
            for part in parts:
                growth += score(part, k)
            growths.append((-growth, k))
        return [k for _, k in sorted(growths)[: self.most_orders]]


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


def add_up(numbers: Iterable[Any]) -> Any:
    """Add one after the other, which Python's own sum of floats has not done since 3.12."""
    return functools.reduce(operator.add, numbers, 0)


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


# ---- the best split of a column ----------------------------------------------------------------------------


@dataclass
class Split:
    """Bins that go left and right, and where missing values go."""

    gain: float
    left: list[int]
    right: list[int]
    missing: int

    def goes_left(self, codes: NDArray[np.int64], n_bins: int) -> NDArray[np.bool_]:
        left = np.zeros(n_bins + 1, dtype=np.bool_)
        left[self.left] = True
        left[n_bins] = self.missing == LEFT
        return left[codes]


def candidates(target: Target, rows: NDArray[np.int64], bins: ColumnBins) -> Iterator[Split]:
    """Yield every split of a node that is tried, without its gain: lower cuts first, missing right first."""
    codes = bins.codes[rows]
    present = [int(b) for b in np.unique(codes) if b < bins.n_bins]
    orders = [present]
    if bins.categorical:
        sums = {b: target.cells[rows[codes == b]].sum(axis=0) for b in present}
        keys = {b: target.order_keys(sums[b]) for b in present}
        numbers: Sequence[int] = range(len(next(iter(keys.values()), [])))
        if isinstance(target, VectorGradients):
            numbers = target.orders(list(sums.values()), target.cells[rows].sum(axis=0))
        orders = [sorted(present, key=lambda b, o=o: (keys[b][o], b)) for o in numbers]
    sides = (RIGHT, LEFT) if (codes == bins.n_bins).any() else (STAY,)
    for order in orders:
        for cut in range(1, len(order) + 1):
            for side in sides:
                yield Split(0.0, order[:cut], order[cut:], side)


def best_split(
    target: Target,
    rows: NDArray[np.int64],
    bins: ColumnBins,
    min_rows: int = 1,
    cuts: set[int] | None = None,
    within: Constraint = FREE,
) -> Split | None:
    """Return the split of the largest gain, the first of equals; None if nothing is gained.

    With `cuts`, a numeric column is only cut after these bins.
    """
    best = None
    codes, cells = bins.codes[rows], target.cells[rows]
    for split in candidates(target, rows, bins):
        if cuts is not None and not bins.categorical and split.left[-1] not in cuts:
            continue
        goes_left = split.goes_left(codes, bins.n_bins)
        left, right = (part @ cells for part in (goes_left, ~goes_left))
        if min(left[-1], right[-1]) < min_rows:  # the last of a cell counts rows
            continue
        split.gain = target.gain(left, right, within)
        if split.gain > (best.gain if best else 0.0):
            best = split
    return best


# ---- prices ------------------------------------------------------------------------------------------------


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


# ---- the grower --------------------------------------------------------------------------------------------


@dataclass
class Node:
    """A node of a grown tree, and how it came about."""

    value: list[float]
    cover: float
    rows: NDArray[np.int64]
    depth: int
    path: set[int]  # features tested above
    feature: int = -1
    threshold: float = 0.0
    missing: int = STAY
    left: int = -1
    right: int = -1
    left_codes: set[int] | None = None  # of a categorical test
    right_codes: set[int] | None = None
    splits: dict[int, Split] = field(default_factory=dict)  # the best of each column; empty if closed
    key: int = 0  # of its draws of columns
    within: Constraint = FREE


@dataclass
class Offer:
    """One column's best split of one open leaf, at today's prices."""

    gain: float
    charge: float  # unpaid price, times the share of rows that pay it under the row ledger
    list_price: float
    feature: int
    leaf: int


def compare(a: Offer, b: Offer, rule: str, tradeoff: float) -> int:
    """Return -1 if a comes first. Ratios are cross-multiplied: a is cheaper if price_a / gain_a is less."""
    if rule == "ratio":
        a_worth, b_worth = b.list_price * a.gain, a.list_price * b.gain
        a_price, b_price = a.list_price, b.list_price
    else:
        a_worth, b_worth = a.gain - tradeoff * a.charge, b.gain - tradeoff * b.charge
        a_price, b_price = tradeoff * a.charge, tradeoff * b.charge
    a_key = (-a_worth, -a.gain, a_price, a.feature, a.leaf)
    b_key = (-b_worth, -b.gain, b_price, b.feature, b.leaf)
    return -1 if a_key < b_key else 1


@dataclass
class Grower:
    """Best-first growth; every price is looked up anew before every split."""

    bins: list[ColumnBins]
    target: Target
    sheet: Sheet
    max_depth: float = math.inf
    max_leaf_nodes: float = math.inf
    min_samples_leaf: int = 1
    ledger: str = "row"
    cost_rule: str = "penalty"
    tradeoff: float = 0.0
    budget: float = math.inf
    columns: Sequence[int] | None = None
    owned: set[int] = field(default_factory=set)
    nodes: list[Node] = field(default_factory=list)
    max_features: int | None = None
    max_cuts: int | Sequence[tuple[float, int]] | None = None
    cuts_above: float = 0.0
    key: int = 0
    number: int | None = None
    monotonic: Sequence[int] | None = None

    def grow(self, rows: NDArray[np.int64]) -> list[Node]:
        self.add_node(rows, 0, set(), self.key)
        n_leaves = 1
        while n_leaves < self.max_leaf_nodes:
            offers = [offer for leaf in range(len(self.nodes)) for offer in self.offers(leaf)]
            if not offers:
                break
            in_order = functools.cmp_to_key(lambda a, b: compare(a, b, self.cost_rule, self.tradeoff))
            self.split(min(offers, key=in_order))
            n_leaves += 1
        return self.nodes

    def constraint(self, within: Constraint, column: int) -> Constraint:
        direction = 0 if self.monotonic is None else int(self.monotonic[column])
        return Constraint(within.lower, within.upper, direction)

    def add_node(
        self, rows: NDArray[np.int64], depth: int, path: set[int], key: int, within: Constraint = FREE
    ) -> int:
        sums = self.target.cells[rows].sum(axis=0)
        value, cover = self.target.value(sums, within), self.target.cover(sums)
        node = Node(value, cover, rows, depth, path, key=key, within=within)
        self.nodes.append(node)
        place = len(self.nodes) - 1
        if depth < self.max_depth and not self.target.pure(sums):
            for j in self.drawn(place):
                split = best_split(
                    self.target,
                    rows,
                    self.bins[j],
                    self.min_samples_leaf,
                    self.cuts(j, node),
                    self.constraint(within, j),
                )
                if split is not None:
                    node.splits[j] = split
        return place

    def cuts(self, column: int, node: Node) -> set[int] | None:
        """Return the bins after which to cut: all, or those drawn between the lowest and the highest."""
        bins = self.bins[column]
        present = sorted({int(b) for b in bins.codes[node.rows]} - {bins.n_bins})
        pairs = [(self.cuts_above, self.max_cuts)] if isinstance(self.max_cuts, int) else self.max_cuts or []
        held = {above: n_cuts for above, n_cuts in pairs if node.cover > above}
        if not held or held[max(held)] >= 255 or len(present) < 2:
            return None
        key = random_bits(random_bits(node.key, 2**64 - 3), column)
        spread = present[-1] - present[0]
        lots = {present[0] + random_bits(key, i) % spread for i in range(held[max(held)])}
        return {max(b for b in present if b <= lot) for lot in lots}

    def drawn(self, leaf: int) -> Iterator[int]:
        """Yield the columns to try: all, or some by lot and then others until there is an offer."""
        columns = list(range(len(self.bins)) if self.columns is None else self.columns)
        if self.max_features is None or self.max_features >= len(columns):
            yield from columns
            return
        for i in range(len(columns)):
            if i >= self.max_features and any(True for _ in self.offers(leaf)):
                return
            lot = i + random_bits(self.nodes[leaf].key, i) % (len(columns) - i)
            columns[i], columns[lot] = columns[lot], columns[i]
            yield columns[i]

    def offers(self, leaf: int) -> Iterator[Offer]:
        """Yield what a leaf could do that is worth its price and within the budget."""
        node = self.nodes[leaf]
        owner = self.owned if self.ledger == "model" else node.path
        share = 1.0 if self.ledger == "model" else node.cover / self.nodes[0].cover
        for j, split in node.splits.items():
            charge = self.sheet.price(j, owner) * share
            worth = split.gain if self.cost_rule == "ratio" else split.gain - self.tradeoff * charge
            if worth > 0 and (j in owner or self.sheet.affords(j, owner, self.budget)):
                yield Offer(split.gain, charge, self.sheet.price(j), j, leaf)

    def split(self, offer: Offer) -> None:
        node, bins = self.nodes[offer.leaf], self.bins[offer.feature]
        split = node.splits[offer.feature]
        node.feature, node.missing, node.splits = offer.feature, split.missing, {}
        if bins.categorical:
            node.left_codes, node.right_codes = (
                {code for code, b in enumerate(bins.bin_of_code) if b in side}
                for side in (split.left, split.right)
            )
        else:  # after the last bin only missing values are left to go right
            last = max(split.left)
            node.threshold = bins.edges[last] if last < bins.n_bins - 1 else math.inf
            beyond = [b for b in {int(b) for b in bins.codes[node.rows]} if last < b < bins.n_bins]
            if beyond and isinstance(self.target, Classes):  # in the middle of the gap, if there is one
                edges = bins.edges[last : min(beyond)]
                node.threshold = nearest(edges, between(edges[0], edges[-1]))
        goes_left = split.goes_left(bins.codes[node.rows], bins.n_bins)
        if split.missing == STAY and self.number is not None:
            node.missing = self.unseen_missing(node.rows[goes_left], node.rows[~goes_left])
        path = {*node.path, offer.feature}
        left_key, right_key = (random_bits(node.key, 2**64 - 1 - side) for side in (0, 1))
        sides = [self.target.cells[node.rows[side]].sum(axis=0) for side in (goes_left, ~goes_left)]
        constraint = self.constraint(node.within, offer.feature)
        left, right = constraint.below(*(self.target.level(side, constraint) for side in sides))
        left, right = (replace(bounds, direction=0) for bounds in (left, right))
        node.left = self.add_node(node.rows[goes_left], node.depth + 1, path, left_key, left)
        node.right = self.add_node(node.rows[~goes_left], node.depth + 1, path, right_key, right)
        if self.ledger == "model":
            self.owned = {*self.owned, offer.feature}

    def unseen_missing(self, left: NDArray[np.int64], right: NDArray[np.int64]) -> int:
        """Return the way of missing values that no training row has: that of a quantile of the rows."""
        assert self.number is not None
        quantile = ((2**63 + self.number * 0x9E3779B97F4A7C15) % 2**64 >> 11) * 2.0**-53
        weights = [self.target.population(self.target.cells[rows].sum(axis=0)) for rows in (left, right)]
        return LEFT if quantile * (weights[0] + weights[1]) <= weights[0] else RIGHT


# ---- the predictor -----------------------------------------------------------------------------------------


def predict_row(
    forest: Any, row: Sequence[float], sheet: Sheet | None = None, budget: float = math.inf
) -> tuple[list[float], set[int]]:
    """Send one row down all trees; return the outputs and the features that it bought."""
    output = [0.0] * forest.n_outputs
    owned: set[int] = set()
    refused: set[int] = set()
    for t, first in enumerate(forest.offsets[:-1]):
        node = int(first)
        while (feature := int(forest.feature[node])) >= 0:
            if feature not in owned | refused:
                buys = sheet is None or sheet.affords(feature, owned, budget)
                (owned if buys else refused).add(feature)
            side = turn(forest, node, float(row[feature]) if feature in owned else math.nan)
            if side == STAY:
                break
            node = int(first) + int((forest.left, forest.right)[side][node])
        for w, score in enumerate(forest.value[node]):
            output[forest.target[t] + w] += float(score)
    return output, owned


def turn(forest: Any, node: int, x: float) -> int:
    """Return the way of a value at an inner node; without a way of its own it goes that of missing values."""
    on_missing = int(forest.missing[node])
    if math.isnan(x):
        return on_missing
    left_codes, right_codes = code_sets(forest, node)
    if left_codes is not None:
        return LEFT if x in left_codes else RIGHT if x in right_codes else on_missing
    if forest.dtype == "float32":
        with np.errstate(over="ignore"):
            x = float(np.float32(x))
    threshold = float(forest.threshold[node])
    return LEFT if (x < threshold if forest.comparator == "<" else x <= threshold) else RIGHT


def code_sets(forest: Any, node: int) -> tuple[set[int], set[int]] | tuple[None, None]:
    """Return the category codes that go left and right at a node, None for a numeric test."""
    first = int(forest.category[node])
    if first < 0:
        return None, None
    width = int(forest.category_widths[forest.feature[node]])
    words = [int(word) for word in forest.category_words[first : first + 2 * width]]
    sides = [
        {64 * w + bit for w, word in enumerate(half) for bit in range(64) if word >> bit & 1}
        for half in (words[:width], words[width:])
    ]
    return sides[0], sides[1]
