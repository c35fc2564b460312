"""Learners of policies: weighted binary problems and regressions on what a state knows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing.base import TrainingSet
from farthing.cascades.dag.banks import Bank, ForestBank, LinearBank, SklearnBank, sklearn_score
from farthing.cascades.dag.column_design import ColumnDesign
from farthing.costs import CostSheet
from farthing.learning.booster import TreeSettings
from farthing.learning.folds import Fold
from farthing.learning.linear_scores import LinearScores
from farthing.learning.logistic import RidgePenalty, fit_logistic
from farthing.learning.losses import LOGISTIC, SQUARED
from farthing.learning.out_of_fold import OutOfFoldTrainer
from farthing.learning.sklearn_fit import fit_sklearn
from farthing.learning.sklearn_model import SklearnModel
from farthing.table import Encoded, PreparedTable, Schema
from farthing.table.columns import Column
from farthing.trees import Forest
from farthing.typing import Floats

# The log-odds of a match that every row decides in the same way.
CERTAIN: Final = 40.0
# Weight of half the squared coefficients, beside the mean loss.
_RIDGE: Final = 1e-3


@dataclass(frozen=True, eq=False)
class Evidence:
    """What the policy of a state learns from: the table, and the scores of the state's classifier after it.

    Parameters
    ----------
    rows : TrainingSet
        The training rows, with further columns for the scores.
    columns : ndarray of int64, shape (n_columns,)
        What the policy may read: the columns of the state, and the scores.
    folds : sequence of Fold
        Every row is held out once.
    """

    rows: TrainingSet
    columns: NDArray[np.int64]
    folds: Sequence[Fold]

    @classmethod
    def of(
        cls, rows: TrainingSet, owned: NDArray[np.int64], scores: Floats, folds: Sequence[Fold]
    ) -> Evidence:
        """Join a table and the scores of a state.

        Parameters
        ----------
        rows : TrainingSet
        owned : ndarray of int64
            The columns of the state.
        scores : ndarray of float64, shape (n_rows, n_scores)
            May have no column.
        folds : sequence of Fold
        """
        n_features = len(rows.schema)
        numbers = tuple(Column(f"score {number}", "numeric") for number in range(scores.shape[1]))
        schema = Schema((*_renamed(rows.schema), *numbers), named=True)
        values = np.asfortranarray(np.column_stack([rows.values, scores]))
        table = PreparedTable(schema, Encoded.valid(values, schema.columns))
        columns = np.concatenate([owned, n_features + np.arange(scores.shape[1])])
        # Trees are grown without prices here: what a state owns is paid for.
        free = CostSheet(dict.fromkeys(schema.names, 0.0))
        return cls(replace(rows, table=table, costs=free), columns.astype(np.int64), folds)

    def last_column(self) -> Evidence:
        """Return the last column alone, the probability of an error if there are scores."""
        return replace(self, columns=self.columns[-1:])

    @cached_property
    def design(self) -> ColumnDesign:
        """The linear design of the columns."""
        return ColumnDesign.of(self.rows, self.columns, 1)

    def folds_of(self, counted: NDArray[np.bool_]) -> list[Fold]:
        """Return the folds, where only the rows that count are learned from."""
        folds = [Fold(fold.learn[counted[fold.learn]], fold.held_out) for fold in self.folds]
        if all(len(fold.learn) for fold in folds):
            return folds
        # So few rows that a fold has them all: then nothing can be held out.
        return [Fold(np.flatnonzero(counted), np.arange(len(counted)))]


def _renamed(schema: Schema) -> tuple[Column, ...]:
    """Return columns whose names clash with no other."""
    return tuple(replace(column, name=f"column {number}") for number, column in enumerate(schema.columns))


class PolicyLearner(Protocol):
    """Fits weighted binary problems, or regressions, and predicts the rows out of fold."""

    def learn(
        self, evidence: Evidence, target: Floats, weights: Floats, *, regress: bool
    ) -> tuple[Any, Floats]:
        """Fit one problem.

        Parameters
        ----------
        evidence : Evidence
        target : ndarray of float64, shape (n_rows,)
            Numbers, or 0 and 1.
        weights : ndarray of float64, shape (n_rows,)
            Some of them above zero; rows of weight zero are not learned from.
        regress : bool
            Whether the target is predicted as a number; else the score of a row is above zero for 1.

        Returns
        -------
        part : object
            For `bank`.
        scores : ndarray of float64, shape (n_rows,)
            Of all rows, by models that have not seen them.
        """
        ...

    def constant(self, evidence: Evidence, score: float) -> Any:
        """Return the part of a problem whose score is the same for every row."""
        ...

    def bank(self, parts: Sequence[Sequence[Any]], n_scores: int, n_features: int) -> Bank:
        """Return the parts of all policies as one value.

        Parameters
        ----------
        parts : sequence of sequences
            The problems of each policy, at least one.
        n_scores : int
            The largest number of them.
        n_features : int
            Columns of the table and of the scores after it.
        """
        ...


@dataclass(frozen=True, eq=False)
class TreePolicies:
    """Boosted trees.

    Parameters
    ----------
    settings : TreeSettings
        How trees are grown.
    max_bins : int
        Maximum number of bins per column.
    n_iter_no_change : int or None
        Stop after this many rounds without a lower loss on held-out rows.
    """

    settings: TreeSettings
    max_bins: int
    n_iter_no_change: int | None

    def learn(
        self, evidence: Evidence, target: Floats, weights: Floats, *, regress: bool
    ) -> tuple[Forest, Floats]:
        """Grow a booster; see `PolicyLearner.learn`."""
        counted = weights > 0
        trainer = OutOfFoldTrainer(
            replace(evidence.rows, target=target if regress else target.astype(np.int64), weights=weights),
            SQUARED if regress else LOGISTIC,
            folds=evidence.folds_of(counted),
            final=np.flatnonzero(counted),
            settings=self.settings,
            max_bins=self.max_bins,
            n_iter_no_change=self.n_iter_no_change,
        )
        booster = trainer.booster(evidence.columns)
        return booster.forest, booster.held_out[0]

    def constant(self, evidence: Evidence, score: float) -> Forest:
        """Return a tree of one node."""
        bins = evidence.rows.bins(self.max_bins)
        return Forest.constant([score], bins.n_features, bins.category_widths)

    def bank(
        self,
        parts: Sequence[Sequence[Forest]],
        n_scores: int,
        n_features: int,  # the trees know it
    ) -> ForestBank:
        """Return the boosters in one forest, each adding to its own output."""
        joined = [
            Forest.concat([part.to_output(output, n_scores) for output, part in enumerate(policy)])
            for policy in parts
        ]
        ends = np.cumsum([forest.n_trees for forest in joined], dtype=np.int64)
        return ForestBank(Forest.concat(joined), ends)


@dataclass(frozen=True, eq=False)
class LinearPolicies:
    """Logistic and ridge regressions on standardised columns."""

    def learn(
        self, evidence: Evidence, target: Floats, weights: Floats, *, regress: bool
    ) -> tuple[LinearScores, Floats]:
        """Fit a regression; see `PolicyLearner.learn`."""
        made, counted = evidence.design, weights > 0

        def fit(learn: NDArray[np.int64]) -> LinearScores:
            design, goal, shares = made.part(target, weights, learn)
            if regress:
                return _ridge(design.zeros, design.terms, np.asarray(goal, dtype=np.float64), shares)
            codes = np.asarray(goal, dtype=np.int64)
            penalty = RidgePenalty(_RIDGE)
            return fit_logistic(design, codes, design.zeros, penalty, shares=shares, n_classes=2)

        whole = fit(np.flatnonzero(counted))
        scores = np.empty(len(target))
        for fold in evidence.folds_of(counted):
            model = whole if len(fold.learn) == counted.sum() else fit(fold.learn)
            held_out = made.design.terms[fold.held_out] @ model.coef + model.intercept
            scores[fold.held_out] = held_out[:, 0]
        over = made.over_table(whole)
        assert isinstance(over, LinearScores)
        return over, scores

    def constant(self, evidence: Evidence, score: float) -> LinearScores:
        """Return scores without coefficients."""
        return replace(evidence.design.plain, intercept=np.array([score]))

    def bank(
        self,
        parts: Sequence[Sequence[LinearScores]],
        n_scores: int,  # each policy has its own number
        n_features: int,  # the scores know it
    ) -> LinearBank:
        """Return the regressions of each policy over the same terms."""
        return LinearBank(
            tuple(
                replace(
                    policy[0],
                    coef=np.column_stack([part.coef for part in policy]),
                    intercept=np.concatenate([part.intercept for part in policy]),
                )
                for policy in parts
            )
        )


@dataclass(frozen=True, eq=False)
class SklearnPolicies:
    """Copies of a scikit-learn classifier, or of a regressor for regressions.

    Parameters
    ----------
    model : estimator
        Unfitted; its ``fit`` takes ``sample_weight``.
    """

    model: Any

    def learn(
        self, evidence: Evidence, target: Floats, weights: Floats, *, regress: bool
    ) -> tuple[SklearnModel | float, Floats]:
        """Fit a copy; see `PolicyLearner.learn`."""
        counted = weights > 0
        codes = target if regress else target.astype(np.int64)
        rows = replace(evidence.rows, target=codes, weights=weights, classes=np.array([0, 1]))

        def fit(learn: NDArray[np.int64]) -> SklearnModel | float:
            part = rows.take(learn)
            if not regress and (part.target == part.target[0]).all():
                return CERTAIN if part.target[0] else -CERTAIN
            return fit_sklearn(self.model, part, evidence.columns)

        whole = fit(np.flatnonzero(counted))
        scores = np.empty(len(target))
        for fold in evidence.folds_of(counted):
            model = whole if len(fold.learn) == counted.sum() else fit(fold.learn)
            scores[fold.held_out] = sklearn_score(model, rows.values[fold.held_out], at_once=True)
        return whole, scores

    def constant(self, evidence: Evidence, score: float) -> float:
        """Return the score itself."""
        return score

    def bank(
        self,
        parts: Sequence[Sequence[SklearnModel | float]],
        n_scores: int,  # each policy has its own number
        n_features: int,
    ) -> SklearnBank:
        """Return the copies as they are."""
        return SklearnBank(tuple(tuple(policy) for policy in parts), n_features)


def _ridge(zeros: LinearScores, terms: Floats, target: Floats, shares: Floats) -> LinearScores:
    """Return the weighted ridge regression of numbers; the intercept is not penalised."""
    mean, centre = shares @ terms, float(shares @ target)
    moved = terms - mean
    gram = (moved * shares[:, np.newaxis]).T @ moved + _RIDGE * np.eye(terms.shape[1])
    coef = np.asarray(np.linalg.solve(gram, moved.T @ (shares * (target - centre))), dtype=np.float64)
    return replace(zeros, coef=coef[:, np.newaxis], intercept=np.array([centre - float(mean @ coef)]))
