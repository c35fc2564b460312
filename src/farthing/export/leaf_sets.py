"""Sets of leaves that a row may still reach, and the blocks of thresholds that they are kept for."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

from farthing.export.tree_paths import TreePaths, for_doubles
from farthing.export.tree_table import TreeTable

MOST_LEAVES: Final = 64
"""Leaves of a tree with such sets."""
# The bits that a set of leaves may have.
_BITS: Final = (8, 16, 32, 64)
# Sets are combined by this many bits.
_VECTOR: Final = 128
# Bytes of the sets of all blocks: more would not stay in the cache.
MOST_BYTES: Final = 1 << 17


def most_leaves(table: TreeTable) -> int:
    """Return the leaves of the tree that has most."""
    sizes = (end - first for first, end in pairwise(table.roots))
    return (max(sizes, default=1) + 1) // 2


def set_bits(table: TreeTable) -> int:
    """Return the bits of the set of leaves of a tree."""
    return next(bits for bits in _BITS if most_leaves(table) <= bits)


def sets_of_row(table: TreeTable) -> int:
    """Return the number of sets of a row: one for each tree, filled up to whole vectors."""
    per_vector = _VECTOR // set_bits(table)
    return -(-table.n_trees // per_vector) * per_vector


@dataclass
class ThresholdBlocks:
    """The thresholds of each slot, cut into blocks.

    Attributes
    ----------
    cuts : list of float
        Of each slot, some thresholds in order, and NAN up to a power of two.
    steps : list of int
        The first step of the search of each slot; 0 if it has one block.
    cut_begins, block_begins : list of int
        The first cut and the first block of each slot.
    rows : list of (list of int, list of int)
        The nodes whose thresholds are below each block, and those above it.
    nodes : list of int or None
        The nodes by slot and threshold, None around those of a slot.
    middles : list of int
        The node of each block from which a row goes up or down.
    upper : set of int
        Nodes that a row meets on its way up.
    walks : bool
        Whether there are nodes within blocks.
    every : int
        One threshold of so many is a cut.
    """

    cuts: list[float] = field(default_factory=list)
    steps: list[int] = field(default_factory=list)
    cut_begins: list[int] = field(default_factory=list)
    block_begins: list[int] = field(default_factory=list)
    rows: list[tuple[list[int], list[int]]] = field(default_factory=list)
    nodes: list[int | None] = field(default_factory=lambda: [None])
    middles: list[int] = field(default_factory=list)
    upper: set[int] = field(default_factory=set)
    walks: bool = False
    every: int = 1

    @classmethod
    def of(cls, table: TreeTable) -> ThresholdBlocks:
        """Return as many blocks as the sets of all of them may take room."""
        by_slot: list[dict[float, list[int]]] = [{} for _ in range(table.n_slots)]
        for node, slot in enumerate(table.feature):
            if slot >= 0:
                by_slot[slot].setdefault(for_doubles(table, node), []).append(node)
        most = max(1, MOST_BYTES // (sets_of_row(table) * set_bits(table) // 8) - table.n_slots)
        every = max(1, -(-sum(map(len, by_slot)) // most))
        made = cls(every=every)
        for own in by_slot:
            made._add(sorted(own.items()), every)
        return made

    def _add(self, own: list[tuple[float, list[int]]], every: int) -> None:
        """Add a slot: its thresholds in order, each with its nodes; every so many of them is a cut."""
        places = list(range(every - 1, len(own), every))
        self.cut_begins.append(len(self.cuts))
        self.block_begins.append(len(self.rows))
        self.steps.append((1 << len(places).bit_length()) // 2)
        self.cuts += [own[place][0] for place in places]
        self.cuts += [float("nan")] * ((1 << len(places).bit_length()) - 1 - len(places))
        for low, high in pairwise([-1, *places, len(own)]):
            below = [node for _, nodes in own[: low + 1] for node in nodes]
            above = [node for _, nodes in own[high:] for node in nodes]
            within = [node for _, nodes in own[low + 1 : high] for node in nodes]
            half = len(within) // 2
            self.rows.append((below, above))
            self.middles.append(len(self.nodes) + half)
            self.upper.update(within[half:])
            self.walks = self.walks or bool(within)
            self.nodes += within
            self.nodes += own[high][1] if high < len(own) else [None]


@dataclass(frozen=True)
class LeafSets:
    """The leaves of a tree in the order of their bits, and the bits on both sides of each node."""

    order: list[int]
    left: dict[int, int]
    right: dict[int, int]

    @classmethod
    def of(cls, table: TreeTable, tree: TreePaths, upper: set[int]) -> LeafSets:
        """Return them, the side that a walk through a block takes away before the other one."""
        sides: dict[int, tuple[int, int]] = {}
        order: list[int] = []
        begins: dict[int, int] = {}
        waiting = [tree.first]
        while waiting:
            node = waiting.pop()
            begins[node] = len(order)
            if table.feature[node] < 0:
                order.append(node)
                continue
            left, right = node + 1, node + table.skip[node]
            sides[node] = (left, right) if node in upper else (right, left)
            waiting += reversed(sides[node])
        ends: dict[int, int] = {}
        for node in range(tree.end - 1, tree.first - 1, -1):
            ends[node] = begins[node] + 1 if node not in sides else ends[sides[node][1]]

        def bits(node: int) -> int:
            return (1 << ends[node]) - (1 << begins[node])

        return cls(
            order,
            left={node: bits(node + 1) for node in sides},
            right={node: bits(node + table.skip[node]) for node in sides},
        )
