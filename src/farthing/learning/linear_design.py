"""The standardised design matrix of a table, for linear models on numbers and categories."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

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
        raw = _unscaled(schema, n_outputs)
        mean, scale = np.zeros(len(raw.columns)), np.ones(len(raw.columns))
        for number, column in enumerate(raw.columns):
            seen = np.isfinite(values[:, column])
            if seen.any():
                term, weights = raw.term(number, values[seen, column]), shares[seen]
                mean[number] = np.average(term, weights=weights)
                spread = float(np.sqrt(np.average((term - mean[number]) ** 2, weights=weights)))
                # The spread of a constant column is rounding error; dividing by it would amplify noise.
                scale[number] = spread if spread > 1e-12 * max(1.0, abs(mean[number])) else 1.0
        zeros = replace(raw, mean=mean, scale=scale)
        terms = zeros.terms(values)
        # The scores are linear in terms and intercept together, so both enter the Lipschitz constant.
        with_intercept = np.column_stack([np.ones(len(values)), terms])
        moments = (with_intercept * shares[:, np.newaxis]).T @ with_intercept
        return cls(zeros, terms, float(np.linalg.eigvalsh(moments)[-1]))

    @cached_property
    def by_term(self) -> Floats:
        """The terms, each one contiguous, shape (n_terms, n_rows)."""
        return np.ascontiguousarray(self.terms.T)

    def scores(self, model: LinearScores) -> Floats:
        """Return the scores of the training rows, shape (n_outputs, n_rows)."""
        return np.asarray((self.terms @ model.coef + model.intercept).T)


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
