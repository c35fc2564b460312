"""Weighted votes of any kind: the learners, their weights and their columns.

The vote of a row x is the sum over the learners of alpha_t h_t(x). A learner votes on one row through a
`LazyVote`, which asks for one column at a time, or on a whole table at once.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.store import register_codec
from farthing.trees import Forest, Predictor


class LazyVote(Protocol):
    """The vote of one learner on one row, evaluated one column at a time."""

    def wants(self) -> int | None:
        """Return the column needed next; None when the vote is final."""
        ...

    def hear(self, value: float) -> None:
        """Take the encoded value of the column wanted; NaN if it is missing."""
        ...

    def refuse(self) -> None:
        """Go on without the column wanted."""
        ...

    def value(self) -> float | NDArray[np.float64]:
        """Return the vote so far; on more than two classes, the vote on each."""
        ...


class WeightedVote(Protocol):
    """The learners of a fitted ensemble.

    Attributes
    ----------
    alphas : ndarray of float64, shape (n_learners,)
        Their weights, above zero.
    n_features : int
        Columns of the table.
    """

    @property
    def alphas(self) -> NDArray[np.float64]:
        """The weight of each learner."""
        ...

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        ...

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Return the columns that each learner may read, ascending."""
        ...

    def reach(self) -> NDArray[np.float64]:
        """Return the largest absolute vote of each learner, infinite if it is unbounded."""
        ...

    def lazy_vote(self, learner: int) -> LazyVote:
        """Return the vote of one learner on a new row."""
        ...

    def table(self, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.float64]:
        """Return the vote of each learner on each row of an encoded table, (n_rows, n_learners)."""
        ...


class LazyTreeVote:
    """The descent of one row through one tree."""

    __slots__ = ("_forest", "_node", "_predictor", "_stays")

    def __init__(self, predictor: Predictor, root: int) -> None:
        self._predictor = predictor
        self._forest = predictor.forest
        self._node = root
        self._stays = False

    def wants(self) -> int | None:
        """Return the column that the current node tests."""
        column = int(self._forest.feature[self._node])
        return None if self._stays or column < 0 else column

    def hear(self, value: float) -> None:
        """Go down one step, or stay at the node if a missing value stays there."""
        node = self._forest.route(self._node, value)
        if node is None:
            self._stays = True
        else:
            self._node = node

    def refuse(self) -> None:
        """Go down one step as `Predictor.refused_ways` says."""
        column = int(self._forest.feature[self._node])
        node = self._predictor.without(frozenset({column})).forest.route(self._node, math.nan)
        assert node is not None
        self._node = node

    def value(self) -> float | NDArray[np.float64]:
        """Return the value of the current node."""
        value = self._forest.value[self._node]
        return float(value[0]) if len(value) == 1 else value


@dataclass(frozen=True, eq=False)
class TreeVotes:
    """Learners that are trees: boosted stumps, a bagged forest.

    Parameters
    ----------
    alphas : ndarray of float64, shape (n_trees,)
        Their weights, above zero.
    forest : Forest
        One output, or one for each of more than two classes; the value of a node is the vote of a row that
        ends there.

    Examples
    --------
    >>> stump = Forest.from_arrays(
    ...     n_features=2, feature=[1, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
    ...     value=[[0.0], [-1.0], [1.0]])
    >>> votes = TreeVotes(np.array([0.7]), stump)
    >>> votes.columns()
    ((1,),)
    >>> votes.table(np.array([[9.0, 0.2], [9.0, 0.8]])).ravel()
    array([-1.,  1.])
    """

    alphas: NDArray[np.float64]
    forest: Forest

    def __post_init__(self) -> None:
        _check_alphas(self.alphas, self.forest.n_trees)
        if self.forest.width != self.forest.n_outputs:
            raise ValueError(
                f"the trees of a vote have {self.forest.n_outputs} outputs each; got {self.forest.width}"
            )

    @property
    def n_outputs(self) -> int:
        """Votes per tree: 1, or one for each class."""
        return self.forest.n_outputs

    def by_output(self) -> list[TreeVotes]:
        """Return the votes on each class."""
        forest = self.forest
        return [
            TreeVotes(self.alphas, replace(forest, n_outputs=1, node_values=forest.value[:, [output]]))
            for output in range(self.n_outputs)
        ]

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return self.forest.n_features

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Return the columns that each tree tests, ascending."""
        found = []
        for begin, end in pairwise(self.forest.offsets.tolist()):
            tested = self.forest.feature[begin:end]
            found.append(tuple(np.unique(tested[tested >= 0]).tolist()))
        return tuple(found)

    def reach(self) -> NDArray[np.float64]:
        """Return the largest value of each tree's nodes, in absolute value."""
        # Over all nodes, not only leaves: a row may end at an inner node. Every tree has a node, so reduceat
        # meets no empty segment.
        return np.maximum.reduceat(np.abs(self.forest.value).max(axis=1), self.forest.offsets[:-1])

    def lazy_vote(self, learner: int) -> LazyVote:
        """Return the vote of one tree on a new row."""
        return LazyTreeVote(self.weighted_predictor, int(self.forest.offsets[learner]))

    @cached_property
    def weighted_predictor(self) -> Predictor:
        """The trees with their weights, by which refused values are sent on."""
        weights: NDArray[np.float64] = np.repeat(self.alphas, np.diff(self.forest.offsets))
        return Predictor(self.forest, self.forest.value * weights[:, np.newaxis])

    def table(self, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.float64]:
        """Return the vote of each tree on each row, (n_rows, n_trees) or (n_rows, n_trees, n_classes)."""
        if self.n_outputs > 1:
            return np.stack([part.table(values, n_threads) for part in self.by_output()], axis=-1)
        # One output per tree, so that the predictor does not sum over trees.
        n_trees = self.forest.n_trees
        apart = replace(self.forest, n_outputs=n_trees, target=np.arange(n_trees))
        return Predictor(apart).predict(values, n_threads=n_threads)[0]


