"""The split that a walk stands at: the node of a tree whose test the next answer decides."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from farthing._core import swap_nodes
from farthing.trees import Forest, NodeValues, SparseRows, just_above, rows_of
from farthing.typing import Floats, Integers

#: The most ways that an answer is said to take.
MOST_WAYS: Final = 8


@dataclass(frozen=True, slots=True)
class Way:
    """One way that an answer can take from a node.

    Attributes
    ----------
    node : int
        Where it leads; for a missing value that stays, where it does.
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
        return self._below(self.node)

    def ways(self, most: int = MOST_WAYS) -> list[Way]:
        """Return the ways that the answer can take, the likeliest first; empty without counts of rows.

        An answer decides the test of the node and, below it, those of the same column. So the ways end where
        another column is tested: the ways of a test are those of both its sides, from the one that most
        training rows came to, as long as there are no more than ``most``.

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
        forest, column = self.forest, self.column
        cover = forest.cover
        whole = max(float(cover[self.node]), sum(float(cover[node]) for node in self.children()))
        if not whole > 0:
            return []
        # What leads to each node: an interval of thresholds by their places, or codes; and missing values.
        is_number = forest.category[self.node] < 0
        n_cuts = len(forest.cuts_of(column)[0]) if is_number else 0
        open_nodes: dict[int, Any] = {self.node: (-1, n_cuts) if is_number else None}
        ended: list[tuple[int, Any]] = []
        stayed: list[Way] = []
        while open_nodes and (self.node in open_nodes or len(open_nodes) + len(ended) < most):
            node = max(open_nodes, key=lambda each: float(cover[each]))
            given = open_nodes.pop(node)
            low, high = self._below(node)
            # What is in neither child is missing, and stayed.
            left = float(cover[node]) - float(cover[low]) - float(cover[high])
            if left > 1e-9 * whole:
                stayed.append(Way(node, left / whole, np.nan, "missing"))
            for child, answers in zip((low, high), self._parted(node, given), strict=True):
                if not cover[child] > 0:
                    continue
                # A test of the column that sends on numbers after one of categories does not exist.
                if forest.feature[child] == column:
                    open_nodes[child] = answers
                else:
                    ended.append((child, answers))
        ended += open_nodes.items()
        ways = [Way(node, float(cover[node]) / whole, **self._told(answers)) for node, answers in ended]
        return sorted([*ways, *stayed], key=lambda way: -way.probability)

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

    def _below(self, node: int) -> tuple[int, int]:
        """Return the two nodes below one, numbered over the whole forest."""
        first = int(self.forest.offsets[self.tree])
        return first + int(self.forest.left[node]), first + int(self.forest.right[node])

    def _parted(self, node: int, given: Any) -> tuple[Any, Any]:
        """Return which of some answers go to the left and to the right of a node.

        Answers are an interval between two thresholds of the column, by their places; or codes, None for all.
        """
        forest = self.forest
        if forest.category[node] < 0:
            place = int(np.searchsorted(forest.cuts_of(self.column)[0], float(forest.threshold[node])))
            low, high = given
            return (low, max(min(place, high), low)), (min(max(place, low), high), high)
        left, right = forest.code_sets(node)
        if given is None:
            return left, right
        own = set(given)
        return tuple(c for c in left if c in own), tuple(c for c in right if c in own)

    def _told(self, answers: Any) -> dict[str, Any]:
        """Return value and text, or codes, of some answers as `_parted` gives them."""
        forest = self.forest
        if forest.category[self.node] >= 0:
            codes = answers
            return {"answer": float(codes[len(codes) // 2]) if codes else np.nan, "codes": codes}
        cuts, shares = forest.cuts_of(self.column)
        low, high = answers
        # Other trees test the same column elsewhere. So the value is the median of the interval.
        middle = ((shares[low] if low >= 0 else 0.0) + (shares[high] if high < len(cuts) else 1.0)) / 2
        place = min(max(low + 1, int(np.searchsorted(shares, middle))), high)
        step = np.float32 if forest.dtype == "float32" else np.float64
        strict = forest.comparator == "<"
        if place < len(cuts):
            value = cuts[place]
            if strict:  # just below a threshold, where "<=" takes the threshold itself
                value = np.nextafter(step(value), step(-np.inf))
        else:
            value = cuts[-1] if strict else just_above(forest, cuts[-1])
        less, more = ("<", ">=") if strict else ("<=", ">")
        ends = [] if low < 0 else [f"{more} {cuts[low]:.6g}"]
        if high < len(cuts):
            ends.append(f"{less} {cuts[high]:.6g}")
        return {"answer": float(value), "shown": ", ".join(ends)}
