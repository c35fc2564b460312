"""Best-first growth of a tree."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from tests.kernels.naive.bins import ColumnBins, between, nearest, random_bits
from tests.kernels.naive.classes import Classes
from tests.kernels.naive.criteria import FREE, Constraint, Target
from tests.kernels.naive.prices import Sheet
from tests.kernels.naive.splits import LEFT, RIGHT, STAY, Split, best_split


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
