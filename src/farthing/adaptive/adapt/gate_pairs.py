"""A gate and a cheap model, learned and ready: what is bought first of every row."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.adapt.projection import Floats
from farthing.costs import CostSheet, RowLedger
from farthing.store import register_codec
from farthing.trees import Forest, Predictor, Progress
from farthing.trees.progress import unpack
from farthing.walks import ForestPolicy, Policy

# A budget may be passed by this part of itself, the rounding of a long sum.
SLACK: Final = 1e-12


class Pair(Protocol):
    """The gate and f1. Their scores are one array: the gate's log-odds of going on, then those of f1."""

    @property
    def n_outputs(self) -> int:
        """Number of scores, the gate's among them."""
        ...

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        ...

    def answers(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        ...

    def within(
        self, values: NDArray[np.floating], sheet: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused if each row has a budget."""
        ...

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        ...


@dataclass(frozen=True, eq=False)
class TreePair:
    """Boosted trees.

    Parameters
    ----------
    forest : Forest
        Output 0 is the gate's, the others are those of f1.
    """

    forest: Forest

    def __post_init__(self) -> None:
        if self.forest.width != 1 or self.forest.n_outputs < 2:
            raise ValueError("the trees of a pair add to one output each, the gate's or one of f1's")

    @property
    def n_outputs(self) -> int:
        """Number of scores, the gate's among them."""
        return self.forest.n_outputs

    @property
    def n_features(self) -> int:
        """Columns of the table."""
        return self.forest.n_features

    @cached_property
    def _ready(self) -> Predictor:
        return Predictor(self.forest)

    def answers(self, values: NDArray[np.floating], n_threads: int = 1) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        return self._ready.predict(values, n_threads=n_threads)

    def within(
        self, values: NDArray[np.floating], sheet: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused if each row has a budget."""
        progress = Progress(values, self.n_outputs, sheet, budget=budget, n_threads=n_threads)
        self._ready.advance(progress, 0, self.forest.n_trees)
        return progress.outputs, progress.acquired, unpack(progress.refused, self.n_features)

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        return ForestPolicy(self.forest, self.forest.value)


@dataclass(frozen=True, eq=False)
class LinearPair:
    """Linear scores of standardised terms. A term is a number, or tells whether a category is there.

    A value that is missing, or not finite, adds nothing, as the mean would.

    Parameters
    ----------
    columns : ndarray of int64, shape (n_terms,)
        The column that each term reads.
    category : ndarray of float64, shape (n_terms,)
        The category that it looks for, NaN for a number.
    mean, scale : ndarray of float64, shape (n_terms,)
        What is taken off, and divided by.
    coef : ndarray of float64, shape (n_terms, n_outputs)
        The gate's coefficients in column 0, then those of f1.
    intercept : ndarray of float64, shape (n_outputs,)
        The scores of a row of means.
    n_features : int
        Columns of the table.

    Examples
    --------
    >>> pair = LinearPair(
    ...     columns=np.array([1]), category=np.array([np.nan]), mean=np.array([5.0]), scale=np.array([2.0]),
    ...     coef=np.array([[1.0, -1.0]]), intercept=np.array([0.0, 0.5]), n_features=2)
    >>> scores, acquired = pair.answers(np.array([[0.0, 9.0], [0.0, np.nan]]))
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
        if self.columns.dtype != np.int64 or self.columns.ndim != 1 or n_outputs < 2:
            raise ValueError("columns must be int64, and there must be two outputs or more")
        if n_terms and not (self.columns.min() >= 0 and self.columns.max() < self.n_features):
            raise ValueError(f"columns must lie between 0 and {self.n_features - 1}")
        if not (self.scale > 0).all():
            raise ValueError("scale must be above 0")

    @property
    def n_outputs(self) -> int:
        """Number of scores, the gate's among them."""
        return len(self.intercept)

    @cached_property
    def used(self) -> NDArray[np.int64]:
        """The columns that have a coefficient other than zero, ascending."""
        return np.unique(self.columns[(self.coef != 0).any(axis=1)])

    def term(self, number: int, entries: NDArray[np.floating]) -> Floats:
        """Return a term of the entries of its column."""
        wide = entries.astype(np.float64)
        category = self.category[number]
        found = wide if np.isnan(category) else (wide == category).astype(np.float64)
        with np.errstate(invalid="ignore", over="ignore"):
            return np.where(np.isfinite(wide), (found - self.mean[number]) / self.scale[number], 0.0)

    def matrix(self, values: NDArray[np.floating]) -> Floats:
        """Return all terms of a table, shape (n_rows, n_terms)."""
        return np.column_stack(
            [self.term(number, values[:, column]) for number, column in enumerate(self.columns)]
        )

    def answers(
        self,
        values: NDArray[np.floating],
        n_threads: int = 1,  # noqa: ARG002 - sums are short
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return scores (n_rows, n_outputs) and acquired (n_rows, n_features) of an encoded table."""
        scores = np.tile(self.intercept, (len(values), 1))
        # Term by term: a product of matrices may add in an order that depends on the number of rows.
        for number in np.flatnonzero((self.coef != 0).any(axis=1)).tolist():
            scores += self.term(number, values[:, self.columns[number]])[:, np.newaxis] * self.coef[number]
        acquired = np.zeros(values.shape, dtype=np.bool_)
        acquired[:, self.used] = True
        return scores, acquired

    def within(
        self, values: NDArray[np.floating], sheet: CostSheet, budget: Floats, n_threads: int = 1
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Return scores, acquired and refused if each row has a budget."""
        acquired = np.zeros(values.shape, dtype=np.bool_)
        for column in self.used:
            acquired[:, column] = True
            acquired[:, column] = fits(sheet, acquired, budget)
        refused = ~acquired
        refused[:, np.setdiff1d(np.arange(self.n_features), self.used)] = False
        scores, _ = self.answers(np.where(acquired, values, np.nan), n_threads)
        return scores, acquired, refused

    def policy(self) -> Policy:
        """Return a fresh policy for one row; its output is the scores."""
        return _LinearPolicy(self)


def fits(sheet: CostSheet, acquired: NDArray[np.bool_], budget: Floats) -> NDArray[np.bool_]:
    """Tell for which rows what they would own is within their budget, as `RowLedger` has it."""
    return np.asarray(sheet.total_rows(acquired) <= budget * (1 + SLACK))


class _LinearPolicy:
    """Want every column in use, in order."""

    def __init__(self, pair: LinearPair) -> None:
        self._pair = pair
        self._left = pair.used.tolist()
        self._heard = np.full(pair.n_features, np.nan)

    def wants(self, ledger: RowLedger) -> int | None:  # noqa: ARG002 - all are needed, whatever they cost
        return self._left[0] if self._left else None

    def hear(self, column: int, value: float) -> None:
        self._left.pop(0)
        self._heard[column] = value

    def output(self) -> Floats:
        return np.asarray(self._pair.answers(self._heard[np.newaxis])[0][0])


def _encode_linear(pair: LinearPair) -> dict[str, object]:
    names = ("columns", "category", "mean", "scale", "coef", "intercept", "n_features")
    return {name: getattr(pair, name) for name in names}


def _decode_linear(fields: dict[str, Any]) -> LinearPair:
    if not isinstance(fields.get("n_features"), int):
        raise TypeError("n_features must be an integer")
    for name, field in fields.items():
        if name != "n_features" and not isinstance(field, np.ndarray):
            raise TypeError(f"{name} must be an array")
    return LinearPair(**fields)


def _decode_trees(fields: dict[str, Any]) -> TreePair:
    if not isinstance(fields.get("forest"), Forest):
        raise TypeError("a pair of trees holds a forest")
    return TreePair(**fields)


register_codec("LinearPair", LinearPair, _encode_linear, _decode_linear)
register_codec("TreePair", TreePair, lambda pair: {"forest": pair.forest}, _decode_trees)
