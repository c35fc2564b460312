"""What ASTC regresses on what: standardised terms and targets of the rows of a fit."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from farthing._core import divided
from farthing.learning.linear_design import standardised
from farthing.learning.linear_scores import LinearScores
from farthing.learning.moments import Moments
from farthing.table import Schema
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows of a node.

    Attributes
    ----------
    numbers : ndarray of int64, shape (n_rows,)
        Which rows of the table, ascending.
    weights : ndarray of float64, shape (n_rows,), or None
        Their weights at this node; None means 1 each.
    """

    numbers: NDArray[np.int64]
    weights: Floats | None

    @property
    def total(self) -> float:
        """Total weight of the rows."""
        return float(len(self.numbers)) if self.weights is None else float(self.weights.sum())

    def take(self, kept: NDArray[np.int64], shares: Floats | None = None) -> NodeRows:
        """Return some of the rows, by their places among them, with shares of their weights."""
        weights = None if self.weights is None else self.weights[kept]
        if shares is not None:
            weights = shares if weights is None else weights * shares
        return NodeRows(self.numbers[kept], weights)

    def divided(self, projection: Floats, threshold: float) -> tuple[NodeRows, NodeRows]:
        """Return the rows whose projection is at most a threshold, and the others."""
        lower, upper = divided(self.numbers, projection, threshold)
        if self.weights is None:
            return NodeRows(lower, None), NodeRows(upper, None)
        low, up = divided(self.weights, projection, threshold)
        return NodeRows(lower, low), NodeRows(upper, up)


@dataclass(frozen=True, eq=False)
class Design:
    """The terms and the targets of all rows.

    Attributes
    ----------
    zeros : LinearScores
        The terms, with coefficients of zero.
    entries : ndarray of float64, shape (n_terms + n_outputs, n_rows)
        The terms, then the targets: one for numbers or two classes, else an indicator of each class.
    every : NodeRows
        All rows with their weights.
    variances : ndarray of float64, shape (n_outputs,)
        The variances of the targets.

    Examples
    --------
    >>> X, y = np.array([[1.0], [3.0]]), np.array([[5.0], [7.0]])
    >>> design = Design.of(X, Schema.learn(X), y, np.ones(2))
    >>> design.entries
    array([[-1.,  1.],
           [ 5.,  7.]])
    """

    zeros: LinearScores
    entries: Floats
    every: NodeRows
    variances: Floats

    @classmethod
    def of(cls, values: NDArray[np.floating], schema: Schema, target: Floats, weights: Floats) -> Design:
        """Standardise an encoded table.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
        schema : Schema
        target : ndarray of float64, shape (n_rows, n_outputs)
        weights : ndarray of float64, shape (n_rows,)
        """
        shares = weights / weights.sum()
        zeros, entries = standardised(values, schema, shares, target.shape[1])
        entries[zeros.n_terms :] = target.T
        every = NodeRows(np.arange(len(values)), None if (weights == 1).all() else weights)
        return cls(zeros, entries, every, shares @ (target - shares @ target) ** 2)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return self.zeros.n_terms

    @cached_property
    def one_each(self) -> bool:
        """Whether each column has one term, in its place."""
        return np.array_equal(self.zeros.columns, np.arange(self.zeros.n_features))

    @property
    def n_outputs(self) -> int:
        """Number of targets."""
        return len(self.variances)

    def places(self, columns: list[int]) -> NDArray[np.int64]:
        """Return the terms of some columns, ascending."""
        if self.one_each:
            return np.array(sorted(columns), dtype=np.int64)
        read = np.zeros(self.zeros.n_features, dtype=np.bool_)
        read[columns] = True
        return np.flatnonzero(read[self.zeros.columns])

    def kept(self, places: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the entries of some terms and of all targets."""
        return np.concatenate([places, np.arange(self.n_terms, len(self.entries))])

    def moments(self, rows: NodeRows, places: NDArray[np.int64] | None = None) -> Moments:
        """Return the moments of some terms, or of all, and of all targets, over the rows of a node."""
        places = np.arange(self.n_terms) if places is None else places
        return Moments.of(self.entries, len(places), rows.weights, rows.numbers, self.kept(places))
