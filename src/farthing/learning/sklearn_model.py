"""A scikit-learn model as a part of another: which columns it reads, and its scores of encoded rows."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.base import is_regressor
from sklearn.ensemble import (
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.linear_model import LogisticRegression
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import MinMaxScaler, StandardScaler
from sklearn.svm import SVC
from sklearn.tree import (
    DecisionTreeClassifier,
    DecisionTreeRegressor,
    ExtraTreeClassifier,
    ExtraTreeRegressor,
)
from sklearn.utils import get_tags

from farthing.base import normalise
from farthing.costs import CostSheet, RowLedger
from farthing.learning.affordable import affordable
from farthing.learning.blas_threads import one_blas_thread
from farthing.typing import Floats

# These treat each row on its own, so a row has the same bits alone and in a table. Others may multiply
# matrices, where the last bits depend on the number of rows; they are given one row at a time.
_ROW_BY_ROW: Final = (
    DecisionTreeClassifier,
    ExtraTreeClassifier,
    RandomForestClassifier,
    ExtraTreesClassifier,
    GradientBoostingClassifier,
    HistGradientBoostingClassifier,
    DecisionTreeRegressor,
    ExtraTreeRegressor,
    RandomForestRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    SVC,
    StandardScaler,
    MinMaxScaler,
)
# GaussianNB adds up the classes of a row, in an order that depends on the number of rows from this many on:
# NumPy adds fewer than 8 numbers one after the other, however they lie in memory.
_GAUSSIAN_CLASSES: Final = 8


@dataclass(frozen=True, eq=False)
class SklearnModel:
    """A fitted classifier, or regressor, with scikit-learn's interface.

    It needs all of its columns at once: a row that cannot afford them all gets no answer from it.

    Parameters
    ----------
    model : classifier or regressor
        A classifier has ``predict_proba`` or ``decision_function``.
    columns : ndarray of int64, shape (n_columns,)
        The columns of the table that it reads, in its own order.
    fill : ndarray of float64, shape (n_columns,)
        What replaces a missing value; NaN if the model handles missing values itself.
    platt : ndarray of float64, shape (2, n_scores), or None
        Slopes and offsets that turn decisions into log-odds, if the model gives no probabilities.

    Examples
    --------
    >>> X, y = np.array([[0.0, 5.0], [1.0, 5.0], [0.0, 6.0], [1.0, 6.0]]), np.array([0, 1, 0, 1])
    >>> tree = DecisionTreeClassifier(random_state=0).fit(X[:, [0]], y)
    >>> model = SklearnModel.wrap(tree, columns=np.array([0]), values=X)
    >>> model.probabilities(X[:2])
    array([[1., 0.],
           [0., 1.]])
    """

    model: Any
    columns: NDArray[np.int64]
    fill: Floats
    platt: Floats | None = None

    @classmethod
    def wrap(cls, model: Any, columns: NDArray[np.int64], values: NDArray[np.floating]) -> SklearnModel:
        """Wrap a model; missing values become the median of ``values``, unless the model takes NaN."""
        fill = np.full(len(columns), np.nan)
        if not get_tags(model).input_tags.allow_nan:
            for place, column in enumerate(columns):
                seen = values[np.isfinite(values[:, column]), column]
                fill[place] = np.median(seen) if len(seen) else 0.0
        if getattr(model, "n_jobs", None) not in (None, 1):
            # Threads add up the trees of a forest in any order, so the last bits would be random.
            model = copy.copy(model)
            model.n_jobs = None
        return cls(model, columns, fill)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels that the model knows."""
        return np.asarray(self.model.classes_)

    def calibrated(self, scores: Floats, codes: NDArray[np.int64], weights: Floats) -> SklearnModel:
        """Return the model with Platt scaling, if it gives no probabilities itself.

        Parameters
        ----------
        scores : ndarray of float64, shape (n_rows, n_scores)
            Decisions about rows that the model was not fitted on.
        codes : ndarray of int64, shape (n_rows,)
            Their classes, as places in ``classes``.
        weights : ndarray of float64, shape (n_rows,)
            Weight of each row.
        """
        if hasattr(self.model, "predict_proba"):
            return self
        hits = [codes == c for c in range(len(self.classes))] if scores.shape[1] > 1 else [codes == 1]
        fits = [_platt(scores[:, k], hit, weights) for k, hit in enumerate(hits)]
        return replace(self, platt=np.array(fits).T)

    def inputs(self, values: NDArray[np.floating]) -> Floats:
        """Return the model's columns of an encoded table, (n_rows, n_columns), missing values filled in."""
        X = np.ascontiguousarray(values[:, self.columns], dtype=np.float64)
        return np.where(np.isfinite(X) | np.isnan(self.fill), X, self.fill)

    def scores(self, values: NDArray[np.floating]) -> Floats:
        """Return probabilities, or decisions if there are none, of an encoded table, (n_rows, n_scores).

        Those of a regressor are its predictions. A row has the same bits alone and among others.
        """
        X = self.inputs(values)
        if not len(X):
            return np.zeros((0, 1 if is_regressor(self.model) else len(self.classes)))
        if treats_rows_alone(self.model):
            return self._predict(X)
        return np.concatenate([self._predict(row) for row in _rows(X)])

    def scores_at_once(self, values: NDArray[np.floating]) -> Floats:
        """Return the scores of rows that nobody asks for again, such as those to learn from, in one call."""
        with one_blas_thread():
            return self._predict(self.inputs(values))

    def _predict(self, X: Floats) -> Floats:
        if is_regressor(self.model):
            predict = self.model.predict
        else:
            predict = getattr(self.model, "predict_proba", None) or self.model.decision_function
        return np.asarray(predict(self._named(X)), dtype=np.float64).reshape(len(X), -1)

    def probabilities(self, values: NDArray[np.floating]) -> Floats:
        """Return probabilities of the model's classes for an encoded table, (n_rows, n_classes)."""
        return self.to_probabilities(self.scores(values))

    def to_probabilities(self, scores: Floats) -> Floats:
        """Turn the result of `scores` into probabilities."""
        if self.platt is None or not len(scores):
            return scores
        p = expit(np.ascontiguousarray(scores * self.platt[0] + self.platt[1]))
        return normalise(p) if p.shape[1] > 1 else np.column_stack([1 - p, p])

    # As a model that a row buys whole: what Adapt models need of any expensive model.

    def outputs(
        self,
        values: NDArray[np.floating],
        seeds: NDArray[np.int64] | None = None,  # scikit-learn predicts without seeds
    ) -> tuple[Floats, NDArray[np.bool_]]:
        """Return probabilities of the model's classes, and what each row acquires: all of its columns."""
        return self.probabilities(values), self.acquires(values)

    def acquires(self, values: NDArray[np.floating]) -> NDArray[np.bool_]:
        """Return what each row acquires, without a prediction: all columns of the model."""
        acquired = np.zeros(values.shape, dtype=np.bool_)
        acquired[:, self.columns] = True
        return acquired

    def outputs_within(
        self,
        values: NDArray[np.floating],
        costs: CostSheet,
        budget: Floats,
        acquired: NDArray[np.bool_],
        refused: NDArray[np.bool_],  # what was refused once cannot be afforded now
    ) -> tuple[Floats, NDArray[np.bool_], NDArray[np.bool_]]:
        """Answer the rows that can pay for all columns at once; see `Answering.outputs_within`."""
        whole = acquired.copy()
        whole[:, self.columns] = True
        # The price is that of the union with what the row owns: columns bought before are not paid again.
        answered = affordable(costs, whole, budget)
        probabilities = np.zeros((len(values), len(self.classes)))
        probabilities[answered] = self.probabilities(values[answered])
        return probabilities, np.where(answered[:, np.newaxis], whole, acquired), answered

    @property
    def calls(self) -> dict[str, float]:
        """Nothing is paid for within the model."""
        return {}

    def policy(self, n_features: int, seed: int | None, first_call: int) -> SklearnPolicy:
        """Return a fresh policy for one row of ``n_features`` columns."""
        return SklearnPolicy(self, n_features)

    def _named(self, X: Floats) -> Any:
        """Return rows as the model was given them, with names if it had any."""
        names = getattr(self.model, "feature_names_in_", None)
        return X if names is None else import_module("pandas").DataFrame(X, columns=names)


