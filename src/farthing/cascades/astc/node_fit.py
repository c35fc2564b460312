"""One node of ASTC: least squares on its columns, and how it divides its rows in halves."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from farthing._core import row_offsets, term_scores
from farthing.base.links import row_sums
from farthing.cascades.astc.design import Design, NodeRows
from farthing.cascades.score_tree.routing import halving_threshold, leading_vector
from farthing.learning.moments import Moments
from farthing.typing import Floats

# Soft rows with less than this share of their weight at a node are not counted there.
_LEAST_SHARE: Final = 1e-6
# Normal equations lose twice the digits of the terms' condition; a penalty above this share of their size
# leaves enough.
_STABLE: Final = 1e-9
# A target whose variance is below this share of that of all rows is constant but for rounding.
_CONSTANT: Final = 1e-13


def is_stable(moments: Moments, ridge: float) -> bool:
    """Return whether a penalty is large enough for normal equations."""
    return ridge > _STABLE * float(moments.squares[: moments.n_terms].sum())


@dataclass(frozen=True, eq=False)
class Division:
    """How a node divides its rows.

    Attributes
    ----------
    direction : ndarray of float64, shape (n_outputs,)
        What the scores are projected on to route a row.
    threshold : float or None
        Where the projections are divided; None if they are all the same.
    parts : tuple of NodeRows
        The rows of the lower and of the upper child; empty without a threshold.
    """

    direction: Floats
    threshold: float | None
    parts: tuple[NodeRows, ...]


@dataclass(frozen=True, eq=False)
class Node:
    """The scores of a node.

    Attributes
    ----------
    rows : NodeRows
        The rows that it is fitted on.
    columns : list of int
        The columns that it may use.
    places : ndarray of int64, shape (n_places,)
        The terms of these columns.
    moments : Moments
        Of these terms and the targets, over the rows.
    coef : ndarray of float64, shape (n_places, n_outputs)
    intercept : ndarray of float64, shape (n_outputs,)
    division : Division or None
        None for a node at the end of all paths.
    """

    rows: NodeRows
    columns: list[int]
    places: NDArray[np.int64]
    moments: Moments
    coef: Floats
    intercept: Floats
    division: Division | None

    def scores(self, entries: Floats, numbers: NDArray[np.int64]) -> Floats:
        """Return the scores of some rows of a table of terms; the bits are those of predictions.

        Parameters
        ----------
        entries : ndarray of float64, shape (at least n_terms, n_rows)
        numbers : ndarray of int64, shape (n_numbers,)

        Returns
        -------
        ndarray of float64, shape (n_outputs, n_numbers)
        """
        return term_scores(entries, numbers, self.places, self.coef, self.intercept)

    def used(self, design: Design) -> set[int]:
        """Return the columns that have a coefficient."""
        return set(design.zeros.columns[self.places[(self.coef != 0).any(axis=1)]].tolist())


def fit_node(
    design: Design,
    rows: NodeRows,
    columns: list[int],
    places: NDArray[np.int64],
    moments: Moments,
    *,
    ridge: float = 0.0,
    stable: bool = False,
    divides: bool = True,
    unit: float | None = None,
) -> Node:
    """Fit the scores of a node by least squares, and divide its rows in halves of equal weight.

    Parameters
    ----------
    design : Design
        The terms and targets of all rows.
    rows : NodeRows
        The rows of the node.
    columns : list of int
        The columns that the node may use.
    places : ndarray of int64, shape (n_places,)
        Their terms.
    moments : Moments
        Of these terms and the targets, over the rows.
    ridge : float
        Weight of the squared coefficients against the sum of squared errors; the intercept is free.
    stable : bool
        Whether the penalty is known to be large enough for normal equations, as it is if it suits more rows
        and terms.
    divides : bool
        Whether the node may have children.
    unit : float or None
        The scale of soft routing; None sends each row to one child.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> design = Design.of(X, Schema.learn(X), 2 * X, np.ones(4))
    >>> node = fit_node(design, design.every, [0], np.array([0]), design.moments(design.every))
    >>> round(node.division.threshold, 9), node.division.parts[1].numbers.tolist()
    (3.0, [2, 3])
    """
    if stable or is_stable(moments, ridge):
        slopes = moments.ridge(ridge)
    else:
        slopes = _least_squares(design, rows, places, moments, ridge)
    coef = _without_rounding(slopes, moments.variances > _CONSTANT * design.variances)
    node = Node(rows, columns, places, moments, coef, moments.intercept(coef), None)
    return replace(node, division=_divided(design, node, unit)) if divides else node


def _least_squares(
    design: Design, rows: NodeRows, places: NDArray[np.int64], moments: Moments, ridge: float
) -> Floats:
    """Return the slopes by a decomposition of the rows, however small the penalty is."""
    offsets = row_offsets(design.entries, design.kept(places), rows.numbers, moments.means)
    if rows.weights is not None:
        offsets *= np.sqrt(rows.weights)
    # The penalty as further rows. Dependent columns share their coefficients by the least norm, even without
    # one, so nothing has to be dropped.
    both = np.vstack([offsets.T, np.sqrt(ridge) * np.eye(len(places), len(offsets))])
    return np.asarray(np.linalg.lstsq(both[:, : len(places)], both[:, len(places) :], rcond=1e-10)[0])


def _without_rounding(coef: Floats, varies: NDArray[np.bool_]) -> Floats:
    """Return the coefficients without those that are zero but for rounding; terms have a scale of 1."""
    sizes = np.abs(coef)
    least = 1e-10 * sizes.max(initial=0.0)
    if sizes.min(initial=np.inf) > least and varies.all():
        return coef
    return np.where((sizes > least) & varies, coef, 0.0)


def _divided(design: Design, node: Node, unit: float | None) -> Division:
    """Divide the rows of a node by its scores."""
    rows = node.rows
    scores = node.scores(design.entries, rows.numbers)
    # The scores are linear in the terms, so their products follow from those of the terms.
    direction = leading_vector(node.coef.T @ node.moments.terms @ node.coef)
    projection = scores[0] if len(scores) == 1 else row_sums((scores * direction[:, np.newaxis]).T)
    threshold = halving_threshold(projection, rows.weights)
    if threshold is None:
        return Division(direction, None, ())
    if unit is None:
        return Division(direction, threshold, rows.divided(projection, threshold))
    chances = expit((projection - threshold) / unit)
    return Division(direction, threshold, (_sent(rows, 1 - chances), _sent(rows, chances)))


def _sent(rows: NodeRows, chances: Floats) -> NodeRows:
    """Return the rows that go on, each with the chance that it does."""
    kept = np.flatnonzero(chances > _LEAST_SHARE)
    return rows.take(kept, chances[kept])
