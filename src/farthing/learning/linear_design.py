"""The standardised design matrix of a table, for linear models on numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farthing._core import standard_terms
from farthing.learning.linear_scores import LinearScores
from farthing.table import Schema
from farthing.typing import Floats


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
    mean, scale, entries = standard_terms(values, raw.columns, raw.category, shares, n_outputs)
    return replace(raw, mean=mean, scale=scale), entries


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
