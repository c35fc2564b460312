"""Scorers with a standard error: scikit-learn's, costs of errors, and rankings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn import config_context
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from farthing.frontier.evaluation import Evaluation, standard_error
from farthing.frontier.linearized import LINEARIZED, Linearized
from farthing.frontier.resampling import average_precisions, roc_areas, sample_blocks
from farthing.frontier.roc_error import roc_area, roc_error
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
    "brier",
    "scorer_of",
]

_RANKINGS: Final[dict[str, Callable[..., Floats]]] = {
    "ndcg": ndcg_by_query,
    "precision": prefix_precision_by_query,
}


class Scorer(ABC):
    """Gives a score, larger is better, and its standard error.

    Attributes
    ----------
    name : str
        What the score is called.
    """

    name: str

    @abstractmethod
    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the score and its standard error, NaN if there is none."""

    def loss(self, evaluation: Evaluation) -> float:  # noqa: ARG002 - most scores have none
        """Return a smoother measure, smaller is better, to separate nearly equal scores; NaN if none."""
        return math.nan

    def identity(self) -> Any:
        """Return a value that identifies this scorer, the same in every process."""
        return self.name, repr(self)


class ErrorCosts(Scorer):
    """Costs of errors, in the unit of the prices, so that spend and errors can be added up.

    The score is the mean total cost of a row, negated: the cost of its predicted label plus its spend. If
    there are probabilities, the label is the one of the least expected cost.

    Parameters
    ----------
    costs : array, shape (n_classes, n_classes)
        Row: the true class; column: the predicted class. The diagonal is usually zero.
    labels : sequence, optional
        The classes of the rows and columns; None means the sorted labels of the data.

    Examples
    --------
    >>> costs = ErrorCosts([[0, 10], [100, 0]])
    >>> costs.decide(np.array([[0.8, 0.2], [0.95, 0.05]]))
    array([1, 0])
    """

    name = "cost of a row, negated"

    def __init__(self, costs: Any, labels: Sequence[Any] | None = None) -> None:
        self.costs = np.asarray(costs, dtype=np.float64)
        self.labels = None if labels is None else np.asarray(labels)
        if self.costs.ndim != 2 or self.costs.shape[0] != self.costs.shape[1]:
            raise ValueError(f"costs must be a square table, true by predicted; got shape {self.costs.shape}")
        if not np.isfinite(self.costs).all():
            raise ValueError("costs must be finite")
        if self.labels is not None and self.labels.shape != (len(self.costs),):
            raise ValueError(f"labels must be {len(self.costs)}, as many as the table has rows")

    def decide(self, probabilities: Floats) -> NDArray[np.int64]:
        """Return the class of the least expected cost, the first of ties, shape (n_rows,)."""
        return np.asarray(np.argmin(probabilities @ self.costs, axis=1), dtype=np.int64)

    def over(self, classes: NDArray[Any]) -> ErrorCosts:
        """Return the costs in the order of some classes, which must be among the labels."""
        if self.labels is None:
            if len(classes) != len(self.costs):
                raise ValueError(f"the costs are for {len(self.costs)} classes; y has {len(classes)}")
            return ErrorCosts(self.costs, classes.tolist())
        if not np.isin(classes, self.labels).all():
            raise ValueError(f"the costs are for the labels {self.labels.tolist()}; y has {classes.tolist()}")
        places = [self.labels.tolist().index(label) for label in classes.tolist()]
        return ErrorCosts(self.costs[np.ix_(places, places)], classes.tolist())

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the mean cost of a row, negated, and its standard error."""
        classes = np.unique(evaluation.y) if evaluation.classes is None else evaluation.classes
        table = self.over(classes)
        truth = np.searchsorted(classes, evaluation.y)
        if evaluation.probabilities is None:
            given = np.searchsorted(classes, evaluation.prediction)
        else:
            given = table.decide(evaluation.probabilities)
        return _mean(evaluation, -(table.costs[truth, given] + evaluation.spend))

    def __repr__(self) -> str:
        labels = None if self.labels is None else self.labels.tolist()
        return f"ErrorCosts({self.costs.tolist()}, labels={labels})"


@dataclass(frozen=True)
class RowScore(Scorer):
    """A mean over the rows.

    Parameters
    ----------
    name : str
        What the score is called.
    of_rows : callable
        From an evaluation to the score of each row, shape (n_rows,).
    smooth : callable, optional
        From an evaluation to the ``loss``.
    """

    name: str
    of_rows: Callable[[Evaluation], Floats]
    smooth: Callable[[Evaluation], float] | None = None

    def loss(self, evaluation: Evaluation) -> float:
        """Return the smooth measure; NaN if the score has none."""
        return math.nan if self.smooth is None else self.smooth(evaluation)

    def identity(self) -> Any:
        """Return the name: scores of the same name have the same functions."""
        return self.name

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the mean and its standard error."""
        return _mean(evaluation, self.of_rows(evaluation))


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


