"""Linear models as immutable values: scores that are sums over standardised terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet, RowLedger
from farthing.learning.affordable import affordable
from farthing.learning.terms import Scorer
from farthing.store import register_codec
from farthing.typing import Floats
from farthing.walks import Policy
from farthing.walks.plans import LinearSum


@dataclass(frozen=True, eq=False)
class LinearScores:
    """One or more linear scores of the same standardised terms.

    A term is a numeric column, or the indicator of one category of a categorical column. A value that is
    missing or not finite contributes 0, as the mean would.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_terms,)
        The column that each term reads.
    category : ndarray of float64, shape (n_terms,)
        The code of the category that it indicates; NaN for a numeric column.
    mean, scale : ndarray of float64, shape (n_terms,)
        A term is standardised as (value - mean) / scale.
    coef : ndarray of float64, shape (n_terms, n_outputs)
        The coefficients.
    intercept : ndarray of float64, shape (n_outputs,)
        The scores of a row whose terms are all at their mean.
    n_features : int
        Number of columns of the table.

    Examples
    --------
    >>> model = LinearScores(
    ...     columns=np.array([1]), category=np.array([np.nan]), mean=np.array([5.0]), scale=np.array([2.0]),
    ...     coef=np.array([[1.0, -1.0]]), intercept=np.array([0.0, 0.5]), n_features=2)
    >>> scores, acquired = model.outputs(np.array([[0.0, 9.0], [0.0, np.nan]]))
    >>> scores
    array([[ 2. , -1.5],
           [ 0. ,  0.5]])
    >>> acquired[0]
    array([False,  True])
    """

    columns: NDArray[np.int64]
    category: Floats
    mean: Floats
    scale: Floats
    coef: Floats
    intercept: Floats
    n_features: int

    def __post_init__(self) -> None:
        n_terms, n_outputs = len(self.columns), len(self.intercept)
        shapes = {"category": (n_terms,), "mean": (n_terms,), "scale": (n_terms,)}
        for name, shape in (shapes | {"coef": (n_terms, n_outputs), "intercept": (n_outputs,)}).items():
            array = getattr(self, name)
            if array.dtype != np.float64 or array.shape != shape:
                raise ValueError(f"{name} must be floats of shape {shape}; got {array.dtype} {array.shape}")
            if name != "category" and not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite")
        if self.columns.dtype != np.int64 or self.columns.ndim != 1 or n_outputs < 1:
            raise ValueError("columns must be int64, and there must be at least one output")
        if n_terms and not (self.columns.min() >= 0 and self.columns.max() < self.n_features):
            raise ValueError(f"columns must lie between 0 and {self.n_features - 1}")
        if not (self.scale > 0).all():
            raise ValueError("scale must be above 0")

    @property
    def n_outputs(self) -> int:
        """Number of scores."""
        return len(self.intercept)

    @property
    def n_terms(self) -> int:
        """Number of terms."""
        return len(self.columns)

    @cached_property
    def reads(self) -> NDArray[np.bool_]:
        """Which column each term reads, shape (n_terms, n_features)."""
        return np.asarray(self.columns[:, np.newaxis] == np.arange(self.n_features))

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """The columns with a nonzero coefficient, ascending: those that a prediction acquires."""
        return np.unique(self.columns[(self.coef != 0).any(axis=1)])

    def term(self, number: int, entries: NDArray[np.floating]) -> Floats:
        """Return one term, standardised, of the entries of its column."""
        wide = np.asarray(entries, dtype=np.float64)
        finite = np.isfinite(wide)
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (self.unscaled(number, wide) - self.mean[number]) / self.scale[number]
        return scaled if finite.all() else np.where(finite, scaled, 0.0)

    def unscaled(self, number: int, entries: NDArray[np.floating]) -> Floats:
        """Return one term, as it is before its mean is subtracted, of the entries of its column."""
        wide, category = np.asarray(entries, dtype=np.float64), self.category[number]
        return wide if np.isnan(category) else (wide == category).astype(np.float64)

    def terms(self, values: NDArray[np.floating]) -> Floats:
        """Return all terms of an encoded table, shape (n_rows, n_terms)."""
        if not len(self.columns):
            return np.zeros((len(values), 0))
        return np.column_stack(
            [self.term(number, values[:, column]) for number, column in enumerate(self.columns)]
        )

    def scorer(self, coef: Floats, intercept: Floats) -> Scorer:
        """Return the scores of the same terms with other coefficients; see `Terms`."""
        return _LinearScorer(replace(self, coef=coef, intercept=intercept))

    def sum_plan(self, coef: Floats, intercept: Floats) -> LinearSum:
        """Return the scores with other coefficients as tables; see `Terms`."""
        active = (coef != 0).any(axis=1)
        return LinearSum(
            self.columns[active],
            self.category[active],
            self.mean[active],
            self.scale[active],
            coef[active],
            intercept,
        )

    def outputs(
        self,
        values: NDArray[np.floating],
        n_threads: int = 1,  # sums are short
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        scores = np.tile(self.intercept, (len(values), 1))
        # Term by term: a matrix product may sum in an order that depends on the number of rows, and a row
        # must have the same bits alone and in a batch. Terms without a coefficient are skipped, so columns
        # that are not acquired are not read (blindness).
        for number in np.flatnonzero((self.coef != 0).any(axis=1)).tolist():
            scores += self.term(number, values[:, self.columns[number]])[:, np.newaxis] * self.coef[number]
        acquired = np.zeros(values.shape, dtype=np.bool_)
        acquired[:, self.used] = True
        return scores, acquired

    def outputs_within(
        self, values: NDArray[np.floating], costs: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused under a budget per row; columns are bought in order."""
        # As in a walk: a column that a row cannot afford is refused, and later ones are still tried.
        acquired = np.zeros(values.shape, dtype=np.bool_)
        for column in self.used:
            acquired[:, column] = True
            acquired[:, column] = affordable(costs, acquired, budget)
        refused = ~acquired
        refused[:, np.setdiff1d(np.arange(self.n_features), self.used)] = False
        scores, _ = self.outputs(np.where(acquired, values, np.nan), n_threads)
        return scores, acquired, refused

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        return _LinearPolicy(self)


