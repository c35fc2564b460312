"""Scorers with a standard error: scikit-learn's, costs of errors, and rankings."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from sklearn.metrics import check_scoring, get_scorer_names

from farthing.base import ErrorCosts
from farthing.costs.validation import nearest
from farthing.frontier.evaluation import Evaluation, standard_error
from farthing.frontier.linearized import LINEARIZED
from farthing.frontier.replay import ClassesReplay, NumbersReplay
from farthing.frontier.scikit_learn_scores import (
    AreaScore,
    LinearizedScore,
    OwnScore,
    PrecisionScore,
    ScikitLearnScore,
)
from farthing.frontier.scorer import Figures, Scorer
from farthing.metrics import ndcg_by_query, prefix_precision_by_query
from farthing.typing import Floats

__all__ = [
    "AreaScore",
    "ErrorCosts",
    "Evaluation",
    "LinearizedScore",
    "PrecisionScore",
    "RankScore",
    "RowScore",
    "ScikitLearnScore",
    "Scorer",
    "TotalCost",
    "brier",
    "scorer_of",
]

_RANKINGS: Final[dict[str, Callable[..., Floats]]] = {
    "ndcg": ndcg_by_query,
    "precision": prefix_precision_by_query,
}


@dataclass(frozen=True)
class TotalCost(Scorer):
    """The mean total cost of a row, negated: that of its label plus its spend.

    If there are probabilities, the label is the one of the least expected cost. The loss is the cost itself,
    not the one that the model expects: that would favour models which are too sure of themselves.

    Parameters
    ----------
    error_costs : ErrorCosts
        Prices of errors.

    Examples
    --------
    >>> labels, spend = np.array([0, 1]), np.array([1.0, 2.0])
    >>> evaluation = Evaluation(labels, np.array([0, 0]), None, spend, classes=labels)
    >>> TotalCost(ErrorCosts([[0, 3], [5, 0]]))(evaluation)[0]
    -4.0
    """

    error_costs: ErrorCosts
    name: str = "cost of a row, negated"

    def of_rows(self, evaluation: Evaluation) -> Floats:
        """Return the cost of each row, negated, shape (n_rows,)."""
        costs = self._labelled(evaluation)
        labels = np.asarray(costs.labels)
        given = evaluation.prediction
        if evaluation.probabilities is not None and evaluation.classes is not None:
            given = evaluation.classes[costs.over(evaluation.classes).decide(evaluation.probabilities)]
        order = np.argsort(labels)
        truth, said = (order[np.searchsorted(labels, each, sorter=order)] for each in (evaluation.y, given))
        return np.asarray(-(costs.costs[truth, said] + evaluation.spend))

    def losses_of_rows(self, evaluation: Evaluation) -> Floats:
        """Return the cost of each row, shape (n_rows,)."""
        return -self.of_rows(evaluation)

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the mean cost of a row, negated, and its standard error."""
        return _mean(evaluation, self.of_rows(evaluation))

    def loss(self, evaluation: Evaluation) -> float:
        """Return the mean cost of a row."""
        return evaluation.mean(self.losses_of_rows(evaluation))

    def identity(self) -> Any:
        """Return the prices and their labels."""
        return self.name, repr(self.error_costs)

    def _labelled(self, evaluation: Evaluation) -> ErrorCosts:
        """Return the prices with their labels; those of the evaluation if they have none."""
        if self.error_costs.labels is not None:
            return self.error_costs
        return self.error_costs.over(
            np.unique(evaluation.y) if evaluation.classes is None else evaluation.classes
        )


