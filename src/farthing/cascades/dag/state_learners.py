"""Learners of state classifiers, fitted on some columns of all rows, which they predict out of fold."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.cascades.dag.banks import Bank, ForestBank, LinearBank, SklearnBank
from farthing.cascades.dag.column_design import ColumnDesign
from farthing.learning.folds import Fold
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import RidgePenalty, fit_logistic, n_class_scores
from farthing.learning.losses import scores_to_probabilities
from farthing.learning.out_of_fold import Columns, OutOfFoldTrainer
from farthing.learning.polynomial_scores import QuadraticScores
from farthing.learning.sklearn_fit import out_of_fold_classifier
from farthing.learning.sklearn_model import SklearnModel
from farthing.trees import Forest
from farthing.typing import Floats

# Weight of half the squared coefficients, beside the mean log loss.
_RIDGE: Final = 1e-3


class StateLearner(Protocol):
    """Fits the classifiers of states."""

    def learn(self, columns: Columns) -> tuple[Any, Floats]:
        """Fit a classifier on some columns.

        Parameters
        ----------
        columns : ndarray of int64
            At least one, ascending.

        Returns
        -------
        part : object
            For `bank`.
        probabilities : ndarray of float64, shape (n_rows, n_classes)
            Of the training rows, by classifiers that have not seen them.
        """
        ...

    def bank(self, parts: Sequence[Any]) -> Bank:
        """Return fitted classifiers as one value."""
        ...


@dataclass(frozen=True, eq=False)
class TreeStates:
    """Boosted trees; held-out rows choose the number of rounds.

    Parameters
    ----------
    trainer : OutOfFoldTrainer
        The rows, the folds, and how trees are grown.
    """

    trainer: OutOfFoldTrainer

    def learn(self, columns: Columns) -> tuple[Forest, Floats]:
        """Grow a booster; see `StateLearner.learn`."""
        booster = self.trainer.booster(columns)
        scores = np.ascontiguousarray(booster.held_out.T)
        return booster.forest, scores_to_probabilities(scores, self.trainer.rows.n_classes)

    def bank(self, parts: Sequence[Forest]) -> ForestBank:
        """Return the boosters in one forest."""
        ends = np.cumsum([part.n_trees for part in parts], dtype=np.int64)
        return ForestBank(Forest.concat(list(parts)), ends)


@dataclass(frozen=True, eq=False)
class LinearStates:
    """Logistic regressions on standardised columns, or on these, their squares and their products.

    Parameters
    ----------
    rows : TrainingSet
        The rows.
    folds : sequence of Fold
        Every row is held out once.
    quadratic : bool
        Whether to add squares and products.
    """

    rows: TrainingSet
    folds: Sequence[Fold]
    quadratic: bool = False

    def learn(self, columns: Columns) -> tuple[LinearScores | QuadraticScores, Floats]:
        """Fit a logistic regression; see `StateLearner.learn`."""
        rows, n_classes = self.rows, self.rows.n_classes
        made = ColumnDesign.of(rows, columns, n_class_scores(n_classes), quadratic=self.quadratic)

        def fit(learn: NDArray[np.int64] | None) -> LinearScores:
            design, target, shares = made.part(rows.target, rows.weights, learn)
            codes = np.asarray(target, dtype=np.int64)
            start = design.zeros
            return fit_logistic(
                design, codes, start, RidgePenalty(_RIDGE), shares=shares, n_classes=n_classes
            )

        whole = fit(None)
        scores = np.empty((len(rows), whole.n_outputs))
        for fold in self.folds:
            model = whole if len(fold.learn) == len(rows) else fit(fold.learn)
            scores[fold.held_out] = made.design.terms[fold.held_out] @ model.coef + model.intercept
        return made.over_table(whole), scores_to_probabilities(scores, n_classes)

    def bank(self, parts: Sequence[LinearScores | QuadraticScores]) -> LinearBank:
        """Return the regressions as they are."""
        return LinearBank(tuple(parts))


@dataclass(frozen=True, eq=False)
class SklearnStates:
    """Copies of a scikit-learn classifier.

    Parameters
    ----------
    model : classifier
        Unfitted.
    rows : TrainingSet
        The rows.
    folds : sequence of Fold
        Every row is held out once.
    """

    model: Any
    rows: TrainingSet
    folds: Sequence[Fold]

    def learn(self, columns: Columns) -> tuple[SklearnModel, Floats]:
        """Fit a copy; see `StateLearner.learn`."""
        return out_of_fold_classifier(self.model, self.rows, columns, self.folds)

    def bank(self, parts: Sequence[SklearnModel]) -> SklearnBank:
        """Return the copies as they are."""
        return SklearnBank(tuple((part,) for part in parts), len(self.rows.schema))
