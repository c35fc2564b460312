"""One node of ASTC: least squares on its columns, and the threshold that halves its rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve
from scipy.special import expit

from farthing.base.links import row_sums
from farthing.cascades.score_tree.routing import halving_threshold, leading_direction
from farthing.learning.linear_design import LinearDesign
from farthing.typing import Floats

# Soft rows with less than this share of their weight at a node are not counted there.
_LEAST_SHARE: Final = 1e-6
# Normal equations lose twice the digits of the terms' condition; a penalty above this share of their size
# leaves enough.
_STABLE: Final = 1e-9


@dataclass(frozen=True, eq=False)
class NodeRows:
    """The rows of a node.

    Attributes
    ----------
    numbers : ndarray of int64, shape (n_rows,)
        Which rows of the table.
    weights : ndarray of float64, shape (n_rows,)
        Their weights at this node.
    """

    numbers: NDArray[np.int64]
    weights: Floats

    def sent(self, chances: Floats) -> NodeRows:
        """Return the rows that go on, each with the chance that it does."""
        kept = chances > _LEAST_SHARE
        return NodeRows(self.numbers[kept], (self.weights * chances)[kept])


@dataclass(frozen=True, eq=False)
class FittedNode:
    """The scores of a node, and how it divides its rows.

    Attributes
    ----------
    coef : ndarray of float64, shape (n_terms, n_outputs)
    intercept : ndarray of float64, shape (n_outputs,)
    scores : ndarray of float64, shape (n_outputs, n_rows)
        Those of the node's rows.
    direction : ndarray of float64, shape (n_outputs,)
        What the scores are projected on to route a row.
    projection : ndarray of float64, shape (n_rows,)
        The projected scores of the node's rows.
    threshold : float or None
        Where they are divided; None if they are all the same.
    """

    coef: Floats
    intercept: Floats
    scores: Floats
    direction: Floats
    projection: Floats
    threshold: float | None

    def chances(self, unit: float | None) -> tuple[Floats, Floats]:
        """Return the chances of the rows to go to the lower and to the upper child.

        Parameters
        ----------
        unit : float or None
            The scale of soft routing; None sends each row to one child.
        """
        beyond = self.projection - (self.threshold or 0.0)
        up = (beyond > 0).astype(np.float64) if unit is None else expit(beyond / unit)
        return 1 - up, up


def fit_node(
    design: LinearDesign, target: Floats, rows: NodeRows, columns: list[int], ridge: float = 0.0
) -> FittedNode:
    """Fit the scores of a node by least squares, and divide its rows in halves of equal weight.

    Parameters
    ----------
    design : LinearDesign
        The standardised terms of all rows.
    target : ndarray of float64, shape (n_all_rows, n_outputs)
        What the scores approximate.
    rows : NodeRows
        The rows of the node.
    columns : list of int
        The columns that the node may use.
    ridge : float
        Weight of the squared coefficients against the sum of squared errors; the intercept is free.

    Examples
    --------
    >>> from farthing.table import Schema
    >>> X = np.array([[0.0], [1.0], [2.0], [3.0]])
    >>> design = LinearDesign.of(X, Schema.learn(X), np.full(4, 0.25), n_outputs=1)
    >>> node = fit_node(design, 2 * X, NodeRows(np.arange(4), np.ones(4)), [0])
    >>> round(node.threshold, 9)
    3.0
    """
    places = np.flatnonzero(np.isin(design.zeros.columns, columns))
    terms, aims = _of_rows(design.by_term, places, rows.numbers), target[rows.numbers]
    slopes, intercept = _least_squares(terms, aims, rows.weights, ridge)
    coef = np.zeros((len(design.zeros.columns), target.shape[1]))
    coef[places] = _without_rounding(slopes)
    scores = np.tile(intercept[:, np.newaxis], (1, len(rows.numbers)))
    # Term by term, as in predictions: equal rows must have equal scores, or a threshold could part them.
    for place, number in enumerate(places.tolist()):
        scores += coef[number][:, np.newaxis] * terms[place]
    direction = leading_direction(scores.T, rows.weights)
    projection = row_sums((scores * direction[:, np.newaxis]).T)
    threshold = halving_threshold(projection, rows.weights)
    return FittedNode(coef, intercept, scores, direction, projection, threshold)


def _of_rows(by_term: Floats, places: NDArray[np.int64], numbers: NDArray[np.int64]) -> Floats:
    """Return some terms of some rows, shape (n_places, n_rows)."""
    if len(numbers) == by_term.shape[1]:
        return by_term[places]
    terms = np.empty((len(places), len(numbers)))
    for row, place in enumerate(places.tolist()):
        by_term[place].take(numbers, out=terms[row], mode="clip")  # the mode that needs no buffer
    return terms


def _least_squares(terms: Floats, target: Floats, weights: Floats, ridge: float) -> tuple[Floats, Floats]:
    """Return the coefficients (n_terms, n_outputs) and the intercepts (n_outputs,) of penalised regressions.

    Parameters
    ----------
    terms : ndarray of float64, shape (n_terms, n_rows)
    target : ndarray of float64, shape (n_rows, n_outputs)
    weights : ndarray of float64, shape (n_rows,)
    ridge : float
        Weight of the squared coefficients.
    """
    shares = weights / weights.sum()
    means, centre = terms @ shares, shares @ target
    # Terms have a scale of 1, so the products about the mean may be differences.
    weighed = terms if (weights == 1).all() else terms * weights
    products = weighed @ terms.T
    if ridge > _STABLE * float(np.trace(products)):
        products -= weights.sum() * np.outer(means, means)
        products[np.diag_indices_from(products)] += ridge
        slopes = solve(products, weighed @ (target - centre), assume_a="pos")
    else:
        offsets = terms - means[:, np.newaxis]
        # The penalty as further rows. Dependent columns share their coefficients by the least norm, even
        # without one, so nothing has to be dropped.
        roots = np.sqrt(weights)
        left = np.vstack([(offsets * roots).T, np.sqrt(ridge) * np.eye(len(terms))])
        right = np.vstack([(target - centre) * roots[:, np.newaxis], np.zeros((len(terms), target.shape[1]))])
        slopes = np.linalg.lstsq(left, right, rcond=1e-10)[0]
    return slopes, centre - means @ slopes


def _without_rounding(coef: Floats) -> Floats:
    """Return the coefficients without those that are zero but for rounding; terms have a scale of 1."""
    largest = np.abs(coef).max(initial=0.0)
    return np.where(np.abs(coef) > 1e-10 * largest, coef, 0.0)