class SklearnPolicy:
    """Ask for all columns of the model, if the row can pay for all of them."""

    def __init__(self, wrapped: SklearnModel, n_features: int) -> None:
        self._wrapped = wrapped
        self._left: list[int] | None = None
        self._values = np.full(n_features, np.nan)
        self._skipped = False

    def wants(self, ledger: RowLedger) -> int | None:
        """Return the column needed next; None at the end, or if the row cannot pay for what is missing."""
        if self._left is None:
            columns = self._wrapped.columns.tolist()
            # All or none: paying for some of the columns would buy nothing.
            self._left = sorted(columns) if ledger.affords_all(columns) else []
            self._skipped = not self._left and bool(columns)
        return self._left[0] if self._left else None

    def can_pay(self, ledger: RowLedger, call: int) -> bool:
        """Return whether a row can pay for a call and all columns."""
        return ledger.affords_all([*self._wrapped.columns.tolist(), call])

    def hear(self, column: int, value: float) -> None:
        """Take the value of the column just wanted."""
        assert self._left is not None
        self._left.pop(0)
        self._values[column] = value

    def output(self) -> Floats | None:
        """Return the probabilities of the model's classes; None if it was not asked, or not yet."""
        if self._left is None or self._left or self._skipped:
            return None
        return np.asarray(self._wrapped.probabilities(self._values[np.newaxis])[0])


def treats_rows_alone(model: Any) -> bool:
    """Return whether a model is known to give a row the same bits alone and among others.

    Examples
    --------
    >>> treats_rows_alone(RandomForestClassifier()), treats_rows_alone(LogisticRegression())
    (True, False)
    """
    if isinstance(model, Pipeline):
        return all(treats_rows_alone(part) for _, part in model.steps)
    if type(model) is GaussianNB:
        return len(model.classes_) < _GAUSSIAN_CLASSES
    return type(model) in _ROW_BY_ROW


def _rows(X: Floats) -> Iterator[Floats]:
    return (X[row : row + 1] for row in range(len(X)))


def _platt(scores: Floats, hit: NDArray[np.bool_], weights: Floats) -> tuple[float, float]:
    """Fit log-odds to a decision; targets are moved slightly away from 0 and 1, as in Platt (1999)."""
    n_positive, n_negative = weights[hit].sum(), weights[~hit].sum()
    goal = np.where(hit, (n_positive + 1) / (n_positive + 2), 1 / (n_negative + 2))
    # A soft target is two rows of hard targets, weighted by it and by its complement.
    both = np.concatenate([scores, scores])[:, np.newaxis]
    spread = float(np.abs(scores).max()) or 1.0
    fit = LogisticRegression(C=1e9, tol=1e-8, max_iter=1000).fit(
        both / spread,
        np.repeat([1, 0], len(scores)),
        sample_weight=np.concatenate([weights * goal, weights * (1 - goal)]),
    )
    return float(fit.coef_[0, 0]) / spread, float(fit.intercept_[0])
