"""Which form a second copy of trees takes in C, for rows that have every value: jumps, or sets of leaves.

A jump is nearly free if the processor guesses it; one that it misses costs ten times as much as a test. Sets
of leaves have hardly anything to guess, but take their time for every feature and every node, whatever the
row is.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final

from farthing.export.c_masks import MOST_LEAVES, set_bytes
from farthing.export.tree_table import TreeTable

# Nanoseconds on a processor of 2020s servers, by a fit to models of tables that no page reports. Only their
# ratios matter.
_TEST, _MISSED_JUMP = 0.7, 8.0
_FEATURE, _NODE, _TREE, _WORD_OF_TREE = 15.0, 0.24, 1.5, 0.5
# Code of more tests does not fit the instruction cache, nor what is remembered of jumps: twice the time.
_CACHED_TESTS: Final = 1600
# Jumps that depend on each other are guessed better than shares of rows say, so sets must win clearly.
_CLEARLY: Final = 0.75
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
        and _most_leaves(table) <= MOST_LEAVES
        and mask_bytes(table) <= _MOST_SET_BYTES
        and table.width <= _MOST_SCORES
    )
    if len(table.feature) > _MOST_JUMPS:
        return "masks" if takes_masks else None
    return "masks" if takes_masks and _mask_time(table) < _CLEARLY * _jump_time(table) else "jumps"


def mask_bytes(table: TreeTable) -> int:
    """Return the bytes of the sets of leaves of one row."""
    return table.n_trees * set_bytes(_most_leaves(table))


def _most_leaves(table: TreeTable) -> int:
    sizes = (end - first for first, end in pairwise(table.roots))
    return (max(sizes, default=1) + 1) // 2


def _mask_time(table: TreeTable) -> float:
    tested = [slot for slot in table.feature if slot >= 0]
    per_tree = _TREE + _WORD_OF_TREE * -(-table.n_slots // 32)
    return _FEATURE * len(set(tested)) + _NODE * len(tested) + per_tree * table.n_trees


def _jump_time(table: TreeTable) -> float:
    """Return the time of the tests of a mean row, and of the jumps against the way of most rows."""
    tests = missed = 0.0
    for first, end in pairwise(table.roots):
        rows = table.cover[first] or 1.0
        for node in range(first, end):
            if table.feature[node] >= 0:
                tests += table.cover[node] / rows
                missed += min(table.cover[node + 1], table.cover[node + table.skip[node]]) / rows
    time = _TEST * tests + _MISSED_JUMP * missed
    return time if len(table.feature) <= 2 * _CACHED_TESTS else 2 * time