class ScikitLearnScore(Scorer):
    """Any scorer of scikit-learn, with a standard error over resampled rows."""

    def __init__(self, name: str, scorer: Any) -> None:
        self.name = name
        self._scorer = scorer

    def identity(self) -> Any:
        """Return the name and the scorer, which can be pickled if the user's function can."""
        return self.name, self._scorer

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the score and the spread of it over resampled rows."""
        score = self.score(evaluation)
        # The rows passed scikit-learn's checks once; samples of them need not.
        with config_context(assume_finite=True, skip_parameter_validation=True):
            drawn = [
                self._score_of_sample(evaluation, np.repeat(np.arange(len(counts)), counts))
                for block in sample_blocks(len(evaluation.y))
                for counts in block
            ]
        return score, _spread(np.array(drawn))

    def _score_of_sample(self, evaluation: Evaluation, rows: NDArray[np.int64]) -> float:
        try:
            return self.score(evaluation, rows)
        except ValueError:  # a sample without one of the classes, say
            return math.nan

    def score(self, evaluation: Evaluation, rows: NDArray[np.int64] | None = None) -> float:
        """Return the score of all rows, or of some."""
        rows = np.arange(len(evaluation.y)) if rows is None else rows
        options = {} if evaluation.weights is None else {"sample_weight": evaluation.weights[rows]}
        # A scorer wants an estimator and X. The stand-in repeats the stored predictions, and X is row
        # numbers, so that any scorer of scikit-learn works on any subset of the rows.
        return float(self._scorer(_replay(evaluation), rows, evaluation.y[rows], **options))


class LinearizedScore(ScikitLearnScore):
    """A score of scikit-learn whose standard error has a closed form, see `farthing.frontier.linearized`.

    Parameters
    ----------
    name : str
        scikit-learn's name of the score.
    scorer : callable
        scikit-learn's scorer, for what is not the plain case.
    linearize : callable
        From an evaluation to the score and the influence of each row, or None.
    """

    def __init__(self, name: str, scorer: Any, linearize: Callable[[Evaluation], Linearized | None]) -> None:
        super().__init__(name, scorer)
        self._linearize = linearize

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the score and its standard error, to first order."""
        found = self._linearize(evaluation)
        if found is None:
            return super().__call__(evaluation)
        score, influences = found
        if evaluation.weights is not None:  # the order in which scikit-learn adds up weights varies
            score = self.score(evaluation)
        return score, standard_error(influences, evaluation.weights)


class AreaScore(ScikitLearnScore):
    """The area under the ROC curve of two classes, with the standard error of DeLong."""

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the area and its standard error; the error is resampled if there are weights."""
        found = _positives(evaluation)
        if found is None:
            return super().__call__(evaluation)
        truth, scores = found
        if evaluation.weights is None:
            return roc_area(truth, scores), roc_error(truth, scores)
        return self.score(evaluation), _spread(roc_areas(truth, scores, evaluation.weights))


class PrecisionScore(ScikitLearnScore):
    """The average precision of two classes, with a standard error over resampled rows, all in one pass.

    Parameters
    ----------
    name : str
        What the score is called.
    scorer : callable
        scikit-learn's scorer.
    positive : object, optional
        The positive class; None means 1, which must be the second one.
    """

    def __init__(self, name: str, scorer: Any, positive: Any = None) -> None:
        super().__init__(name, scorer)
        self._positive = positive

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the average precision and its standard error."""
        found = _positives(evaluation, self._positive)
        # Unless it is told which class is positive, scikit-learn wants it to be 1, or raises.
        if found is None or (self._positive is None and np.asarray(evaluation.classes)[1] != 1):
            return super().__call__(evaluation)
        return self.score(evaluation), _spread(average_precisions(*found, evaluation.weights))


