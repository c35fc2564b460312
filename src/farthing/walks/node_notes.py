"""What reasons need of the nodes of a model's trees and does not depend on the row: found once, kept."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from farthing._core import SplitJudge, Ways
from farthing.trees import Forest, SparseRows, rows_of
from farthing.typing import Floats, Integers
from farthing.walks.split import Split, Way

# Nodes of which anything is kept; a model may have millions.
_MOST_NODES: Final = 100_000


class NodeWays(NamedTuple):
    """The ways out of a node.

    Attributes
    ----------
    ways : list of Way
        See `Split.ways`.
    core : Ways or None
        The same for the core; None without any.
    below : frozenset of int
        The columns that are tested where they end; -1 at leaves.
    """

    ways: list[Way]
    core: Ways | None
    below: frozenset[int]


class NodeNotes:
    """What was found of the nodes of one model."""

    def __init__(self) -> None:
        # By the number of the forest, which is kept: to hash its arrays would take longer than all the rest.
        self._forests: dict[int, Forest] = {}
        self._ways: dict[tuple[int, int], NodeWays] = {}
        self._judge: tuple[SplitJudge | None] | None = None
        self._is_class: bool | None = None
        self._kept: dict[Any, Any] = {}
        self._spreads: tuple[Any, Floats] | None = None

    def number(self, forest: Forest) -> int:
        """Return a number that no other forest has as long as these notes are kept."""
        return id(self._forests.setdefault(id(forest), forest))

    def judge(self, model: Any) -> SplitJudge | None:
        """Return what judges the answers of a model in the core."""
        if self._judge is None:
            self._judge = (model.split_judge(),)
        return self._judge[0]

    def is_class(self, model: Any) -> bool:
        """Return whether a model predicts classes."""
        if self._is_class is None:
            self._is_class = hasattr(model, "classes")
        return self._is_class

    def ways(self, split: Split) -> NodeWays:
        """Return the ways out of a node."""
        key = self.number(split.forest), split.node
        found = self._ways.get(key)
        if found is None:
            ways = split.ways()
            answers, weights = [way.answer for way in ways], [way.probability for way in ways]
            below = frozenset(split.forest.feature[[way.node for way in ways]].tolist())
            found = NodeWays(ways, Ways(answers, weights) if ways else None, below)
            if len(self._ways) < _MOST_NODES:
                self._ways[key] = found
        return found

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """Return what was found for a key, or find it."""
        found = self._kept.get(key)
        if found is None:
            found = make()
            if len(self._kept) < _MOST_NODES:
                self._kept[key] = found
        return found

    def spreads(self, split: Split, nodes: Integers) -> Floats:
        """Return the variance of the scores over the two ways out of some nodes, 0 at leaves, (n_nodes,)."""
        scores = split.scores
        if isinstance(scores, SparseRows) or len(scores) > _MOST_NODES:
            found, places = np.zeros(len(nodes)), np.flatnonzero(split.forest.feature[nodes] >= 0)
            trees = np.searchsorted(split.forest.offsets, nodes[places], side="right") - 1
            found[places] = _spreads(split, nodes[places], trees)
            return found
        if self._spreads is None or self._spreads[0] is not scores:
            forest = split.forest
            inner = np.flatnonzero(forest.feature >= 0)
            trees = np.searchsorted(forest.offsets, inner, side="right") - 1
            every = np.zeros(len(forest.feature))
            every[inner] = _spreads(split, inner, trees)
            self._spreads = scores, every
        return np.asarray(self._spreads[1][nodes])


def _spreads(split: Split, nodes: Integers, trees: Integers) -> Floats:
    forest, scores = split.forest, split.scores
    left, right = (forest.offsets[trees] + child[nodes] for child in (forest.left, forest.right))
    one, other = forest.cover[left], forest.cover[right]
    apart = ((rows_of(scores, left) - rows_of(scores, right)) ** 2).sum(axis=1)
    return np.asarray(one * other * apart / np.maximum(one + other, 1e-300) ** 2)


_NOTES: WeakKeyDictionary[Any, NodeNotes] = WeakKeyDictionary()


def notes_of(model: Any) -> NodeNotes:
    """Return the notes of a model; they go when it goes."""
    found = _NOTES.get(model)
    if found is None:
        found = _NOTES[model] = NodeNotes()
    return found
