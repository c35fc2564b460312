"""Subtrees whose tests are all taken at once, to find a leaf without a jump, where jumps would be missed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from farthing.export.tree_paths import TreePaths
from farthing.export.tree_table import TreeTable

# A subtree of so many tests has a table of two to that power of leaves.
_MOST_TESTS: Final = 4
# Nanoseconds on a processor of 2020s servers, by a fit to models of tables that no page reports. Only their
# ratios matter.
_TEST, MISSED_JUMP = 0.7, 8.0
_LOOKUP, _LOOKUP_TEST = 1.5, 0.8


@dataclass(frozen=True)
class LeafLookups:
    """The subtrees of a tree that are looked up, chosen for the least mean time of training rows.

    Parameters
    ----------
    inner : dict of int to list of int
        The inner nodes of each subtree, by its root, which comes first.
    time : float
        The mean time of a row in the tree, in nanoseconds.
    missed : float
        What of it is for missed jumps.
    """

    inner: dict[int, list[int]]
    time: float
    missed: float

    @classmethod
    def of(cls, table: TreeTable, tree: TreePaths) -> LeafLookups:
        """Return them: from the leaves up, a subtree is looked up if jumps through it would take longer."""
        inner: dict[int, list[int]] = {leaf: [] for leaf in tree.leaves}
        times = dict.fromkeys(tree.leaves, 0.0)  # each times the rows of its node
        missed = dict.fromkeys(tree.leaves, 0.0)
        roots: dict[int, list[int]] = {leaf: [] for leaf in tree.leaves}
        for node in range(tree.end - 1, tree.first - 1, -1):
            if table.feature[node] < 0:
                continue
            left, right = node + 1, node + table.skip[node]
            rows = table.cover[left], table.cover[right]
            inner[node] = [node, *inner[left], *inner[right]]
            by_jump = _TEST * sum(rows) + MISSED_JUMP * min(rows) + times[left] + times[right]
            by_lookup = (_LOOKUP + _LOOKUP_TEST * len(inner[node])) * sum(rows)
            if len(inner[node]) <= _MOST_TESTS and by_lookup < by_jump:
                times[node], missed[node], roots[node] = by_lookup, 0.0, [node]
            else:
                times[node], roots[node] = by_jump, roots[left] + roots[right]
                missed[node] = MISSED_JUMP * min(rows) + missed[left] + missed[right]
        first, rows_in = tree.first, table.cover[tree.first] or 1.0
        chosen = {root: inner[root] for root in roots[first]}
        return cls(chosen, times[first] / rows_in, missed[first] / rows_in)

    def leaves(self, table: TreeTable, root: int) -> list[int]:
        """Return the leaf of each set of tests that hold, the first test being the lowest bit."""
        found = []
        for held in range(1 << len(self.inner[root])):
            node = root
            while table.feature[node] >= 0:
                node += 1 if held >> self.inner[root].index(node) & 1 else table.skip[node]
            found.append(node)
        return found
