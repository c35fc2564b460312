"""Rows held out of learning, and the threshold that a mean budget sets on them."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils import column_or_1d

from farthing.adaptive.expensive import Rows
from farthing.adaptive.pairs import SLACK
from farthing.adaptive.projection import Floats
from farthing.base import BudgetedEstimator
from farthing.base.inputs import check_weights
from farthing.table import Schema


class WithValidation(BudgetedEstimator):
    """A method whose mean budget sets a threshold on rows that it does not learn from."""

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, validation: Any = None) -> Self:
        """Learn from a table.

        Parameters
        ----------
        X : array or frame, shape (n_rows, n_features)
            NumPy, pandas or polars; missing values and categories are welcome.
        y : array, shape (n_rows,)
            Labels or numbers.
        sample_weight : array, shape (n_rows,), optional
            Weights; a row of weight zero is as if it were not there.
        validation : tuple (X, y) or (X, y, sample_weight), optional
            Rows that set the threshold of a budget, in place of ``validation_fraction``; their labels are
            not looked at.

        Returns
        -------
        self
        """
        return self._learn(X, y, sample_weight, validation=validation)


def check_share(name: str, share: float) -> None:
    """Raise ValueError unless a parameter lies between 0 and 1, both left out."""
    if not 0 < share < 1:
        raise ValueError(f"{name} must lie between 0 and 1; got {share!r}")


def apart(rows: Rows, fraction: float, chance: np.random.RandomState) -> tuple[Rows, Rows]:
    """Part the rows into those to learn from and those held out."""
    n_rows = len(rows.target)
    n_held = round(fraction * n_rows)
    if not 0 < n_held < n_rows:
        raise ValueError(
            f"validation_fraction={fraction} leaves nothing on one side of {n_rows} rows; give more, or "
            "validation rows of their own"
        )
    held = np.zeros(n_rows, dtype=np.bool_)
    held[chance.permutation(n_rows)[:n_held]] = True
    return rows.take(~held), rows.take(held)


def given_rows(validation: Any, schema: Schema, estimator: str) -> Rows:
    """Return validation rows that were given as (X, y) or (X, y, sample_weight); y is not looked at."""
    if not isinstance(validation, tuple) or len(validation) not in (2, 3):
        raise ValueError(
            f"validation must be (X, y) or (X, y, sample_weight); got {type(validation).__name__}"
        )
    X, y, *more = validation
    encoded = schema.encode(X, estimator)
    encoded.check()
    labels = column_or_1d(y)
    if len(labels) != len(encoded.values):
        raise ValueError(f"validation has {len(encoded.values)} rows, but {len(labels)} labels")
    weights = check_weights(more[0] if more else None, len(encoded.values))
    return Rows(encoded.values, np.zeros(len(labels), dtype=np.int64), weights)


def lowest_threshold(scores: Floats, prices: Floats, limit: float) -> float:
    """Return the lowest threshold such that all that scores above it costs at most the limit.

    Parameters
    ----------
    scores : ndarray of float64, shape (n,)
        Of gates; equal scores open together.
    prices : ndarray of float64, shape (n,)
        What each adds to the mean spend if it opens.
    limit : float
        The most that they may add.

    Returns
    -------
    float
        Minus infinity if all may open.

    Examples
    --------
    >>> lowest_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 2.5)
    1.0
    >>> lowest_threshold(np.array([3.0, 1.0]), np.ones(2), 2.0)
    -inf
    """
    levels, place = np.unique(-scores, return_inverse=True)  # from the top score down
    fits = np.cumsum(np.bincount(place, weights=prices, minlength=len(levels))) <= limit
    return -np.inf if fits.all() else float(-levels[int(np.argmin(fits))])


def share_threshold(scores: Floats, weights: Floats, share: float) -> float:
    """Return the lowest threshold that at most a share of the rows scores above.

    Parameters
    ----------
    scores : ndarray of float64, shape (n_rows,)
        Of a gate; equal scores open together.
    weights : ndarray of float64, shape (n_rows,)
        How much each row counts.
    share : float
        0 to 1. At 0 no row opens, not even one that scores above all of these.

    Returns
    -------
    float

    Examples
    --------
    >>> share_threshold(np.array([3.0, 1.0, 2.0, 1.0]), np.ones(4), 0.6)
    1.0
    >>> share_threshold(np.array([3.0, 1.0]), np.ones(2), 0.0)
    inf
    """
    if share <= 0:
        return np.inf
    return lowest_threshold(scores, weights / weights.sum(), share * (1 + SLACK))