class _LinearScorer:
    """The scores alone; what is refused counts like what is missing, as the mean."""

    def __init__(self, model: LinearScores) -> None:
        self._model = model

    def __call__(self, values: NDArray[np.floating], refused: frozenset[int] = frozenset()) -> Floats:
        return self._model.outputs(values)[0]


class _LinearPolicy:
    """Ask for every column in use, in order."""

    def __init__(self, model: LinearScores) -> None:
        self._model = model
        self._left = model.used.tolist()
        self._values = np.full(model.n_features, np.nan)

    def wants(self, ledger: RowLedger) -> int | None:  # all are needed, whatever they cost
        return self._left[0] if self._left else None

    def hear(self, column: int, value: float) -> None:
        self._left.pop(0)
        self._values[column] = value

    def output(self) -> Floats:
        # Through the array call, so that the walk has its bits (one truth).
        return np.asarray(self._model.outputs(self._values[np.newaxis])[0][0])


def _encode(model: LinearScores) -> dict[str, object]:
    names = ("columns", "category", "mean", "scale", "coef", "intercept", "n_features")
    return {name: getattr(model, name) for name in names}


def _decode(fields: dict[str, Any]) -> LinearScores:
    if not isinstance(fields.get("n_features"), int):
        raise TypeError("n_features must be an integer")
    for name, field in fields.items():
        if name != "n_features" and not isinstance(field, np.ndarray):
            raise TypeError(f"{name} must be an array")
    return LinearScores(**fields)


register_codec("LinearScores", LinearScores, _encode, _decode)
