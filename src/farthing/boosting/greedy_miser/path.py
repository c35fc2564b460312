"""Whole trade-off curves in one call: spend and score at every round, for every setting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Integral
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone

from farthing.base import Frontier, Point, TrainingSet, n_threads
from farthing.base.parameters import check_whole
from farthing.boosting.greedy_miser.base import GreedyMiser
from farthing.boosting.greedy_miser.path_evaluation import (
    EvaluationRows,
    RoundEvaluation,
    Rows,
    Scoring,
    default_scoring,
)
from farthing.boosting.greedy_miser.ranker import GreedyMiserRanker
from farthing.boosting.greedy_miser.tradeoff_search import largest_tradeoff, spread_tradeoffs
from farthing.metrics import query_codes
from farthing.table import PreparedTable


def miser_path(
    estimator: GreedyMiser,
    X: Any,
    y: Any,
    *,
    tradeoffs: Iterable[float] | int,
    validation: Rows,
    test: Rows | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    scoring: Scoring | None = None,
    every: int = 1,
    n_jobs: int | None = None,
) -> Frontier:
    """Fit a Greedy Miser at each trade-off and record spend and score after every round.

    The table is encoded and binned once. Settings are fitted in parallel, one thread each; any number gives
    the same models.

    Parameters
    ----------
    estimator : GreedyMiserRegressor, GreedyMiserClassifier or GreedyMiserRanker
        All parameters except the trade-off. It is cloned, not changed.
    X, y : array, frame or PreparedTable, array
        The training rows.
    tradeoffs : iterable of float, or int
        Values of lambda; 0 is plain stage-wise boosting. Or the number of values to search for: 0, and others
        whose models' mean spends on the validation rows are spread evenly from that of the plain booster down
        to one percent of it (`farthing.boosting.greedy_miser.tradeoff_search`).
    validation, test : tuple (X, y) or (X, y, qid)
        Rows to choose the round by, and rows to report on; without ``test``, those of ``validation``.
    qid : array, shape (n_rows,), optional
        The queries of the training rows, for a ranker.
    sample_weight : array, shape (n_rows,), optional
        Weights of the training rows.
    scoring : callable, optional
        From target, predictions and queries to a number, larger is better; None means NDCG@k of a ranker, the
        accuracy of a classifier, minus the mean squared error of a regressor.
    every : int
        Evaluate after every so many rounds, and after the last.
    n_jobs : int, optional
        Number of settings fitted in parallel, as in joblib.

    Returns
    -------
    Frontier
        One point per trade-off and round: ``params`` has the ``tradeoff``, ``details`` the number of rounds,
        ``n_rounds``, and the cost of the model by equation 3 of the paper, ``model_cost``: that of its trees,
        at ``tree_cost`` each, and of all features that it may look at. The curve of each trade-off is in
        ``path.by("tradeoff")``, and its ``best`` is the round to take.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 3))
    >>> y = X[:, 0] + 0.1 * X[:, 1]
    >>> model = GreedyMiserRegressor(n_estimators=20, relative=True, costs=[1, 5, 5])
    >>> path = miser_path(model, X[:100], y[:100], tradeoffs=[0.0, 0.1], validation=(X[100:], y[100:]))
    >>> [curve.best.details["model_cost"] for curve in path.by("tradeoff").values()]
    [11.0, 1.0]
    """
    paths = _PathFits.of(estimator, X, y, qid=qid, sample_weight=sample_weight, n_jobs=n_jobs)
    evaluation = paths.evaluation(scoring, validation, test, every)
    if isinstance(tradeoffs, Integral):
        return paths.frontier(_spread_points(paths, evaluation, int(tradeoffs)))
    if not isinstance(tradeoffs, Iterable) or getattr(tradeoffs, "shape", None) == ():
        raise TypeError(f"tradeoffs must be values of lambda, or how many to find; got {tradeoffs!r}")
    values = [float(value) for value in tradeoffs]
    curves = paths.curves(evaluation, [({"tradeoff": v}, {"tradeoff": v}, paths.rows) for v in values])
    return paths.frontier(curves)


def subset_path(
    estimator: GreedyMiser,
    X: Any,
    y: Any,
    *,
    thresholds: Iterable[float],
    validation: Rows,
    test: Rows | None = None,
    qid: Any = None,
    sample_weight: Any = None,
    scoring: Scoring | None = None,
    every: int = 1,
    n_jobs: int | None = None,
) -> Frontier:
    """Fit the plain booster on the features up to a price, for several prices: the paper's feature subsets.

    Parameters
    ----------
    estimator, X, y, validation, test, qid, sample_weight, scoring, every, n_jobs
        As in `miser_path`; the estimator's trade-off is set to 0.
    thresholds : iterable of float
        Prices; a feature is used if it costs no more than this when bought alone.

    Returns
    -------
    Frontier
        As that of `miser_path`, with the ``threshold`` in ``params``.

    Examples
    --------
    >>> from farthing.boosting import GreedyMiserRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(200, 2))
    >>> model = GreedyMiserRegressor(n_estimators=20, costs=[5, 1])
    >>> path = subset_path(model, X, X[:, 0], thresholds=[1, 5], validation=(X, X[:, 0]))
    >>> [curve.best.details["model_cost"] for curve in path.by("threshold").values()]
    [1.0, 5.0]
    """
    paths = _PathFits.of(estimator, X, y, qid=qid, sample_weight=sample_weight, n_jobs=n_jobs)
    evaluation = paths.evaluation(scoring, validation, test, every)
    costs = paths.rows.costs
    prices = np.array([costs.price(name) for name in costs.features])
    settings: list[_Setting] = [
        ({"threshold": float(threshold)}, {"tradeoff": 0.0}, _without(paths.rows, prices > threshold))
        for threshold in thresholds
    ]
    return paths.frontier(paths.curves(evaluation, settings))


# What names the points of a curve, the parameters of its fit, and the rows that it is fitted on.
_Setting = tuple[Mapping[str, float], Mapping[str, Any], TrainingSet]


@dataclass(frozen=True, eq=False)
class _PathFits:
    """The fits of a path. All use the same rows, which are prepared once."""

    estimator: GreedyMiser
    rows: TrainingSet
    n_jobs: int | None

    @classmethod
    def of(
        cls, estimator: GreedyMiser, X: Any, y: Any, *, qid: Any, sample_weight: Any, n_jobs: int | None
    ) -> _PathFits:
        """Check the arguments that the paths share."""
        if not isinstance(estimator, GreedyMiser):
            raise TypeError(f"a path takes a Greedy Miser; got {type(estimator).__name__}")
        if estimator.validation_fraction is not None:
            raise ValueError("a path has validation rows of its own; set validation_fraction to None")
        if qid is not None and not isinstance(estimator, GreedyMiserRanker):
            raise TypeError(f"{type(estimator).__name__} takes no queries; leave qid out")
        queries = None if qid is None else query_codes(qid, len(np.asarray(y)))
        return cls(estimator, estimator.training_set(X, y, sample_weight, qid=queries), n_jobs)

    def evaluation(
        self, scoring: Scoring | None, validation: Rows, test: Rows | None, every: int
    ) -> RoundEvaluation:
        """Return how the models of the path are evaluated."""
        check_whole("every", every, 1)
        schema = self.rows.schema
        on_validation = EvaluationRows(validation, schema, "validation")
        on_test = on_validation if test is None else EvaluationRows(test, schema, "test")
        score = default_scoring(self.estimator) if scoring is None else scoring
        return RoundEvaluation(score, on_validation, on_test, int(every))

    def fit(self, params: Mapping[str, Any], rows: TrainingSet) -> GreedyMiser:
        """Fit a clone with other parameters, on one thread."""
        # One thread per fit, as the fits run in parallel.
        model: GreedyMiser = clone(self.estimator).set_params(**params, n_jobs=1)
        return model.fit_rows(rows)

    def curves(self, evaluation: RoundEvaluation, settings: Sequence[_Setting]) -> list[list[Point]]:
        """Fit each setting and evaluate its rounds; one list of points per setting."""
        for _, _, rows in settings:
            rows.bins(self.estimator.max_bins, n_threads(self.n_jobs))  # before the fits, which share them

        def curve(names: Mapping[str, float], params: Mapping[str, Any], rows: TrainingSet) -> list[Point]:
            return evaluation.points(self.fit(params, rows), names)

        return list(
            # Threads suffice, since the core releases the GIL, and they share the prepared table.
            Parallel(n_jobs=self.n_jobs, prefer="threads")(delayed(curve)(*setting) for setting in settings)
        )

    def frontier(self, curves: Iterable[Sequence[Point]]) -> Frontier:
        """Return the points of all curves."""
        costs = self.rows.costs
        points = tuple(point for curve in curves for point in curve)
        return Frontier(points, unit=costs.unit, full_cost=costs.total(costs.features))


def _spread_points(paths: _PathFits, evaluation: RoundEvaluation, n_tradeoffs: int) -> list[Sequence[Point]]:
    """Fit at trade-offs that are chosen by the spends of the models so far."""
    if n_tradeoffs < 1:
        raise ValueError(f"tradeoffs must be values, or how many to try, at least 1; got {n_tradeoffs}")
    curves: dict[float, Sequence[Point]] = {}

    def buys(tradeoff: float) -> bool:
        """Return whether the first splits of the first round cost anything."""
        # A single stump is a cheap test, and gains are usually largest in the first split. A budget would
        # refuse purchases that the trade-off allows.
        first = {"tradeoff": tradeoff, "n_estimators": 1, "max_depth": 1, "budget": None}
        model = paths.fit(first, paths.rows).fitted_
        return model.costs.total(model.tested()) > 0

    def spend_at(tradeoffs: Sequence[float]) -> list[float]:
        settings = [({"tradeoff": value}, {"tradeoff": value}, paths.rows) for value in tradeoffs]
        curves.update(zip(tradeoffs, paths.curves(evaluation, settings), strict=True))
        return [curves[value][-1].spend for value in tradeoffs]

    found = spread_tradeoffs(n_tradeoffs, largest_tradeoff(buys), spend_at)
    return [curves[value] for value in found]


def _without(rows: TrainingSet, columns: NDArray[np.bool_]) -> TrainingSet:
    """Return the rows with some columns missing throughout, so that no tree splits on them."""
    if not columns.any():
        return rows
    # Missing rather than removed: the schema stays, so the evaluation rows fit every model of the path.
    encoded = replace(rows.table.encoded, values=np.where(columns, np.nan, rows.values))
    return replace(rows, table=PreparedTable(rows.schema, encoded))
