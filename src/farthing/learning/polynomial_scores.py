"""Linear scores of standardised terms, their squares and their products."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.learning.linear_scores import LinearScores
from farthing.store import register_codec
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class QuadraticScores:
    """Polynomials of degree 2 of the standardised terms of a table.

    Parameters
    ----------
    terms : LinearScores
        The terms; its coefficients are not used.
    scores : LinearScores
        Over the columns of `expand`, as those of a table of numbers.

    Examples
    --------
    >>> names = ("columns", "category", "mean", "scale")
    >>> one = dict(zip(names, (np.array([0]), np.array([np.nan]), np.zeros(1), np.ones(1)), strict=True))
    >>> x = LinearScores(**one, coef=np.zeros((1, 1)), intercept=np.zeros(1), n_features=1)
    >>> both = {name: np.repeat(array, 2) for name, array in one.items()} | {"columns": np.array([0, 1])}
    >>> line = LinearScores(**both, coef=np.array([[0.0], [2.0]]), intercept=np.ones(1), n_features=2)
    >>> QuadraticScores(x, line).outputs(np.array([[3.0]]))[0]
    array([[19.]])
    """

    terms: LinearScores
    scores: LinearScores

    def __post_init__(self) -> None:
        if self.scores.n_features != n_expanded(self.terms):
            raise ValueError("the scores must be of the terms, their squares and their products")

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return self.terms.n_features

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return self.scores.n_outputs

    @property
    def used(self) -> NDArray[np.int64]:
        """The columns that a prediction reads, ascending."""
        return np.unique(self.terms.columns)

    def outputs(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        acquired = np.zeros(values.shape, dtype=np.bool_)
        acquired[:, self.used] = True
        return self.scores.outputs(expand(self.terms, values), n_threads)[0], acquired


def expand(terms: LinearScores, values: NDArray[np.floating]) -> Floats:
    """Return terms, then squares of numbers and products of two terms, shape (n_rows, n_expanded)."""
    plain = terms.terms(values)
    first, second = _pairs(terms)
    return np.asarray(np.column_stack([plain, plain[:, first] * plain[:, second]]))


def n_expanded(terms: LinearScores) -> int:
    """Return the number of columns of `expand`."""
    return len(terms.columns) + len(_pairs(terms)[0])


def _pairs(terms: LinearScores) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the two terms of each product; those of one column of categories have none."""
    first, second = np.triu_indices(len(terms.columns))
    number = np.isnan(terms.category[first])
    other = (terms.columns[first] != terms.columns[second]) | number
    return first[other], second[other]


def _encode(model: QuadraticScores) -> dict[str, object]:
    return {"terms": model.terms, "scores": model.scores}


def _decode(fields: dict[str, Any]) -> QuadraticScores:
    for name in ("terms", "scores"):
        if not isinstance(fields.get(name), LinearScores):
            raise TypeError(f"{name} must be linear scores")
    return QuadraticScores(**fields)


register_codec("QuadraticScores", QuadraticScores, _encode, _decode)