@dataclass(frozen=True)
class RowScore(Scorer):
    """A mean over the rows.

    Parameters
    ----------
    name : str
        What the score is called.
    score : callable
        From an evaluation to the score of each row, shape (n_rows,).
    smooth : callable, optional
        From an evaluation to the ``loss`` of each row.
    """

    name: str
    score: Callable[[Evaluation], Floats]
    smooth: Callable[[Evaluation], Floats] | None = None

    def of_rows(self, evaluation: Evaluation) -> Floats:
        """Return the score of each row, shape (n_rows,)."""
        return self.score(evaluation)

    def losses_of_rows(self, evaluation: Evaluation) -> Floats | None:
        """Return the smooth measure of each row, shape (n_rows,); None if the score has none."""
        return None if self.smooth is None else self.smooth(evaluation)

    def loss(self, evaluation: Evaluation) -> float:
        """Return the smooth measure; NaN if the score has none."""
        return math.nan if self.smooth is None else evaluation.mean(self.smooth(evaluation))

    def figures(self, evaluation: Evaluation) -> Figures:
        """Return all that is said of an evaluation, from one value and one loss of each row."""
        of_rows, losses = self.of_rows(evaluation), self.losses_of_rows(evaluation)
        loss = math.nan if losses is None else evaluation.mean(losses)
        return Figures(*_mean(evaluation, of_rows), loss, of_rows, losses)

    def identity(self) -> Any:
        """Return the name: scores of the same name have the same functions."""
        return self.name

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the mean and its standard error."""
        return _mean(evaluation, self.score(evaluation))


@dataclass(frozen=True)
class RankScore(Scorer):
    """A mean over the queries: NDCG@k or the precision@k of Nan's thesis."""

    name: str
    of_queries: Callable[..., Floats]
    k: int

    def identity(self) -> Any:
        """Return the name, which has the cutoff in it."""
        return self.name

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the mean over the queries and its standard error."""
        scores = self.of_queries(evaluation.y, evaluation.prediction, qid=evaluation.qid, k=self.k)
        return float(scores.mean()), standard_error(scores)


# Scores of rankings, which are no smooth functions of means over rows.
_RESAMPLED: Final[dict[str, Callable[[str, Any], ScikitLearnScore]]] = {
    "roc_auc": AreaScore,
    "average_precision": PrecisionScore,
}


def scorer_of(scoring: Any, *, classifies: bool) -> Scorer:
    """Return how to score, from a name, a scorer of scikit-learn, `ErrorCosts` or a `Scorer`.

    Parameters
    ----------
    scoring : str, callable, ErrorCosts, Scorer or None
        A name that scikit-learn knows; "ndcg@k" or "precision@k"; a scorer, ``f(estimator, X, y)``; None
        means accuracy for classifiers, the negated mean squared error for regressors.
    classifies : bool
        Whether predictions are classes.

    Examples
    --------
    >>> scorer_of("ndcg@5", classifies=False).name
    'ndcg@5'
    """
    if isinstance(scoring, Scorer):
        return scoring
    if isinstance(scoring, ErrorCosts):
        return TotalCost(scoring)
    if scoring is None:
        scoring = "accuracy" if classifies else "neg_mean_squared_error"
    if scoring == "accuracy":
        return RowScore(
            scoring,
            lambda evaluation: (evaluation.prediction == evaluation.y).astype(np.float64),
            errors_of_rows,
        )
    if scoring == "neg_mean_squared_error":
        return RowScore(scoring, lambda evaluation: -((evaluation.prediction - evaluation.y) ** 2))
    if isinstance(scoring, str) and "@" in scoring:
        return _ranking(scoring)
    if isinstance(scoring, str) and scoring not in (names := get_scorer_names()):
        raise ValueError(
            f"scoring {scoring!r} is not a name that scikit-learn knows{nearest(scoring, names)}; "
            "sklearn.metrics.get_scorer_names() lists them. There are 'ndcg@k' and 'precision@k', too, "
            "ErrorCosts, and functions f(estimator, X, y)"
        )
    return _of_scikit_learn(
        scoring, check_scoring(ClassesReplay() if classifies else NumbersReplay(), scoring)
    )


def _of_scikit_learn(scoring: Any, scorer: Any) -> ScikitLearnScore:
    """Return the fastest way to a score and its standard error."""
    if not isinstance(scoring, str):
        return OwnScore("score", scorer)
    if scoring in LINEARIZED:
        return LinearizedScore(scoring, scorer, LINEARIZED[scoring])
    return _RESAMPLED.get(scoring, ScikitLearnScore)(scoring, scorer)


def _ranking(scoring: str) -> RankScore:
    name, _, cutoff = scoring.partition("@")
    if name not in _RANKINGS or not cutoff.isdigit() or int(cutoff) < 1:
        raise ValueError(f"scoring must be one of scikit-learn's, 'ndcg@k' or 'precision@k'; got {scoring!r}")
    return RankScore(scoring, _RANKINGS[name], int(cutoff))


def brier(evaluation: Evaluation) -> float:
    """Return the mean over rows of the squared distance of the probabilities from the truth.

    Examples
    --------
    >>> labels, probabilities = np.array([0, 1]), np.array([[0.8, 0.2], [0.5, 0.5]])
    >>> evaluation = Evaluation(labels, labels, probabilities, np.zeros(2), classes=labels)
    >>> round(brier(evaluation), 4)
    0.29
    """
    return evaluation.mean(brier_of_rows(evaluation))


def brier_of_rows(evaluation: Evaluation) -> Floats:
    """Return the squared distance of each row's probabilities from the truth, shape (n_rows,).

    A model without probabilities counts as certain of its labels.
    """
    if evaluation.probabilities is None or evaluation.classes is None:
        return np.asarray(2.0 * (evaluation.prediction != evaluation.y))
    truth = evaluation.y[:, np.newaxis] == evaluation.classes
    # A class without a column has probability zero.
    unknown = (~truth.any(axis=1)).astype(np.float64)
    return np.asarray(((evaluation.probabilities - truth) ** 2).sum(axis=1) + unknown)


def errors_of_rows(evaluation: Evaluation) -> Floats:
    """Return the mean of each row's error, 0 or 1, and half its `brier_of_rows`, shape (n_rows,).

    The squared distance is less noisy than errors are, but it holds probabilities that are far too sure, as
    those of a deep tree, against labels that are right.

    Examples
    --------
    >>> labels, probabilities = np.array([0, 1]), np.array([[0.8, 0.2], [1.0, 0.0]])
    >>> evaluation = Evaluation(labels, np.array([0, 0]), probabilities, np.zeros(2), classes=labels)
    >>> errors_of_rows(evaluation).round(4)
    array([0.02, 1.  ])
    """
    made = (evaluation.prediction != evaluation.y).astype(np.float64)
    return np.asarray((made + brier_of_rows(evaluation) / 2) / 2)


def _mean(evaluation: Evaluation, of_rows: Floats) -> tuple[float, float]:
    return evaluation.mean(of_rows), standard_error(of_rows, evaluation.weights)
