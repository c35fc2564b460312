"""Trees as compact tables: nodes in preorder, thresholds and scores pooled, code sets as bytes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from farthing.errors import ExportError
from farthing.trees import Forest, Predictor
from farthing.trees.node_arrays import MISSING_STAY
from farthing.typing import Floats

STAY = int(MISSING_STAY)


@dataclass(eq=False)
class TreeTable:
    """The trees of one or more predictors, one after another.

    The left child of a node is the node after it; ``skip`` leads to the right one. ``test`` is the place of
    a threshold, or of the first byte of two code sets: the codes that go left, then those that go right.

    Attributes
    ----------
    roots : list of int
        The first node of each tree, and the number of nodes.
    target : list of int
        The first output that each tree adds to.
    feature : list of int
        The slot that a node tests, -1 at a leaf.
    test, skip : list of int
        As above; 0 at a leaf.
    ways : list of int
        Where a missing value goes, plus four times where a refused one does: 0 left, 1 right, 2 nowhere.
    score : list of int
        The row of a node in ``scores``.
    scores : list of tuple of float
        What nodes add to the output.
    route_scores : list of tuple of float
        The values of the routes' nodes: a station, then outputs.
    thresholds : list of float
    sets : bytearray
    set_bytes : list of int
        Bytes of one code set of each slot; 0 for a number.
    order : list of int
        The number that each node has in the forest of its predictor.
    cover : list of float
        The training rows of each node.
    """

    slot_of: Callable[[int], int]
    n_slots: int
    width: int
    n_outputs: int
    strict: bool = False
    single: bool = False
    single_sums: bool = False
    roots: list[int] = field(default_factory=lambda: [0])
    target: list[int] = field(default_factory=list)
    feature: list[int] = field(default_factory=list)
    test: list[int] = field(default_factory=list)
    skip: list[int] = field(default_factory=list)
    ways: list[int] = field(default_factory=list)
    score: list[int] = field(default_factory=list)
    scores: list[tuple[float, ...]] = field(default_factory=list)
    route_scores: list[tuple[float, ...]] = field(default_factory=list)
    thresholds: list[float] = field(default_factory=list)
    sets: bytearray = field(default_factory=bytearray)
    set_bytes: list[int] = field(default_factory=list)
    order: list[int] = field(default_factory=list)
    cover: list[float] = field(default_factory=list)

    @classmethod
    def of(
        cls,
        predictors: Sequence[Predictor],
        slot_of: Callable[[int], int],
        n_slots: int,
        routes: Predictor | None = None,
    ) -> TreeTable:
        """Return the table of some predictors, whose trees have the same form.

        ``routes`` is one tree with values of its own; its nodes come last.
        """
        first = predictors[0].forest
        table = cls(
            slot_of,
            n_slots,
            width=predictors[0].scores.shape[1],
            n_outputs=first.n_outputs,
            strict=first.comparator == "<",
            single=first.dtype == "float32",
            single_sums=predictors[0].single_sums,
            set_bytes=[0] * n_slots,
        )
        for predictor in predictors:
            table._check_same(predictor)
            table._widen_sets(predictor.forest)
        if routes is not None:
            table._widen_sets(routes.forest)
        pools = _Pools(table)
        for predictor in predictors:
            table._add(predictor, pools)
        if routes is not None:
            table._add(routes, pools, routes=True)
        return table

    @property
    def n_trees(self) -> int:
        """Number of trees."""
        return len(self.target)

    def _check_same(self, predictor: Predictor) -> None:
        forest = predictor.forest
        same = (forest.comparator == "<") == self.strict and (forest.dtype == "float32") == self.single
        if not same or predictor.scores.shape[1] != self.width or forest.n_outputs != self.n_outputs:
            raise ExportError("its trees do not all compare, or add up, in the same way")

    def _widen_sets(self, forest: Forest) -> None:
        """Make room for the codes that the nodes of a column tell apart."""
        inner = forest.feature >= 0
        columns, kinds = forest.feature[inner], forest.category[inner] >= 0
        for column in np.unique(columns).tolist():
            own = kinds[columns == column]
            if own.any() != own.all():
                raise ExportError(f"column {column} is tested both as a number and as a category")
            if own.any():
                sets = [
                    _code_sets(forest, node)
                    for node in np.flatnonzero(inner & (forest.feature == column)).tolist()
                ]
                width = max(1, *(len(each.rstrip(b"\0")) for pair in sets for each in pair))
                slot = self.slot_of(column)
                self.set_bytes[slot] = max(self.set_bytes[slot], width)

    def _add(self, predictor: Predictor, pools: _Pools, *, routes: bool = False) -> None:
        forest = predictor.forest
        refused, scores = forest.missing if routes else predictor.refused_ways, predictor.dense_scores
        for tree in range(forest.n_trees):
            start = int(forest.offsets[tree])
            # Right children wait until the left ones are written, with the node whose skip they set.
            waiting = [(start, -1)]
            while waiting:
                node, parent = waiting.pop()
                place, column = len(self.feature), int(forest.feature[node])
                if parent >= 0:
                    self.skip[parent] = place - parent
                self.order.append(node)
                self.cover.append(float(forest.cover[node]))
                self.score.append(pools.score(scores[node], routes=routes))
                self.skip.append(0)
                self.feature.append(-1 if column < 0 else self.slot_of(column))
                self.ways.append(0 if column < 0 else int(forest.missing[node]) + 4 * int(refused[node]))
                self.test.append(0 if column < 0 else self._test(forest, node, pools))
                if column >= 0:
                    waiting.append((start + int(forest.right[node]), place))
                    waiting.append((start + int(forest.left[node]), -1))
            if routes:
                return
            self.roots.append(len(self.feature))
            self.target.append(int(forest.target[tree]))

    def _test(self, forest: Forest, node: int, pools: _Pools) -> int:
        if forest.category[node] < 0:
            return pools.threshold(self._stored(float(forest.threshold[node])))
        return pools.sets(_code_sets(forest, node), self.set_bytes[self.feature[-1]])

    def _stored(self, threshold: float) -> float:
        """Return a threshold that parts the values as the given one does, in float32 if they are."""
        if not self.single or not np.isfinite(threshold):
            return threshold
        with np.errstate(over="ignore"):
            nearest = np.float32(threshold)
        # x <= t for all x of float32 is x <= the largest one up to t; x < t is x < the least one from t on.
        # They are compared as doubles: NumPy would round a float beside a float32.
        if self.strict and float(nearest) < threshold:
            nearest = np.nextafter(nearest, np.float32(np.inf))
        elif not self.strict and float(nearest) > threshold:
            nearest = np.nextafter(nearest, np.float32(-np.inf))
        return float(nearest)

    @property
    def longest(self) -> int:
        """The number of nodes of the tree that has most, or of the routes."""
        ends = [*self.roots, len(self.feature)]
        return max((end - first for first, end in pairwise(ends)), default=0)

    @property
    def height(self) -> int:
        """The largest number of tests between a root and a leaf."""
        depth, most = dict.fromkeys(self.roots[:-1], 0), 0
        for node, slot in enumerate(self.feature):
            level = depth.get(node, 0)
            most = max(most, level)
            if slot >= 0:
                depth[node + 1] = depth[node + self.skip[node]] = level + 1
        return most

    def leaf_rows(self) -> LeafRows | None:
        """Return the scores of leaves, if those of all inner nodes follow from them; None if not.

        The scores of an inner node must be the mean of its children's, weighted by training rows, to the last
        bit, as `farthing.forests.from_model` makes them.
        """
        scores = np.array([self.scores[row] for row in self.score])
        cover = np.array(self.cover)
        if self.route_scores or not ((cover >= 1) & (cover < 2**16) & (cover == np.rint(cover))).all():
            return None
        made, rows = scores.copy(), cover.copy()
        for node in reversed(range(len(cover))):
            if self.feature[node] >= 0:
                left, right = node + 1, node + self.skip[node]
                total = rows[left] + rows[right]
                rows[node] = total
                made[node] = rows[left] / total * made[left] + rows[right] / total * made[right]
        if not np.array_equal(rows, cover) or made.tobytes() != scores.tobytes():
            return None
        leaf = np.array(self.feature) < 0
        scores, cover = scores[leaf], cover[leaf]
        counts = np.rint(scores * cover[:, np.newaxis])
        are_counts = (
            (counts >= 0).all()
            and np.array_equal(counts.sum(axis=1), cover)
            and np.array_equal(counts / cover[:, np.newaxis], scores)
        )
        kept = counts if are_counts else np.column_stack([scores, cover])
        return LeafRows([tuple(row) for row in kept.tolist()], bool(are_counts))


@dataclass(frozen=True)
class LeafRows:
    """What is known of each leaf.

    Parameters
    ----------
    rows : list of tuple of float
        Counts of training rows, whose shares are the scores; or scores, then the number of training rows.
    are_counts : bool
        Which of the two.
    """

    rows: list[tuple[float, ...]]
    are_counts: bool


class _Pools:
    """Values that nodes share."""

    def __init__(self, table: TreeTable) -> None:
        self._table = table
        self._thresholds: dict[str, int] = {}
        self._scores: dict[bytes, int] = {}
        self._route_scores: dict[bytes, int] = {}
        self._sets: dict[bytes, int] = {}

    def threshold(self, value: float) -> int:
        """Return the place of a threshold."""
        # By its bits: -0.0 and 0.0 compare alike, but a pool keeps what the model has.
        key = value.hex()
        if key not in self._thresholds:
            self._thresholds[key] = len(self._table.thresholds)
            self._table.thresholds.append(value)
        return self._thresholds[key]

    def score(self, row: Floats, *, routes: bool) -> int:
        """Return the row of the scores of a node, among those of routes or of the other trees."""
        rows, places = (
            (self._table.route_scores, self._route_scores) if routes else (self._table.scores, self._scores)
        )
        key = row.tobytes()
        if key not in places:
            places[key] = len(rows)
            rows.append(tuple(row.tolist()))
        return places[key]

    def sets(self, pair: tuple[bytes, bytes], width: int) -> int:
        """Return the first byte of two code sets."""
        key = b"".join(each[:width].ljust(width, b"\0") for each in pair)
        if key not in self._sets:
            self._sets[key] = len(self._table.sets)
            self._table.sets += key
        return self._sets[key]


def _code_sets(forest: Forest, node: int) -> tuple[bytes, bytes]:
    """Return the codes that go left and right from a node; the lowest code is the lowest bit."""
    width, first = int(forest.category_widths[forest.feature[node]]), int(forest.category[node])
    words = forest.category_words[first : first + 2 * width].astype("<u8")
    return words[:width].tobytes(), words[width:].tobytes()
