"""Growth of a routing tree whose leaves buy different sets of features, by held-out losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.cascades.branching.subset_search import Subset, SubsetSearch, with_column
from farthing.cascades.branching.subset_tests import SubsetTest, TestSearch
from farthing.deadline import check_deadline
from farthing.table import Bins
from farthing.trees import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT
from farthing.typing import Flags, Floats

# Bits of a word of category codes.
_WORD_BITS: Final = 64
# Columns whose sides are compared, and columns that are added to those which all rows need.
_MOST_TESTED: Final = 64
_MOST_ADDED: Final = 6
# Gains are compared on this grid, relative to the largest.
_GRID: Final = 2.0**20


@dataclass(eq=False)
class Node:
    """A node of the routing tree; a leaf until it has children.

    Parameters
    ----------
    own : ndarray of bool, shape (n_rows,)
        Its rows.
    path : tuple of int
        The columns that are free or tested on the way to it.
    columns : tuple of int
        What its rows buy, if it is a leaf.
    test : SubsetTest, optional
        The best test of its rows, if there is one worth its while.
    """

    own: Flags
    path: Subset
    columns: Subset
    test: SubsetTest | None = None
    sides: tuple[Subset, Subset] = ((), ())
    children: list[Node] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class SubsetTree:
    """The rows of a fit, and how branches are made of them.

    Parameters
    ----------
    rows : TrainingSet
        The training rows.
    bins : Bins
        The same rows in bins.
    search_of : callable
        Returns the `SubsetSearch` of a branch, given its rows and its path, and the rows of the search.
    halves : ndarray of int64, shape (n_rows,)
        0 or 1: sets are chosen on one half and judged on the other.
    n_branches, min_samples_branch, caution
        As in `SubsetTreeClassifier`.
    """

    rows: TrainingSet
    bins: Bins
    search_of: Callable[[Flags, Subset], tuple[SubsetSearch, NDArray[np.int64]]]
    halves: NDArray[np.int64]
    n_branches: int
    min_samples_branch: int
    caution: float

    def grow(self, free: Subset) -> Node:
        """Return the root of a tree, grown at the leaf whose test gains most until none is sure to gain."""
        root = self._leaf(np.ones(len(self.rows), dtype=np.bool_), free, [])
        leaves = [root]
        while len(leaves) < self.n_branches:
            open_leaves = [leaf for leaf in leaves if leaf.test is not None]
            if not open_leaves:
                break
            chosen = max(open_leaves, key=lambda leaf: 0.0 if leaf.test is None else leaf.test.gain)
            self._split(chosen)
            place = leaves.index(chosen)
            leaves[place : place + 1] = chosen.children
        return root

    def _split(self, node: Node) -> None:
        test = node.test
        if test is None:
            return
        column = test.column
        left = test.goes_left(
            self.bins.codes()[column], self.bins.n_bins(column), categorical=self._is_categorical(column)
        )
        path = with_column(node.path, column)
        for side, columns in zip((node.own & left, node.own & ~left), node.sides, strict=True):
            starts = [with_column(columns, column)]
            if column in node.columns:
                starts.append(node.columns)
            node.children.append(self._leaf(side, path, starts))

    def _is_categorical(self, column: int) -> bool:
        return bool(self.bins.category_widths[column])

    def _leaf(self, own: Flags, path: Subset, starts: list[Subset]) -> Node:
        check_deadline()
        search, numbers = self.search_of(own, path)
        columns = search.best(starts)
        leaf = Node(own, path, columns)
        if self.n_branches > 1 and search.weights.sum() >= 2 * self.min_samples_branch:
            self._find_test(leaf, search, numbers[own[numbers]])
        return leaf

    def _find_test(self, leaf: Node, search: SubsetSearch, numbers: NDArray[np.int64]) -> None:
        """Set the best test of a leaf, if it is sure to gain."""
        codes = self.bins.codes()[:, numbers]
        self._widen(search, leaf.columns, codes)
        # The set of the leaf comes first; others take a test if their price leaves room for it.
        sets = [leaf.columns, *[one for one in search.known if one != leaf.columns and search.affords(one)]]
        ledgers = [search.ledger(one) for one in sets]
        columns = sorted({column for one in sets for column in one})
        allowed = np.zeros((len(codes), len(sets)), dtype=np.bool_)
        for column in columns:
            allowed[column] = [one.owned[column] or one.affords(column) for one in ledgers]
        weights = search.weights
        tests = TestSearch(
            losses=np.column_stack([search.row_losses(one) for one in sets]),
            allowed=allowed,
            weights=weights,
            half=self.halves[numbers],
            # The rows of a search may be a sample of those of the leaf.
            least=self.min_samples_branch * min(1.0, len(numbers) / max(1, int(leaf.own.sum()))),
        )
        test = tests.best(columns, self.bins, codes)
        if test is not None and test.gain > self.caution * test.error and test.gain > 0:
            leaf.test, leaf.sides = test, (sets[test.left], sets[test.right])

    def _widen(self, search: SubsetSearch, columns: Subset, codes: NDArray[np.uint8]) -> None:
        """Judge sets that may be worth more to one side of a test than to all rows."""
        reduced = search.reduced(columns)
        if not reduced:
            return
        removed, rest = reduced[0]
        strongest = search.by_share(columns)[::-1]
        sets: list[Subset] = []
        for column in self._forks(search, rest, codes):
            for side in _sides(codes[column], search.weights):
                found = search.promising(rest, without=removed, rows=side)[:1]
                sets += [with_column(rest, other) for other in found]
                # A side may need several columns that tell little of other rows.
                kept = strongest[: max(0, len(strongest) - _MOST_ADDED)]
                grown = with_column(tuple(sorted({*search.fixed, *kept})), column)
                if search.affords(grown):
                    sets.append(_filled(search, grown, side))
        search.losses(list(dict.fromkeys(sets)))

    def _forks(self, search: SubsetSearch, rest: Subset, codes: NDArray[np.uint8]) -> list[int]:
        """Return the columns whose sides gain most by different columns, and so by a test."""
        tested = np.arange(len(codes))
        if len(tested) > _MOST_TESTED:
            tested = np.sort(np.argsort(-search.gains(search.fixed), kind="stable")[:_MOST_TESTED])
        gains = np.zeros(len(tested))
        for place, column in enumerate(tested.tolist()):
            for side in _sides(codes[column], search.weights):
                gains[place] += search.gains(rest, side).max()
        top = float(gains.max(initial=0.0)) or 1.0
        order = np.argsort(-np.rint(gains / top * _GRID), kind="stable")
        return [int(tested[place]) for place in order[: max(2, search.n_candidates)] if gains[place] > 0]

    # The tree as arrays.

    def forest(self, root: Node, n_classes: int) -> tuple[Forest, list[Node]]:
        """Return the tree, whose values are class weights, and its leaves in the order of their nodes."""
        order: list[Node] = []
        level = [root]
        while level:
            order += level
            level = [child for node in level for child in node.children]
        place = {id(node): number for number, node in enumerate(order)}
        tests = [_Arrays.of(self.bins, node) for node in order]
        rows = self.rows
        words = [one.words for one in tests]
        starts = np.cumsum([0, *map(len, words)])[:-1]
        tree = Forest.from_arrays(
            n_features=self.bins.n_features,
            feature=[one.feature for one in tests],
            threshold=[one.threshold for one in tests],
            left=[place[id(node.children[0])] if node.children else -1 for node in order],
            right=[place[id(node.children[1])] if node.children else -1 for node in order],
            missing=[one.missing for one in tests],
            category=[start if len(word) else -1 for start, word in zip(starts.tolist(), words, strict=True)],
            category_words=np.concatenate(words),
            category_widths=self.bins.category_widths,
            value=[_class_weights(rows, node.own, n_classes) for node in order],
            cover=[float(rows.weights[node.own].sum()) for node in order],
        )
        return tree, [node for node in order if not node.children]


def _filled(search: SubsetSearch, columns: Subset, rows: Flags) -> Subset:
    """Add columns by what they explain of the residuals of some rows, untried."""
    while found := search.promising(columns, rows=rows)[:1]:
        columns = with_column(columns, found[0])
    return columns


def _sides(codes: NDArray[np.uint8], weights: Floats) -> list[Flags]:
    """Return the rows up to a bin and those above it, as nearly halves as can be; none if all are equal."""
    below = np.cumsum(np.bincount(codes, weights=weights))
    distance = np.where(below < below[-1], np.abs(below - below[-1] / 2), np.inf)
    low = codes <= int(np.argmin(distance))
    return [low, ~low] if np.isfinite(distance).any() and low.any() else []


@dataclass(frozen=True)
class _Arrays:
    """The test of a node as a forest stores it."""

    feature: int
    threshold: float
    missing: int
    words: NDArray[np.uint64]

    @classmethod
    def of(cls, bins: Bins, node: Node) -> _Arrays:
        none = np.zeros(0, dtype=np.uint64)
        if node.test is None or not node.children:
            return cls(-1, 0.0, 2, none)
        test = node.test
        missing = MISSING_LEFT if test.missing_left else MISSING_RIGHT
        width = int(bins.category_widths[test.column])
        if not width:
            return cls(test.column, float(bins.edges(test.column)[test.code]), missing, none)
        words = np.zeros(2 * width, dtype=np.uint64)
        for code in range(bins.n_bins(test.column)):
            side = 0 if code == test.code else width
            words[side + code // _WORD_BITS] |= np.uint64(1) << np.uint64(code % _WORD_BITS)
        return cls(test.column, 0.0, missing, words)


def _class_weights(rows: TrainingSet, own: Flags, n_classes: int) -> Floats:
    counts = np.bincount(rows.target[own], weights=rows.weights[own], minlength=n_classes)
    return counts.astype(np.float64)
