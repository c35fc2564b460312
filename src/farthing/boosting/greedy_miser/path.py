"""Whole trade-off curves in one call: cost and score at every round, for every setting."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from farthing.base import n_threads
from farthing.base.inputs import check_weights
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.ranker import GreedyMiserRanker
from farthing.boosting.greedy_miser.tradeoff_search import largest_tradeoff, spread_tradeoffs
from farthing.costs import CostSheet
from farthing.metrics import ndcg, query_codes
from farthing.table import Bins, Schema
from farthing.trees import Progress

Floats: TypeAlias = NDArray[np.float64]
# (target, predictions, queries or None) to a number, larger is better.
Scoring: TypeAlias = Callable[[NDArray[Any], NDArray[Any], NDArray[np.int64] | None], float]
# A table and its target, and perhaps the query of each row.
Part: TypeAlias = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class PathPoint:
    """One model of a path.

    Attributes
    ----------
    setting : float
        The trade-off, or what else the path goes over.
    n_rounds : int
        Rounds of boosting; features used, for a linear model.
    model_cost : float
        What all features cost that the model may look at; equation 3 of the paper.
    validation_spend, spend : float
        What a row pays, in the mean over the validation and over the test rows.
    validation_score, score : float
        On the validation and on the test rows.
    """

    setting: float
    n_rounds: int
    model_cost: float
    validation_spend: float
    validation_score: float
    spend: float
    score: float


@dataclass(frozen=True, slots=True, eq=False)
class Curve:
    """The points of one setting, from its first round to its last.

    Attributes
    ----------
    setting : float
        The trade-off, or what else the path goes over.
    points : tuple of PathPoint
        One for each round, or for those that were looked at.
    model : estimator
        The model with all its rounds; None for a linear model.
    """

    setting: float
    points: tuple[PathPoint, ...]
    model: Any = None

    @property
    def best(self) -> PathPoint:
        """The earliest point of the highest validation score."""
        return max(self.points, key=lambda point: point.validation_score)


@dataclass(frozen=True, slots=True, eq=False)
class CostPath:
    """Trade-off curves of one method.

    Attributes
    ----------
    curves : tuple of Curve
        One for each setting, in the order given.
    """

    curves: tuple[Curve, ...]

    def __iter__(self) -> Iterator[PathPoint]:
        """Go over all points of all curves."""
        return (point for curve in self.curves for point in curve.points)

    @property
    def best(self) -> tuple[PathPoint, ...]:
        """The best point of each curve on the validation rows: the circles of the figure."""
        return tuple(curve.best for curve in self.curves)

    def within(self, spend: float) -> PathPoint | None:
        """Return the point of the highest validation score whose validation rows pay at most that, if any."""
        fits = [point for point in self if point.validation_spend <= spend * (1 + 1e-12)]
        return max(fits, key=lambda point: point.validation_score, default=None)


def miser_path(
    estimator: GreedyMiser,
    X: Any,
    y: Any,
    *,
    tradeoffs: Iterable[float] | int,
    validation: Part,
    test: Part | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    scoring: Scoring | None = None,
    every: int = 1,
    n_jobs: int | None = None,
) -> CostPath:
    """Fit a Greedy Miser at each trade-off and follow cost and score from round to round.

    The table is binned once. Settings are fitted in parallel threads, one thread each; any number gives the
    same models.

    Parameters
    ----------
    estimator : GreedyMiserRegressor, GreedyMiserClassifier or GreedyMiserRanker
        All parameters but the trade-off. It is cloned, never changed.
    X, y : array or frame, array
        The training rows.
    tradeoffs : iterable of float, or int
        Values of lambda; 0 is plain stage-wise boosting. Or how many of them to find: 0, and others whose
        models' spends on validation rows are spread evenly from the plain booster's down to one percent of
        it (`farthing.boosting.greedy_miser.tradeoff_search`).
    validation, test : tuple (X, y) or (X, y, qid)
        Rows that choose the round, and rows that are reported; without ``test`` those of ``validation``.
    qid : array, shape (n_rows,), optional
        The queries of the training rows, for a ranker.
    sample_weight : array, shape (n_rows,), optional
        Weights of the training rows.
    scoring : callable, optional
        From target, predictions and queries to a number, larger is better; None is NDCG@k of a ranker, the
        accuracy of a classifier, minus the mean squared error of a regressor.
    every : int
        Look at every so many rounds, and at the last.
    n_jobs : int, optional
        Settings fitted at a time, as in joblib.

    Returns
    -------
    CostPath
        A curve for each trade-off.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + 0.1 * X[:, 1]
    >>> model = GreedyMiserRegressor(n_estimators=20, relative=True, costs=[1, 5, 5])
    >>> path = miser_path(model, X[:100], y[:100], tradeoffs=[0.0, 0.1], validation=(X[100:], y[100:]))
    >>> [point.model_cost for point in path.best]
    [11.0, 1.0]
    """
    ground = _Ground(estimator, X, y, qid, sample_weight, validation, test, scoring, every, n_jobs)
    bins = ground.bins()
    if isinstance(tradeoffs, int):
        return _spread_path(ground, bins, tradeoffs)
    return ground.fit_all([(float(value), {"tradeoff": float(value)}, bins) for value in tradeoffs])


def _spread_path(ground: _Ground, bins: Bins, n_tradeoffs: int) -> CostPath:
    """Fit at trade-offs that are chosen by what the models so far spend."""
    if n_tradeoffs < 1:
        raise ValueError(f"tradeoffs must be values, or how many, at least 1; got {n_tradeoffs}")
    largest = largest_tradeoff(lambda tradeoff: ground.first_cost(tradeoff, bins) > 0)
    curves: dict[float, Curve] = {}

    def spend_at(tradeoffs: Sequence[float]) -> list[float]:
        path = ground.fit_all([(value, {"tradeoff": value}, bins) for value in tradeoffs])
        curves.update((curve.setting, curve) for curve in path.curves)
        return [curve.points[-1].validation_spend for curve in path.curves]

    found = spread_tradeoffs(n_tradeoffs, largest, spend_at)
    return CostPath(tuple(curves[value] for value in found))


def subset_path(
    estimator: GreedyMiser,
    X: Any,
    y: Any,
    *,
    thresholds: Iterable[float],
    validation: Part,
    test: Part | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    scoring: Scoring | None = None,
    every: int = 1,
    n_jobs: int | None = None,
) -> CostPath:
    """Fit the plain booster on all features up to a price, for each price: the paper's feature subsets.

    Parameters
    ----------
    estimator, X, y, validation, test, qid, sample_weight, scoring, every, n_jobs
        As in `miser_path`; the estimator's trade-off is set to 0.
    thresholds : iterable of float
        Prices; a feature takes part if it costs no more when bought alone.

    Returns
    -------
    CostPath
        A curve for each threshold.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model = GreedyMiserRegressor(n_estimators=20, costs=[5, 1])
    >>> path = subset_path(model, X, X[:, 0], thresholds=[1, 5], validation=(X, X[:, 0]))
    >>> [point.model_cost for point in path.best]
    [1.0, 5.0]
    """
    ground = _Ground(estimator, X, y, qid, sample_weight, validation, test, scoring, every, n_jobs)
    prices = np.array([ground.sheet.price(name) for name in ground.sheet.features])
    settings = [
        (float(threshold), {"tradeoff": 0.0}, ground.bins(prices <= threshold)) for threshold in thresholds
    ]
    return ground.fit_all(settings)


def default_scoring(estimator: Any) -> Scoring:
    """Return how a path judges predictions unless told: by the metric of the task."""
    if isinstance(estimator, GreedyMiserRanker):
        return lambda y, predicted, qid: ndcg(y, predicted, qid=qid, k=estimator.at)
    if is_classifier(estimator):
        return lambda y, predicted, _: float(np.mean(y == predicted))
    return lambda y, predicted, _: -float(np.mean((y - predicted) ** 2))


class EvaluationRows:
    """Rows that a path is judged on: the table, the target and the queries."""

    def __init__(self, part: Part, schema: Schema, name: str) -> None:
        if not isinstance(part, tuple) or len(part) not in (2, 3):
            raise ValueError(f"{name} must be (X, y) or (X, y, qid); got {type(part).__name__}")
        X, y, *more = part
        encoded = schema.encode(X, name)
        encoded.check()
        self.values = encoded.values
        self.target = np.asarray(y)
        if self.target.shape != (len(self.values),):
            raise ValueError(f"{name} has {len(self.values)} rows, but a target of shape {self.target.shape}")
        self.qid = query_codes(more[0], len(self.values)) if more and more[0] is not None else None


class _Ground:
    """What all settings of a path share: the tables, encoded and binned, and the way to judge."""

    def __init__(  # noqa: PLR0917 - the arguments of the public calls, one by one
        self,
        estimator: GreedyMiser,
        X: Any,
        y: Any,
        qid: Any,
        sample_weight: Any,
        validation: Part,
        test: Part | None,
        scoring: Scoring | None,
        every: int,
        n_jobs: int | None,
    ) -> None:
        if not isinstance(estimator, GreedyMiser):
            raise TypeError(f"a path is one of a Greedy Miser; got {type(estimator).__name__}")
        if estimator.validation_fraction is not None:
            raise ValueError("a path has validation rows of its own; set validation_fraction to None")
        if isinstance(every, bool) or not isinstance(every, int | np.integer) or every < 1:
            raise ValueError(f"every must be an integer of at least 1; got {every!r}")
        name = type(estimator).__name__
        self._estimator = estimator
        self._training = (X, y, qid, sample_weight)
        self._schema = Schema.learn(X, name)
        values = self._schema.encode(X, name).values
        self._values = values[check_weights(sample_weight, len(values)) > 0]
        self.sheet = CostSheet.of(estimator.costs, self._schema.names)
        self._validation = EvaluationRows(validation, self._schema, "validation")
        self._test = self._validation if test is None else EvaluationRows(test, self._schema, "test")
        self._scoring = default_scoring(estimator) if scoring is None else scoring
        self._every = int(every)
        self._n_jobs = n_jobs

    def bins(self, columns: NDArray[np.bool_] | None = None) -> Bins:
        """Bin the training rows; columns left out are missing throughout, so that no tree splits on them."""
        values = self._values
        if columns is not None and not columns.all():
            values = np.where(columns, values, np.nan)
        threads = n_threads(self._n_jobs)
        return Bins(values, self._schema, max_bins=self._estimator.max_bins, n_threads=threads)

    def fit_all(self, settings: Sequence[tuple[float, dict[str, Any], Bins]]) -> CostPath:
        """Fit each setting, (number, parameters, bins), and follow its rounds."""
        curves = Parallel(n_jobs=self._n_jobs, prefer="threads")(
            delayed(self._curve)(setting, params, bins) for setting, params, bins in settings
        )
        return CostPath(tuple(curves))

    def first_cost(self, tradeoff: float, bins: Bins) -> float:
        """Return what the first split of each of the first round's trees costs together."""
        model = self._fitted({"tradeoff": tradeoff, "n_estimators": 1, "max_depth": 1, "budget": None}, bins)
        return self._model_cost(model, 1)

    def _curve(self, setting: float, params: dict[str, Any], bins: Bins) -> Curve:
        model = self._fitted(params, bins)
        watched = self._follow(model, self._validation)
        reported = watched if self._test is self._validation else self._follow(model, self._test)
        points = (
            PathPoint(setting, n_rounds, self._model_cost(model, n_rounds), *on_validation, *on_test)
            for n_rounds, on_validation, on_test in zip(self._rounds(model), watched, reported, strict=True)
        )
        return Curve(setting, tuple(points), model)

    def _fitted(self, params: dict[str, Any], bins: Bins) -> GreedyMiser:
        X, y, qid, sample_weight = self._training
        model: GreedyMiser = clone(self._estimator).set_params(**params, n_jobs=1)
        by_row = None if qid is None else {"qid": query_codes(qid, len(np.asarray(y)))}
        if by_row is not None and "qid" not in inspect.signature(model.fit).parameters:
            raise TypeError(f"{type(model).__name__} takes no queries; leave qid out")
        model._learn(X, y, sample_weight, by_row, bins=bins)
        return model

    def _rounds(self, model: GreedyMiser) -> list[int]:
        """Return the numbers of rounds that are looked at; the first is none at all."""
        return [*range(0, model.n_rounds_, self._every), model.n_rounds_]

    def _follow(self, model: GreedyMiser, part: EvaluationRows) -> list[tuple[float, float]]:
        """Return mean spend and score after each of the rounds."""
        n_outputs = len(model.prior_)
        caps = None if model.budget_ is None else np.full(len(part.values), model.budget_)
        progress = Progress(part.values, n_outputs, model.costs_, budget=caps)
        ready, account = model._ready(), _Account(progress)
        followed, tree = [], 0
        for n_rounds in self._rounds(model):
            end = (n_rounds + 1) * n_outputs
            ready.advance(progress, tree, end)
            tree = end
            looked = progress.touched.any(axis=1, keepdims=True)
            predicted, _ = model._results(np.where(looked, progress.outputs, model.prior_))
            followed.append((account.mean(), float(self._scoring(part.target, predicted, part.qid))))
        return followed

    def _model_cost(self, model: GreedyMiser, n_rounds: int) -> float:
        forest = model.forest_
        tested = forest.feature[: forest.offsets[(n_rounds + 1) * len(model.prior_)]]
        used = np.zeros(forest.n_features, dtype=np.bool_)
        used[tested[tested >= 0]] = True
        return float(model.costs_.total(used))


class _Account:
    """The mean spend of rows under way; a row is summed anew only when it has bought something."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._seen = progress.touched.copy()
        self._spent = np.zeros(len(progress.values))

    def mean(self) -> float:
        changed = np.flatnonzero((self._progress.touched != self._seen).any(axis=1))
        self._spent[changed] = self._progress.sheet.total_rows(self._progress.acquired_by(changed))
        self._seen[changed] = self._progress.touched[changed]
        return float(self._spent.mean())
