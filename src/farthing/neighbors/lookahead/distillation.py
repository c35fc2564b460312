"""A policy as one tree: nodes buy what their rows buy, and tests tell apart what the policy does next."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.costs import spending_limit
from farthing.neighbors.lookahead.model import LookaheadModel
from farthing.trees import Forest
from farthing.trees.node_arrays import MISSING_LEFT, MISSING_RIGHT, WORD_BITS
from farthing.typing import Flags, Floats

# Thresholds of a numeric column that are tried at a node.
_MOST_THRESHOLDS: Final = 32
# A split must explain at least this share of what is different at a node: the policy may ask for the columns
# of a set in any order, and tests that guess the order would use up the depth.
_LEAST_GAIN: Final = 0.05
# A column that at least this share of the rows of a node buy sooner or later is bought without a test: what
# differs is the order.
_NEARLY_ALL: Final = 0.95


@dataclass(frozen=True)
class _Split:
    """A test of a column, and which rows of the node go left."""

    column: int
    threshold: float
    category: int | None
    missing_left: bool
    left: Flags


@dataclass
class Distillation:
    """Grow the tree node by node.

    A node buys what nearly all of its rows buy on their walks. Then the policy says for each row
    what it does next, given the columns that rows own there: a question, or the label with which it stops. If
    the rows do not agree, the best test of an owned column that tells them apart is made, as long as the
    depth allows. Where they agree, or nothing tells them apart, all rows do what most of them do: they buy
    the column, or the node is a leaf.

    Parameters
    ----------
    model : LookaheadModel
        The policy.
    values : ndarray of float64, shape (n_rows, n_features)
        The rows to walk, encoded.
    weights : ndarray of float64, shape (n_rows,)
        Their weights.
    max_depth : int
        Most tests on a path.
    min_samples_leaf : int
        Fewest rows on either side of a test.
    n_threads : int
        Threads of the policy.
    """

    model: LookaheadModel
    values: Floats
    weights: Floats
    max_depth: int
    min_samples_leaf: int
    n_threads: int
    _bought: Flags = field(init=False)
    _nodes: list[tuple[_Split | None, int, int]] = field(default_factory=list, init=False)
    _shares: list[Floats] = field(default_factory=list, init=False)

    def forest(self) -> Forest:
        """Return the tree; values of nodes are the policy's probabilities, summed over its rows."""
        n_features = self.values.shape[1]
        budget = None if self.model.budget is None else np.full(len(self.values), self.model.budget)
        self._bought = self.model.acquire(self.values, budget=budget, n_threads=self.n_threads)[1]
        self._node(np.arange(len(self.values)), np.zeros(n_features, dtype=np.bool_), self.max_depth)
        columns = self.model.schema.columns
        widths = np.array(
            [-(-max(1, len(c.categories)) // WORD_BITS) if c.is_categorical else 0 for c in columns],
            dtype=np.int64,
        )
        words: list[int] = []
        category = np.full(len(self._nodes), -1)
        for node, (split, _, _) in enumerate(self._nodes):
            if split is not None and split.category is not None:
                category[node] = len(words)
                words += _sets(split, int(widths[split.column]), len(columns[split.column].categories))
        value = np.array(self._shares)
        splits = [split for split, _, _ in self._nodes]
        return Forest.from_arrays(
            n_features=n_features,
            feature=np.array([-1 if split is None else split.column for split in splits], dtype=np.int32),
            threshold=np.array([0.0 if split is None else split.threshold for split in splits]),
            left=np.array([left for _, left, _ in self._nodes], dtype=np.int64),
            right=np.array([right for _, _, right in self._nodes], dtype=np.int64),
            missing=np.array(
                [
                    MISSING_LEFT if split is not None and split.missing_left else MISSING_RIGHT
                    for split in splits
                ],
                dtype=np.uint8,
            ),
            category=category,
            category_words=np.array(words, dtype=np.uint64),
            category_widths=widths,
            value=value,
            cover=value.sum(axis=1),
        )

    def _node(self, rows: NDArray[np.int64], owned: Flags, depth: int) -> int:
        """Add the node of some rows, and those below it; return its number."""
        number = len(self._nodes)
        self._nodes.append((None, -1, -1))
        known = np.where(owned, self.values[rows], np.nan)
        scores = self.model.predictor.predict(known, n_threads=self.n_threads)[0]
        probabilities = self.model.conclude(scores)
        self._shares.append((probabilities * self.weights[rows, np.newaxis]).sum(axis=0))
        split = None
        if depth > 0:
            split, owned = self._next_split(rows, owned)
        if split is not None:
            left = self._node(rows[split.left], owned, depth - 1)
            right = self._node(rows[~split.left], owned, depth - 1)
            self._nodes[number] = (split, left, right)
        return number

    def _next_split(self, rows: NDArray[np.int64], owned: Flags) -> tuple[_Split | None, Flags]:
        """Return the next test of some rows, and what they own then; no test if they stop."""
        while True:
            owned = self._with_shared(rows, owned)
            actions = self._actions(rows, owned)
            split = self._best_split(rows, owned, actions)
            if split is not None:
                return split, owned
            counts = np.bincount(actions, weights=self.weights[rows])
            most = int(np.argmax(counts))
            if most >= len(owned):  # they stop
                return None, owned
            owned = owned.copy()
            owned[most] = True

    def _with_shared(self, rows: NDArray[np.int64], owned: Flags) -> Flags:
        """Return what rows own when they have what nearly all of them buy, most first, and can pay for."""
        shares = np.average(self._bought[rows], axis=0, weights=self.weights[rows])
        limit = np.full(1, spending_limit(self.model.budget))
        for column in np.argsort(-shares, kind="stable").tolist():
            if shares[column] < _NEARLY_ALL:
                break
            if not owned[column] and self.model.affordable(owned[np.newaxis], limit)[0][0, column]:
                owned = owned.copy()
                owned[column] = True
        return owned

    def _actions(self, rows: NDArray[np.int64], owned: Flags) -> NDArray[np.int64]:
        """Return the next column of each row, or the number of columns plus its label if it stops."""
        heard = np.broadcast_to(owned, (len(rows), len(owned)))
        known = np.where(owned, self.values[rows], np.nan)
        scores = self.model.predictor.predict(known, n_threads=self.n_threads)[0]
        limit = spending_limit(self.model.budget)
        affordable, left = self.model.affordable(heard, np.full(len(rows), limit))
        columns = self.model.next_columns(
            known, heard, heard, affordable, left, scores=scores, n_threads=self.n_threads
        )
        labels = self.model.decide(self.model.conclude(scores))
        return np.where(columns >= 0, columns, len(owned) + labels)

    def _best_split(self, rows: NDArray[np.int64], owned: Flags, actions: NDArray[np.int64]) -> _Split | None:
        kinds, codes = np.unique(actions, return_inverse=True)
        if len(kinds) < 2 or len(rows) < 2 * self.min_samples_leaf:
            return None
        one_hot = np.eye(len(kinds))[codes.ravel()] * self.weights[rows, np.newaxis]
        total = one_hot.sum(axis=0)
        best, least = None, _impurity(total) * (1 - _LEAST_GAIN)
        for column in np.flatnonzero(owned).tolist():
            for split in self._splits(self.values[rows, column], column):
                n_left = int(split.left.sum())
                if min(n_left, len(rows) - n_left) < self.min_samples_leaf:
                    continue
                inside = one_hot[split.left].sum(axis=0)
                impurity = _impurity(inside) + _impurity(total - inside)
                if impurity < least:
                    best, least = split, impurity
        return best

    def _splits(self, values: Floats, column: int) -> list[_Split]:
        present = np.unique(values[~np.isnan(values)])
        missing = np.isnan(values)
        if self.model.schema.columns[column].is_categorical:
            return [_Split(column, 0.0, int(code), False, values == code) for code in present]
        present = present[np.isfinite(present)]
        if len(present) > _MOST_THRESHOLDS + 1:
            places = np.linspace(0, len(present) - 1, _MOST_THRESHOLDS + 2).astype(np.int64)[1:-1]
        else:
            places = np.arange(len(present) - 1)
        splits = []
        for place in places.tolist():
            low, high = float(present[place]), float(present[place + 1])
            threshold = low + (high - low) / 2
            below = values <= threshold
            # What is missing goes with the more rows.
            missing_left = bool(2 * below.sum() > (~missing).sum())
            splits.append(_Split(column, threshold, None, missing_left, below | (missing & missing_left)))
        return splits


def _impurity(sums: Floats) -> float:
    """Return the weight times the Gini impurity of weights by kind."""
    total = float(sums.sum())
    return total - float((sums**2).sum()) / total if total > 0 else 0.0


def _sets(split: _Split, width: int, n_categories: int) -> list[int]:
    """Return the category on the left, and all others on the right, as words of bits."""
    left, right = [0] * width, [0] * width
    for code in range(n_categories):
        side = left if code == split.category else right
        side[code // WORD_BITS] |= 1 << (code % WORD_BITS)
    return left + right
