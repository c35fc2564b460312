"""The split that a walk stands at: the node of a tree whose test the next answer decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from farthing._core import swap_nodes
from farthing.trees import Forest, NodeValues, SparseRows, just_above, rows_of
from farthing.typing import Floats, Integers


@dataclass(frozen=True, slots=True)
class Way:
    """One way out of a node.

    Attributes
    ----------
    node : int
        Where it leads; the node itself for a missing value that stays.
    probability : float
        Share of the node's training rows that took it.
    answer : float
        An encoded value that takes it; NaN for a missing one.
    shown : str
        The answers that take it; for a categorical test empty, see ``codes``.
    codes : tuple of int
        The codes of the categories that take it.
    """

    node: int
    probability: float
    answer: float
    shown: str = ""
    codes: tuple[int, ...] = ()


class Stand(NamedTuple):
    """Where a row stands in the trees that it has walked, all the way or a part of it.

    Attributes
    ----------
    forest : Forest
        The trees.
    trees : ndarray of int64, shape (n_walked,)
        Those that it has walked, in order.
    nodes : ndarray of int64, shape (n_walked,)
        Their current nodes, numbered over the whole forest.
    output : ndarray of float64, shape (n_outputs,)
        The sum over the current nodes of all trees, at their roots where they are not walked.
    """

    forest: Forest
    trees: Integers
    nodes: Integers
    output: Floats


class Foresight(NamedTuple):
    """Where each of some answers to a question would lead to.

    Attributes
    ----------
    outputs : ndarray of float64, shape (n_answers, n_outputs)
        The raw outputs.
    stands : list of Stand or None, length n_answers
        Where the row would stand; None if the policy does not say.
    columns : list of int or None, length n_answers
        The column that would be asked for next; None at the end.
    """

    outputs: Floats
    stands: list[Stand | None]
    columns: list[int | None]


class Split(NamedTuple):
    """The node of a tree whose test comes next, and the sum over the trees that it is part of.

    Attributes
    ----------
    forest : Forest
        The trees.
    scores : ndarray of float64, shape (n_nodes, width), or SparseRows
        What each node adds to the output.
    tree, node : int
        The tree, and its current node, numbered over the whole forest.
    find_stand : callable
        Gives `stand`, which few need.
    later : ndarray of int64, shape (n_later,)
        The current nodes of the trees after this one.
    """

    forest: Forest
    scores: NodeValues
    tree: int
    node: int
    find_stand: Callable[[], Stand]
    later: Integers

    @property
    def stand(self) -> Stand:
        """Where the row stands in the trees before it, as long as it has no further answer."""
        return self.find_stand()

    @property
    def column(self) -> int:
        """The column that is tested."""
        return int(self.forest.feature[self.node])

    @property
    def is_alone(self) -> bool:
        """Whether the tree is the only one, so that its node says all that is known of the row."""
        return self.forest.n_trees == 1

    def at(self, tree: int, node: int) -> Split:
        """Return the split of another tree."""
        return Split(self.forest, self.scores, tree, node, self.find_stand, self.later[:0])

    def children(self) -> tuple[int, int]:
        """Return the two nodes below, numbered over the whole forest."""
        first = int(self.forest.offsets[self.tree])
        return first + int(self.forest.left[self.node]), first + int(self.forest.right[self.node])

    def ways(self) -> list[Way]:
        """Return the ways out of the node, the likeliest first; empty if it has no counts of rows.

        Examples
        --------
        >>> stump = Forest.from_arrays(
        ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]], cover=[8, 6, 2])
        >>> none = np.empty(0, dtype=np.int64)
        >>> stand = Stand(stump, none, none, np.zeros(1))
        >>> split = Split(stump, stump.value, 0, 0, lambda: stand, none)
        >>> [(way.shown, way.probability) for way in split.ways()]
        [('<= 0.5', 0.75), ('> 0.5', 0.25)]
        """
        cover, nodes = self.forest.cover, self.children()
        weights = [float(cover[node]) for node in nodes]
        whole = max(float(cover[self.node]), sum(weights))
        if not whole > 0:
            return []
        sides = self._categories() if self.forest.category[self.node] >= 0 else self._numbers()
        ways = [
            Way(node, weight / whole, **side)
            for node, weight, side in zip(nodes, weights, sides, strict=True)
            if weight > 0
        ]
        # What is in neither child is missing, and stayed.
        if (stayed := whole - sum(weights)) > 1e-9 * whole:
            ways.append(Way(self.node, stayed / whole, np.nan, "missing"))
        return sorted(ways, key=lambda way: -way.probability)

    def moved(self, nodes: Sequence[int]) -> list[Stand]:
        """Return where the row would stand if the tree were at each of some of its nodes.

        Examples
        --------
        >>> stump = Forest.from_arrays(
        ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        ...     value=[[0.0], [-1.0], [1.0]], cover=[8, 6, 2])
        >>> none = np.empty(0, dtype=np.int64)
        >>> stand = Stand(stump, none, none, np.zeros(1))
        >>> split = Split(stump, stump.value, 0, 0, lambda: stand, none)
        >>> [(stand.nodes.tolist(), stand.output.tolist()) for stand in split.moved([1, 2])]
        [([1], [-1.0]), ([2], [1.0])]
        """
        stand, tree = self.stand, self.tree
        # Walked trees come in order, so only the last of them may be this one.
        end = len(stand.trees) - bool(len(stand.trees) and stand.trees[-1] == tree)
        trees = np.empty(end + 1, dtype=np.int64)
        trees[:end], trees[end] = stand.trees[:end], tree
        found = []
        for node, output in zip(nodes, self._outputs_at(nodes, stand.output), strict=True):
            places = np.empty(end + 1, dtype=np.int64)
            places[:end], places[end] = stand.nodes[:end], node
            found.append(Stand(self.forest, trees, places, output))
        return found

    def _outputs_at(self, nodes: Sequence[int], output: Floats) -> Floats:
        """Return the outputs with the tree at each of some of its nodes, shape (n_nodes, n_outputs)."""
        forest = self.forest
        if not isinstance(self.scores, SparseRows):
            return swap_nodes(forest.compiled, self.scores, output, self.tree, self.node, list(nodes))
        first = int(forest.target[self.tree])
        here, *there = rows_of(self.scores, np.array([self.node, *nodes]))
        found = np.tile(output, (len(nodes), 1))
        found[:, first : first + len(here)] += np.array(there) - here
        return found

    def _numbers(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return value and text of the two sides of a numeric test."""
        forest, threshold = self.forest, float(self.forest.threshold[self.node])
        cuts, shares = forest.cuts_of(self.column)
        # Other trees test the same column elsewhere. So the value is the median of its side.
        place = int(np.searchsorted(cuts, threshold))
        low = cuts[min(place, int(np.searchsorted(shares, shares[place] / 2)))]
        above = max(place + 1, int(np.searchsorted(shares, (1 + shares[place]) / 2)))
        step = np.float32 if forest.dtype == "float32" else np.float64
        strict = forest.comparator == "<"
        last = cuts[-1] if strict else just_above(forest, cuts[-1])
        high = cuts[above] if above < len(cuts) else last
        if strict:  # just below a threshold, where "<=" takes the threshold itself
            low = np.nextafter(step(low), step(-np.inf))
            high = np.nextafter(step(high), step(-np.inf)) if above < len(cuts) else high
        signs = ("<", ">=") if strict else ("<=", ">")
        return (
            {"answer": float(low), "shown": f"{signs[0]} {threshold:.6g}"},
            {"answer": float(high), "shown": f"{signs[1]} {threshold:.6g}"},
        )

    def _categories(self) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return a code and all codes of the two sides of a test of categories."""
        left, right = self.forest.code_sets(self.node)
        return tuple(  # type: ignore[return-value]
            {"answer": float(codes[len(codes) // 2]) if codes else np.nan, "codes": codes}
            for codes in (left, right)
        )
