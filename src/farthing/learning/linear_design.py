"""The standardised design matrix of a table, for linear models on numbers and categories."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.learning.linear_scores import LinearScores
from farthing.table import Schema
from farthing.typing import Floats

# Rows that are transposed at a time.
_BLOCK: Final = 512
# Values whose squares add up without overflow.
_LARGEST_SQUARED: Final = 1e150


@dataclass(frozen=True, eq=False)
class LinearDesign:
    """The standardised terms of training rows, and the linear model of zeros over them.

    Attributes
    ----------
    zeros : LinearScores
        The terms, with coefficients and intercepts of zero: the start of fits, and the shape of their result.
    terms : ndarray of float64, shape (n_rows, n_terms)
        With mean 0 and variance 1 over the rows that have a value; 0 where it is missing.
    curvature : float
        The largest eigenvalue of the weighted second-moment matrix of the terms and the intercept. It bounds
        the step size of gradient descent.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0]])
    >>> design = LinearDesign.of(X, Schema.learn(X), shares=np.array([0.5, 0.5]), n_outputs=1)
    >>> design.terms
    array([[-1.],
           [ 1.]])
    """

    zeros: LinearScores
    terms: Floats
    curvature: float

    @classmethod
    def of(cls, values: NDArray[np.floating], schema: Schema, shares: Floats, n_outputs: int) -> LinearDesign:
        """Standardise an encoded table.

        Parameters
        ----------
        values : ndarray, shape (n_rows, n_features)
            The encoded table.
        schema : Schema
            Its columns; each category becomes an indicator.
        shares : ndarray of float64, shape (n_rows,)
            Weights of the rows, which sum to 1.
        n_outputs : int
            Number of linear scores over the terms.
        """
        zeros, entries = standardised(values, schema, shares, n_outputs)
        terms = np.ascontiguousarray(entries[: zeros.n_terms].T)
        # The scores are linear in terms and intercept together, so both enter the Lipschitz constant.
        with_intercept = np.column_stack([np.ones(len(values)), terms])
        moments = (with_intercept * shares[:, np.newaxis]).T @ with_intercept
        return cls(zeros, terms, float(np.linalg.eigvalsh(moments)[-1]))

    def scores(self, model: LinearScores) -> Floats:
        """Return the scores of the training rows, shape (n_outputs, n_rows)."""
        return np.asarray((self.terms @ model.coef + model.intercept).T)


def standardised(
    values: NDArray[np.floating], schema: Schema, shares: Floats, n_outputs: int
) -> tuple[LinearScores, Floats]:
    """Standardise an encoded table, without the curvature of a design.

    Parameters
    ----------
    values, schema, shares, n_outputs
        As in `LinearDesign.of`.

    Returns
    -------
    zeros : LinearScores
        The terms, with coefficients of zero.
    entries : ndarray of float64, shape (n_terms + n_outputs, n_rows)
        The terms of the rows, each one contiguous; then room for as many targets as there are outputs.

    Examples
    --------
    >>> X = np.array([[1.0], [3.0], [np.nan]])
    >>> zeros, entries = standardised(X, Schema.learn(X), np.full(3, 1 / 3), n_outputs=1)
    >>> zeros.mean, zeros.scale, entries[0]
    (array([2.]), array([1.]), array([-1.,  1.,  0.]))
    """
    raw = _unscaled(schema, n_outputs)
    mean, scale = np.zeros(raw.n_terms), np.ones(raw.n_terms)
    entries = np.empty((raw.n_terms + n_outputs, len(values)))
    by_column = entries
    if np.isnan(raw.category).all():
        # Each column becomes one term, in its place. Copied by blocks of rows that stay in the cache.
        for begin in range(0, len(values), _BLOCK):
            entries[: raw.n_terms, begin : begin + _BLOCK] = values[begin : begin + _BLOCK].T
    else:
        by_column = np.asarray(values.T, dtype=np.float64, order="C")
    total = shares.sum()
    for number, column in enumerate(raw.columns.tolist()):
        term, seen = raw.unscaled(number, by_column[column]), np.isfinite(by_column[column])
        if seen.all():
            mean[number], scale[number] = _standardise(term, shares, total, entries[number])
        else:
            found, known = term[seen], shares[seen]
            if len(found):
                mean[number], scale[number] = _standardise(found, known, known.sum(), found)
            entries[number] = 0.0
            entries[number, seen] = found
    return replace(raw, mean=mean, scale=scale), entries


def _standardise(term: Floats, weights: Floats, total: float, out: Floats) -> tuple[float, float]:
    """Standardise the values of a term, and return their mean and scale."""
    largest = float(np.abs(term).max(initial=0.0))
    if largest > _LARGEST_SQUARED:
        # Squares would overflow. Divided by a power of two first, which changes no bit of the result.
        power = math.frexp(largest)[1]
        mean, scale = _standardise(np.ldexp(term, -power), weights, total, out)
        return math.ldexp(mean, power), math.ldexp(scale, power)
    mean = float((term * weights).sum() / total)
    apart = term - mean
    spread = float(np.sqrt((apart**2 * weights).sum() / total))
    # The spread of a constant column is rounding error; dividing by it would amplify noise.
    scale = spread if spread > 1e-12 * max(1.0, abs(mean)) else 1.0
    np.divide(apart, scale, out=out)
    return mean, scale


def _unscaled(schema: Schema, n_outputs: int) -> LinearScores:
    """Return the terms of a table's columns, before they are standardised."""
    columns: list[int] = []
    category: list[float] = []
    for number, column in enumerate(schema.columns):
        codes = [float(code) for code in range(len(column.categories))]
        category += codes if column.is_categorical else [np.nan]
        columns += [number] * (len(codes) if column.is_categorical else 1)
    n_terms = len(columns)
    return LinearScores(
        columns=np.array(columns, dtype=np.int64),
        category=np.array(category, dtype=np.float64),
        mean=np.zeros(n_terms),
        scale=np.ones(n_terms),
        coef=np.zeros((n_terms, n_outputs)),
        intercept=np.zeros(n_outputs),
        n_features=len(schema.columns),
    )