# Scores of rankings, which are no smooth functions of means over rows.
_RESAMPLED: Final[dict[str, Callable[[str, Any], ScikitLearnScore]]] = {
    "roc_auc": AreaScore,
    "average_precision": PrecisionScore,
}


def scorer_of(scoring: Any, *, classifies: bool) -> Scorer:
    """Return how to score, from a name, a scorer of scikit-learn, or a `Scorer` such as `ErrorCosts`.

    Parameters
    ----------
    scoring : str, callable, Scorer or None
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
    if scoring is None:
        scoring = "accuracy" if classifies else "neg_mean_squared_error"
    if scoring == "accuracy":
        return RowScore(
            scoring, lambda evaluation: (evaluation.prediction == evaluation.y).astype(np.float64), brier
        )
    if scoring == "neg_mean_squared_error":
        return RowScore(scoring, lambda evaluation: -((evaluation.prediction - evaluation.y) ** 2))
    if isinstance(scoring, str) and "@" in scoring:
        return _ranking(scoring)
    return _of_scikit_learn(scoring, check_scoring(_Classes() if classifies else _Numbers(), scoring))


def _of_scikit_learn(scoring: Any, scorer: Any) -> ScikitLearnScore:
    """Return the fastest way to a score and its standard error."""
    if not isinstance(scoring, str):
        return ScikitLearnScore("score", scorer)
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

    A model without probabilities counts as certain of its labels.

    Examples
    --------
    >>> labels, probabilities = np.array([0, 1]), np.array([[0.8, 0.2], [0.5, 0.5]])
    >>> evaluation = Evaluation(labels, labels, probabilities, np.zeros(2), classes=labels)
    >>> round(brier(evaluation), 4)
    0.29
    """
    if evaluation.probabilities is None or evaluation.classes is None:
        return evaluation.mean(2.0 * (evaluation.prediction != evaluation.y))
    truth = evaluation.y[:, np.newaxis] == evaluation.classes
    # A class without a column has probability zero.
    unknown = (~truth.any(axis=1)).astype(np.float64)
    return evaluation.mean(((evaluation.probabilities - truth) ** 2).sum(axis=1) + unknown)


class _Replay(BaseEstimator):  # type: ignore[misc]
    """Repeats the predictions of an evaluation for the rows whose numbers are in X."""

    evaluation: Evaluation

    def fit(self, X: Any, y: Any) -> _Replay:  # noqa: ARG002 - scorers want it to be there
        return self

    def predict(self, X: NDArray[np.int64]) -> NDArray[Any]:
        return self.evaluation.prediction[X]

    def __sklearn_is_fitted__(self) -> bool:
        return True


class _Classes(ClassifierMixin, _Replay):  # type: ignore[misc]
    def predict_proba(self, X: NDArray[np.int64]) -> Floats:
        if self.evaluation.probabilities is None:
            raise ValueError("this scorer needs probabilities, which the model does not give")
        return self.evaluation.probabilities[X]


class _Numbers(RegressorMixin, _Replay):  # type: ignore[misc]
    pass


def _replay(evaluation: Evaluation) -> _Replay:
    replay: _Replay = _Numbers() if evaluation.classes is None else _Classes()
    replay.evaluation = evaluation
    if evaluation.classes is not None:
        replay.classes_ = evaluation.classes
    return replay


def _positives(evaluation: Evaluation, positive: Any = None) -> tuple[NDArray[np.bool_], Floats] | None:
    """Return which rows are positive, and their scores; None unless two classes occur in the rows."""
    probabilities, places = evaluation.probabilities, evaluation.places(evaluation.y)
    if probabilities is None or probabilities.shape[1] != 2 or places is None:
        return None
    place = int(positive is None or np.asarray(evaluation.classes)[1] == positive)
    truth, scores = places == place, probabilities[:, place]
    plain = truth.any() and not truth.all() and np.isfinite(scores).all()
    return (truth, scores) if plain else None


def _spread(resampled: Floats) -> float:
    """Return the standard deviation over bootstrap samples; NaN if most of them have no score."""
    drawn = resampled[~np.isnan(resampled)]
    return float(np.std(drawn, ddof=1)) if len(drawn) > len(resampled) // 2 else math.nan


def _mean(evaluation: Evaluation, of_rows: Floats) -> tuple[float, float]:
    return evaluation.mean(of_rows), standard_error(of_rows, evaluation.weights)
