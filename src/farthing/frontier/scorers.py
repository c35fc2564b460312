"""Scorers with a standard error: scikit-learn's, costs of errors, and rankings."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
from sklearn.metrics import check_scoring

from farthing.frontier.roc_error import roc_error
from farthing.metrics import ndcg_by_query, prefix_precision_by_query
from farthing.typing import Floats

# Bootstrap samples for the standard error of a score that is not a mean over rows.
_RESAMPLES: Final = 40
_RANKINGS: Final[dict[str, Callable[..., Floats]]] = {
    "ndcg": ndcg_by_query,
    "precision": prefix_precision_by_query,
}


@dataclass(frozen=True, slots=True, eq=False)
class Evaluation:
    """The predictions of a model for held-out rows, and the truth.

    Attributes
    ----------
    y : ndarray, shape (n_rows,)
        The truth.
    prediction : ndarray, shape (n_rows,)
        Labels or numbers.
    probabilities : ndarray of float64, shape (n_rows, n_classes), or None
        For classifiers that give them.
    spend : ndarray of float64, shape (n_rows,)
        What each row paid.
    classes : ndarray or None
        The labels of the columns of ``probabilities``; None for a regressor.
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row.
    qid : ndarray or None
        The query of each row.
    """

    y: NDArray[Any]
    prediction: NDArray[Any]
    probabilities: Floats | None
    spend: Floats
    classes: NDArray[Any] | None = None
    weights: Floats | None = None
    qid: NDArray[Any] | None = None

    def mean(self, of_rows: Floats) -> float:
        """Return the weighted mean of a number for each row."""
        return float(np.average(of_rows, weights=self.weights))


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
        return float(scores.mean()), _standard_error(scores)


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
        n_rows = len(evaluation.y)
        # A fixed seed: the same predictions must always have the same standard error.
        rng = np.random.default_rng(0)
        drawn = []
        for _ in range(_RESAMPLES):
            try:
                drawn.append(self.score(evaluation, rng.choice(n_rows, n_rows)))
            except ValueError:  # a sample without one of the classes, say
                continue
        spread = float(np.std(drawn, ddof=1)) if len(drawn) > _RESAMPLES // 2 else math.nan
        return self.score(evaluation), spread

    def score(self, evaluation: Evaluation, rows: NDArray[np.int64] | None = None) -> float:
        """Return the score of all rows, or of some."""
        rows = np.arange(len(evaluation.y)) if rows is None else rows
        options = {} if evaluation.weights is None else {"sample_weight": evaluation.weights[rows]}
        # A scorer wants an estimator and X. The stand-in repeats the stored predictions, and X is row
        # numbers, so that any scorer of scikit-learn works on any subset of the rows.
        return float(self._scorer(_replay(evaluation), rows, evaluation.y[rows], **options))


class AreaScore(ScikitLearnScore):
    """The area under the ROC curve of two classes, with the standard error of DeLong."""

    def __call__(self, evaluation: Evaluation) -> tuple[float, float]:
        """Return the area and its standard error; the error is resampled if there are weights."""
        if (
            evaluation.probabilities is None
            or evaluation.probabilities.shape[1] != 2
            or evaluation.weights is not None
        ):
            return super().__call__(evaluation)
        assert evaluation.classes is not None
        return self.score(evaluation), roc_error(
            evaluation.y == evaluation.classes[1], evaluation.probabilities[:, 1]
        )


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
    if isinstance(scoring, str) and (kind := scoring.partition("@"))[1]:
        if kind[0] not in _RANKINGS or not kind[2].isdigit() or int(kind[2]) < 1:
            raise ValueError(
                f"scoring must be one of scikit-learn's, 'ndcg@k' or 'precision@k'; got {scoring!r}"
            )
        return RankScore(scoring, _RANKINGS[kind[0]], int(kind[2]))
    scorer = check_scoring(_Classes() if classifies else _Numbers(), scoring)
    kind_of_score = AreaScore if scoring == "roc_auc" else ScikitLearnScore
    return kind_of_score(scoring if isinstance(scoring, str) else "score", scorer)


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


def _mean(evaluation: Evaluation, of_rows: Floats) -> tuple[float, float]:
    return evaluation.mean(of_rows), _standard_error(of_rows, evaluation.weights)


def _standard_error(values: Floats, weights: Floats | None = None) -> float:
    """Return the standard error of a weighted mean of independent values, NaN for a single one."""
    n = len(values)
    if n < 2:
        return math.nan
    shares = np.full(n, 1 / n) if weights is None else weights / weights.sum()
    # Variance of a weighted mean of independent values, with Bessel's correction; for equal weights it is the
    # usual standard error.
    residuals = values - float(shares @ values)
    return float(np.sqrt(n / (n - 1) * np.sum((shares * residuals) ** 2)))