class LazyLinearVote:
    """The vote of one feature of a linear model."""

    __slots__ = ("_column", "_factor", "_known", "_vote")

    def __init__(self, column: int, factor: float, missing: float) -> None:
        self._column = column
        self._factor = factor
        self._known = column < 0
        self._vote = factor if column < 0 else missing

    def wants(self) -> int | None:
        """Return the column of the feature until its value is known."""
        return None if self._known else self._column

    def hear(self, value: float) -> None:
        """Vote with the value, or with that of a missing value."""
        self._known = True
        if not math.isnan(value):
            self._vote = self._factor * value

    def refuse(self) -> None:
        """Vote as for a missing value, which is the mean."""
        self._known = True

    def value(self) -> float:
        """Return the vote; that of a missing value until the column is known."""
        return self._vote


@dataclass(frozen=True, eq=False)
class LinearVotes:
    """Learners that are the features of a linear model, each voting with its value.

    Parameters
    ----------
    alphas : ndarray of float64, shape (n_learners,)
        Their weights, above zero.
    column : ndarray of int64, shape (n_learners,)
        The feature that votes; -1 for a constant vote, the intercept.
    factor : ndarray of float64, shape (n_learners,)
        Factor of the feature's value, chosen so that votes of the training rows lie between -1 and 1; the
        vote itself if it is constant.
    missing : ndarray of float64, shape (n_learners,)
        The vote of a missing value.
    n_features : int
        Columns of the table.

    Examples
    --------
    >>> votes = LinearVotes(np.array([2.0]), np.array([0]), np.array([0.5]), np.array([0.0]), n_features=1)
    >>> votes.table(np.array([[2.0], [np.nan]])).ravel()
    array([1., 0.])
    """

    alphas: NDArray[np.float64]
    column: NDArray[np.int64]
    factor: NDArray[np.float64]
    missing: NDArray[np.float64]
    n_features: int

    def __post_init__(self) -> None:
        if isinstance(self.n_features, bool) or not isinstance(self.n_features, int):
            raise ValueError(f"n_features must be an integer; got {self.n_features!r}")  # noqa: TRY004 - as below
        n_learners = len(self.column)
        _check_alphas(self.alphas, n_learners)
        if self.column.dtype != np.int64 or self.column.shape != (n_learners,):
            raise ValueError("column must be a list of integers")
        if (self.column < -1).any() or (self.column >= self.n_features).any():
            raise ValueError(f"column must lie between -1 and {self.n_features - 1}")
        for name in ("factor", "missing"):
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != (n_learners,) or not np.isfinite(array).all():
                raise ValueError(f"{name} must be a finite float for each learner")

    @property
    def n_outputs(self) -> int:
        """Votes per feature: linear models of two classes have one."""
        return 1

    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Return the column of each learner, none for a constant vote."""
        return tuple(() if column < 0 else (column,) for column in self.column.tolist())

    def reach(self) -> NDArray[np.float64]:
        """Return infinity for features, which may take any value."""
        return np.where(self.column < 0, np.abs(self.factor), np.inf)

    def lazy_vote(self, learner: int) -> LazyVote:
        """Return the vote of one feature on a new row."""
        return LazyLinearVote(
            int(self.column[learner]), float(self.factor[learner]), float(self.missing[learner])
        )

    def table(self, values: NDArray[np.floating], n_threads: int = 1) -> NDArray[np.float64]:
        """Return the vote of each feature for each row, shape (n_rows, n_learners)."""
        # The -1 of a constant vote reads the last column; np.where discards it below.
        votes = values[:, self.column] * self.factor
        votes = np.where(np.isnan(votes), self.missing, votes)
        return np.asarray(np.where(self.column < 0, self.factor, votes), dtype=np.float64)


def _check_alphas(alphas: Any, n_learners: int) -> None:
    if not isinstance(alphas, np.ndarray) or alphas.dtype != np.float64 or alphas.shape != (n_learners,):
        raise ValueError(f"alphas must be {n_learners} floats, one for each learner")
    if not (np.isfinite(alphas).all() and (alphas > 0).all()):
        raise ValueError("alphas must be finite and above zero; flip the votes of a negative one")


def _decode_linear(fields: dict[str, Any]) -> LinearVotes:
    return LinearVotes(**fields)


def _encode_linear(votes: LinearVotes) -> Mapping[str, object]:
    return {name: getattr(votes, name) for name in ("alphas", "column", "factor", "missing", "n_features")}


def _decode_trees(fields: dict[str, Any]) -> TreeVotes:
    return TreeVotes(**fields)


def _encode_trees(votes: TreeVotes) -> Mapping[str, object]:
    return {"alphas": votes.alphas, "forest": votes.forest}


register_codec("TreeVotes", TreeVotes, _encode_trees, _decode_trees)
register_codec("LinearVotes", LinearVotes, _encode_linear, _decode_linear)
