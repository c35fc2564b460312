"""Which form a second copy of trees takes in C, for rows that have every value: jumps, or sets of leaves.

A jump is nearly free if the processor guesses it; one that it misses costs ten times as much as a test. Sets
of leaves have hardly anything to guess, but take their time for every feature and every node, whatever the
row is.
"""

from __future__ import annotations

from math import log2
from typing import Final

from farthing.export.leaf_lookups import MISSED_JUMP, LeafLookups
from farthing.export.leaf_sets import MOST_LEAVES, ThresholdBlocks, most_leaves, set_bits, sets_of_row
from farthing.export.tree_paths import TreePaths
from farthing.export.tree_table import TreeTable

# Nanoseconds, as those of `LeafLookups`.
_TREE, _FEATURE, _SEARCH_STEP, _VECTOR = 2.0, 3.0, 2.0, 1.1
# Thresholds within a block: the two jumps at their ends, and each.
_WALK, _NODE = 10.0, 1.5
# Code of more tests does not fit the instruction cache, nor what is remembered of jumps: twice the time.
_CACHED_TESTS: Final = 1600
# Jumps that depend on each other are guessed better than shares of rows say, so sets must win clearly.
_CLEARLY: Final = 0.5
# Sets of leaves are on the stack.
_MOST_SET_BYTES: Final = 4096
# Compilers would take minutes for more jumps.
_MOST_JUMPS: Final = 40_000
# Scores of a leaf; more of them are better added from the tables of walks.
_MOST_SCORES: Final = 4


def fast_form(table: TreeTable) -> str | None:
    """Return "masks" or "jumps", or None if trees test categories or are too large for both."""
    if table.sets:
        return None
    takes_masks = (
        table.n_trees > 0
        and most_leaves(table) <= MOST_LEAVES
        and mask_bytes(table) <= _MOST_SET_BYTES
        and table.width <= _MOST_SCORES
    )
    if len(table.feature) > _MOST_JUMPS:
        return "masks" if takes_masks else None
    return "masks" if takes_masks and _mask_time(table) < _CLEARLY * _jump_time(table) else "jumps"


def mask_bytes(table: TreeTable) -> int:
    """Return the bytes of the sets of leaves of one row."""
    return sets_of_row(table) * set_bits(table) // 8


def _mask_time(table: TreeTable) -> float:
    """Return the time of a row: its searches, the sets of its blocks, thresholds within them, and leaves."""
    blocks, n_vectors = ThresholdBlocks.of(table), mask_bytes(table) / 16
    time = _TREE * table.n_trees
    for step in blocks.steps:
        time += _FEATURE + _SEARCH_STEP * step.bit_length() + _VECTOR * n_vectors
        time += _WALK + _NODE * blocks.every / 4 if blocks.walks else 0.0
    return time


def _jump_time(table: TreeTable) -> float:
    """Return the time of a mean training row.

    Trees test the same features again and again, and a processor guesses what follows from earlier jumps of
    the row. So no more of them are missed than there are bits in where its values lie among the thresholds.
    """
    trees = [LeafLookups.of(table, TreePaths(table, tree)) for tree in range(table.n_trees)]
    time, missed = sum(tree.time for tree in trees), sum(tree.missed for tree in trees)
    time -= max(0.0, missed - MISSED_JUMP * _bits(table))
    return time if len(table.feature) <= 2 * _CACHED_TESTS else 2 * time


def _bits(table: TreeTable) -> float:
    """Return the bits that say between which thresholds all values of a row lie."""
    thresholds: dict[int, set[int]] = {}
    for slot, test in zip(table.feature, table.test, strict=True):
        if slot >= 0:
            thresholds.setdefault(slot, set()).add(test)
    return sum(log2(len(own) + 1) for own in thresholds.values())
