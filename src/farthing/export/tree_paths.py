"""The features between the root of a tree and each of its nodes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

import numpy as np

from farthing.export.tree_table import TreeTable

_WORD: Final = 32


class TreePaths:
    """A tree of a table.

    Attributes
    ----------
    number, first, end : int
        Its number, its first node and the one after its last.
    leaves : list of int
    on_path : dict of int to frozenset of int
        The slots that are tested above each node.
    always : frozenset of int
        Those above every leaf.
    """

    def __init__(self, table: TreeTable, number: int) -> None:
        self.number = number
        self.first, self.end = table.roots[number], table.roots[number + 1]
        self.on_path = {self.first: frozenset[int]()}
        for node in range(self.first, self.end):
            if (slot := table.feature[node]) >= 0:
                self.on_path[node + 1] = self.on_path[node + table.skip[node]] = self.on_path[node] | {slot}
        self.leaves = [node for node in range(self.first, self.end) if table.feature[node] < 0]
        self.always = frozenset.intersection(*(self.on_path[leaf] for leaf in self.leaves))


def for_doubles(table: TreeTable, node: int) -> float:
    """Return the threshold of a node for doubles; that of a table may be for values rounded to float32.

    Examples
    --------
    >>> for_doubles_of(1.0, strict=False).hex()
    '0x1.0000010000000p+0'
    """
    threshold = table.thresholds[table.test[node]]
    return for_doubles_of(threshold, strict=table.strict) if table.single else threshold


def for_doubles_of(threshold: float, *, strict: bool) -> float:
    """Return a threshold that parts doubles as the given one parts them once they are rounded to float32."""
    single = np.float32(threshold)
    with np.errstate(over="ignore"):
        other = np.nextafter(single, np.float32(-np.inf if strict else np.inf))
        if np.isinf(single) and strict == (single < 0):
            return threshold
        # Doubles from here on are rounded beyond the largest float32.
        largest = 2.0**128 - 2.0**103
        ends = [float(np.clip(each, -(2.0**128), 2.0**128)) for each in (single, other)]
        middle = float(np.clip((ends[0] + ends[1]) / 2, -largest, largest))
        rounded = np.float32(middle)
    if strict:
        return middle if rounded >= single else float(np.nextafter(middle, np.inf))
    return middle if rounded <= single else float(np.nextafter(middle, -np.inf))


def n_words(table: TreeTable) -> int:
    """Return the number of words with a bit for each slot."""
    return max(1, -(-table.n_slots // _WORD))


def bit_words(slots: Iterable[int], length: int) -> list[str]:
    """Return words with the bits of some slots, as C has them.

    Examples
    --------
    >>> bit_words([0, 33], 2)
    ['0x1u', '0x2u']
    """
    words = [0] * length
    for slot in slots:
        words[slot // _WORD] |= 1 << slot % _WORD
    return [f"0x{word:x}u" for word in words]
