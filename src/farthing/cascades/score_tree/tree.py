"""A binary tree whose nodes have linear scores of the same terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from farthing.base.links import row_sums
from farthing.learning.linear_scores import LinearScores
from farthing.learning.terms import Scorer, Terms
from farthing.learning.tree_terms import TreeTerms
from farthing.store import register_codec
from farthing.typing import Floats

NO_CHILD = -1
"""The place of a child that does not exist."""


@dataclass(frozen=True, eq=False)
class ScoreTree:
    """Linear scores at every node, and the thresholds by which rows go down.

    A row pays for the columns of a node, gets the node's scores, and goes to the upper child if the scores
    projected on the node's direction exceed the threshold, else to the lower one. The scores of the last node
    are the output. A cascade is a tree without lower children.

    Parameters
    ----------
    terms : LinearScores or TreeTerms
        Standardised columns or trees; coefficients of its own are not used.
    coef : ndarray of float64, shape (n_nodes, n_terms, n_outputs)
        The coefficients of each node.
    intercept : ndarray of float64, shape (n_nodes, n_outputs)
        The intercepts of each node.
    direction : ndarray of float64, shape (n_nodes, n_outputs)
        What the scores are projected on to route a row; all ones if there is a single output.
    threshold : ndarray of float64, shape (n_nodes,)
        Where the projection divides the rows.
    children : ndarray of int64, shape (n_nodes, 2)
        The lower and the upper child, after their parent; -1 where the tree ends.
    bought : ndarray of int64, shape (n_nodes, n_bought)
        The columns of each node in the order of purchase, those of its ancestors first; -1 after the end.

    Examples
    --------
    >>> terms = LinearScores(
    ...     columns=np.array([0]), category=np.array([np.nan]), mean=np.array([0.0]), scale=np.array([1.0]),
    ...     coef=np.zeros((1, 1)), intercept=np.zeros(1), n_features=1)
    >>> tree = ScoreTree(terms, np.ones((1, 1, 1)), np.full((1, 1), 0.5), np.ones((1, 1)), np.zeros(1),
    ...     np.full((1, 2), NO_CHILD), np.zeros((1, 1), dtype=np.int64))
    >>> tree.scores(0, np.array([[2.0], [np.nan]]))
    array([[2.5],
           [0.5]])
    """

    terms: Terms
    coef: Floats
    intercept: Floats
    direction: Floats
    threshold: Floats
    children: NDArray[np.int64]
    bought: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        *,
        terms: Terms,
        coef: Floats,
        intercept: Floats,
        direction: Floats,
        threshold: Floats,
        children: NDArray[np.int64],
    ) -> Self:
        """Build the tree in which each node buys what its own terms and those above it read, in order."""
        bought: list[list[int]] = [[] for _ in children]
        for node in range(len(children)):
            used = terms.reads[(coef[node] != 0).any(axis=1)].any(axis=0)
            bought[node] += [column for column in np.flatnonzero(used).tolist() if column not in bought[node]]
            for child in children[node][children[node] != NO_CHILD].tolist():
                bought[child] = list(bought[node])
        lists = np.full((len(bought), max(map(len, bought))), -1, dtype=np.int64)
        for node, columns in enumerate(bought):
            lists[node, : len(columns)] = columns
        return cls(terms, coef, intercept, direction, threshold, children, lists)

    def __post_init__(self) -> None:
        n_nodes, n_terms, n_outputs = len(self.threshold), self.terms.n_terms, self.n_outputs
        shapes = {
            "coef": (n_nodes, n_terms, n_outputs),
            "intercept": (n_nodes, n_outputs),
            "direction": (n_nodes, n_outputs),
            "threshold": (n_nodes,),
        }
        for name, shape in shapes.items():
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != shape or not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite floats of shape {shape}")
        self._check_children(n_nodes)
        self._check_bought(n_nodes)

    def _check_children(self, n_nodes: int) -> None:
        children = self.children
        if children.dtype != np.int64 or children.shape != (n_nodes, 2) or not n_nodes:
            raise ValueError("children must be two integers for each node, and there must be a node")
        parents, sides = np.nonzero(children != NO_CHILD)
        # Children after their parents, each once: so walks end, and no node has two parents.
        after = children[parents, sides] > parents
        places = np.sort(children[parents, sides])
        if not after.all() or not np.array_equal(places, np.arange(1, n_nodes)):
            raise ValueError("every node but the first must be the child of one node before it")

    def _check_bought(self, n_nodes: int) -> None:
        bought, n_features = self.bought, self.terms.n_features
        if bought.dtype != np.int64 or bought.ndim != 2 or len(bought) != n_nodes:
            raise ValueError("bought must hold integers for each node")
        if bought.size and not (bought.min() >= -1 and bought.max() < n_features):
            raise ValueError("bought must hold columns of the table")
        owned = np.zeros((n_nodes, n_features + 1), dtype=np.bool_)
        owned[np.arange(n_nodes)[:, np.newaxis], bought] = True  # -1 is the last place, which no column has
        owned = owned[:, :n_features]
        # As floats: products of truth values are many times slower.
        active = (self.coef != 0).any(axis=2).astype(np.float32)
        used = active @ self.terms.reads.astype(np.float32) > 0
        if (used & ~owned).any():
            raise ValueError("a node uses a column that it does not buy")
        parents, sides = np.nonzero(self.children != NO_CHILD)
        if (owned[parents] & ~owned[self.children[parents, sides]]).any():
            raise ValueError("a node must list what its ancestors buy")

    @property
    def n_outputs(self) -> int:
        """Number of scores of a node."""
        return int(self.intercept.shape[-1])

    @cached_property
    def used(self) -> NDArray[np.bool_]:
        """Which columns some node buys, shape (n_features,)."""
        return np.isin(np.arange(self.terms.n_features), self.bought)

    @cached_property
    def n_new_terms(self) -> NDArray[np.int64]:
        """How many terms that read a column each node uses, and none of its ancestors, shape (n_nodes,)."""
        active = (self.coef != 0).any(axis=2) & self.terms.reads.any(axis=1)
        paid = active.copy()
        for node in range(1, len(active)):
            paid[node] |= paid[self._parents[node]]
        first = np.maximum(self._parents, 0)
        new = active & ~np.where(self._parents[:, np.newaxis] >= 0, paid[first], False)
        return np.asarray(np.count_nonzero(new, axis=1))

    def columns(self, node: int) -> list[int]:
        """Return the columns of a node in the order of purchase."""
        row = self.bought[node]
        return [int(column) for column in row if column >= 0]

    def new_columns(self, node: int) -> list[int]:
        """Return the columns of a node that none of its ancestors buys, in the order of purchase."""
        parent = self._parents[node]
        known = set() if parent == NO_CHILD else set(self.columns(int(parent)))
        return [column for column in self.columns(node) if column not in known]

    @cached_property
    def _parents(self) -> NDArray[np.int64]:
        parents = np.full(len(self.children), NO_CHILD, dtype=np.int64)
        inner, sides = np.nonzero(self.children != NO_CHILD)
        parents[self.children[inner, sides]] = inner
        return parents

    def scores(
        self, node: int, values: NDArray[np.floating], refused: frozenset[int] = frozenset()
    ) -> Floats:
        """Return the scores of a node for rows of an encoded table, shape (n_rows, n_outputs).

        Columns in ``refused`` are refused by all of these rows; their values must be NaN.
        """
        return self._scorers[node](values, refused)

    @cached_property
    def _scorers(self) -> list[Scorer]:
        return [self.terms.scorer(*weights) for weights in zip(self.coef, self.intercept, strict=True)]

    def outputs(self, values: NDArray[np.floating]) -> Floats:
        """Return the scores of the last node of each row, whatever it costs, shape (n_rows, n_outputs)."""
        return self.ends(values)[0]

    def ends(self, values: NDArray[np.floating]) -> tuple[Floats, NDArray[np.int64]]:
        """Return the scores (n_rows, n_outputs) of the last node of each row, and this node (n_rows,)."""
        outputs = np.zeros((len(values), self.n_outputs))
        at = np.zeros(len(values), dtype=np.int64)
        last = np.zeros(len(values), dtype=np.int64)
        # Children come after their parents, so one pass sees every row on its whole way down.
        for node in range(len(self.threshold)):
            rows = np.flatnonzero(at == node)
            scores = self.scores(node, values[rows])
            outputs[rows], last[rows] = scores, node
            at[rows] = self.next_nodes(node, scores)
        return outputs, last

    def next_nodes(self, node: int, scores: Floats) -> NDArray[np.int64]:
        """Return where rows go from a node, by its scores; -1 where the tree ends, shape (n_rows,)."""
        return np.asarray(self.children[node, self.goes_up(node, scores).astype(np.int64)])

    def goes_up(self, node: int, scores: Floats) -> NDArray[np.bool_]:
        """Return which rows go to the upper child of a node, by its scores, shape (n_rows,)."""
        return np.asarray(self.projection(node, scores) > self.threshold[node])

    def rescaled(self, scale: float, shift: float) -> ScoreTree:
        """Return the tree whose scores are those of this one times a scale above 0, plus a shift."""
        return replace(
            self,
            coef=self.coef * scale,
            intercept=self.intercept * scale + shift,
            threshold=self.threshold * scale + shift * self.direction.sum(axis=1),
        )

    def projection(self, node: int, scores: Floats) -> Floats:
        """Return what a node compares with its threshold, shape (n_rows,)."""
        return row_sums(scores * self.direction[node])


_FIELDS = ("terms", "coef", "intercept", "direction", "threshold", "children", "bought")


def _decode(fields: dict[str, Any]) -> ScoreTree:
    if set(fields) != set(_FIELDS) or not isinstance(fields["terms"], LinearScores | TreeTerms):
        raise ValueError(f"a tree of scores holds {', '.join(_FIELDS)}")
    if not all(isinstance(fields[name], np.ndarray) for name in _FIELDS[1:]):
        raise TypeError("all but the terms must be arrays")
    if fields["intercept"].ndim != 2:
        raise ValueError("intercept must have two dimensions")
    return ScoreTree(**fields)


register_codec("ScoreTree", ScoreTree, lambda tree: {name: getattr(tree, name) for name in _FIELDS}, _decode)
