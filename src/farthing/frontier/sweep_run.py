"""One fit of a sweep, evaluated, and the results of all fits gathered into points."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, Final, TypeAlias

import numpy as np
from joblib import effective_n_jobs, parallel_config
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from farthing.base import AnyBudgetMixin, BudgetedEstimator, Failure, Frontier
from farthing.base.fit_time import FitTime
from farthing.base.inputs import n_cores
from farthing.base.score_words import WEIGHTED
from farthing.costs import CostSheet, spending_limit
from farthing.deadline import DeadlineReached, check_deadline, deadline
from farthing.frontier.aiming import aim_at
from farthing.frontier.candidates import Candidate
from farthing.frontier.curve_errors import CurveErrors
from farthing.frontier.data_split import SweepRows
from farthing.frontier.fold_curves import FoldCurve, SettingCurves
from farthing.frontier.result_cache import ResultCache, digest
from farthing.frontier.row_values import RowValues, RowValuesOf
from farthing.frontier.scorers import Evaluation, Scorer
from farthing.walks import Decisions

# The place of a candidate, and a fold.
Task: TypeAlias = tuple[int, int]
# By task, what `fit_and_score` returned.
Results: TypeAlias = dict[Task, Any]

TRIAL: Final = -1
"""The number of the fold that is a part of the rows."""

# Cached results of an older version of this code are not read again.
_VERSION: Final = 8
# Folds are kept, so that all candidates share their bins, unless they would take more memory than this.
_MOST_KEPT_BYTES: Final = 2**29
# The spend of the rows learned from is measured on at most so many of them.
_MOST_ROWS: Final = 2000


@dataclass(frozen=True, eq=False)
class SweepRun:
    """The setting of a sweep: the folds, the scorer, and the cap of each row.

    Parameters
    ----------
    whole : SweepRows
        The rows to learn from, or all rows if folds are taken of them.
    held_out : SweepRows or None
        Rows of their own to evaluate on; None takes folds.
    folds : list of pairs of row numbers
        To learn from and to evaluate on; empty with rows of their own.
    scorer : Scorer
        Gives the scores.
    costs : CostSheet
        The prices, in the order of the columns.
    cap : float or None
        A hard budget at prediction.
    aim : float or None
        A mean budget that models will be aimed at.
    trial : pair of row numbers, optional
        A part of the rows of the only fold, on which a race begins; its number is `TRIAL`.
    n_jobs : int, optional
        Number of fits in parallel. None is one after another, each with as many threads as it is worth.
    """

    whole: SweepRows
    held_out: SweepRows | None
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
    scorer: Scorer
    costs: CostSheet
    cap: float | None
    aim: float | None = None
    trial: tuple[NDArray[np.int64], NDArray[np.int64]] | None = None
    n_jobs: int | None = None
    _kept: dict[int, tuple[SweepRows, SweepRows]] = field(default_factory=dict, init=False, repr=False)

    @property
    def n_folds(self) -> int:
        """Number of fits per candidate."""
        return max(len(self.folds), 1)

    @property
    def n_cells(self) -> int:
        """Rows times columns of the table."""
        n_rows, n_columns = self.whole.table.shape
        return n_rows * n_columns

    def rows_of(self, fold: int) -> tuple[SweepRows, SweepRows]:
        """Return the rows to learn from and those to evaluate on."""
        if self.held_out is not None:
            return self.whole, self.held_out
        if fold in self._kept:
            return self._kept[fold]
        learn, evaluate = (self.whole.take(rows).of_positive_weight() for rows in self._pair(fold))
        if self.whole.n_bytes * self.n_folds <= _MOST_KEPT_BYTES:
            self._kept[fold] = learn, evaluate
        return learn, evaluate

    def held_out_numbers(self, fold: int) -> NDArray[np.int64]:
        """Return the numbers of the rows that `rows_of` holds out."""
        if self.held_out is not None:
            return np.arange(len(self.held_out.y))
        rows = self._pair(fold)[1]
        weights = self.whole.weights
        return rows if weights is None else rows[weights[rows] > 0]

    def _pair(self, fold: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        if fold != TRIAL:
            return self.folds[fold]
        if self.trial is None:
            raise LookupError("there is no trial")
        return self.trial

    def overlap(self) -> float:
        """Return how often a row is evaluated, on average: repeated folds add no new rows."""
        if not self.folds:
            return 1.0
        evaluated = np.concatenate([rows for _, rows in self.folds])
        return len(evaluated) / len(np.unique(evaluated))

    def digest(self) -> str:
        """Return a name for all but the candidates, under which results are cached."""
        parts = [self.whole] if self.held_out is None else [self.whole, self.held_out]
        tables = [
            (part.content(), part.y.astype(str), part.weights, part.qid, part.factors) for part in parts
        ]
        return digest(
            _VERSION,
            tables,
            self.folds,
            self.trial,
            self.scorer.identity(),
            repr(self.costs),
            self.cap,
            self.aim,
        )

    def __getstate__(self) -> dict[str, Any]:
        # Each worker process takes its own rows: sending those of all folds would cost more.
        return {**self.__dict__, "_kept": {}}


@dataclass(frozen=True)
class FitLimits:
    """The name of a result in the cache, and when its fit is to be cut off."""

    name: str
    end: float  # seconds since the epoch
    most: float  # seconds of the fit

    def moment(self) -> float | None:
        """Return when to stop; None means never."""
        moment = min(self.end, time.time() + self.most)
        return None if math.isinf(moment) else moment


def fit_and_score(
    run: SweepRun,
    candidate: Candidate,
    task: Task,
    cache: ResultCache,
    limits: FitLimits,
) -> tuple[Task, Any]:
    """Fit one candidate on one fold, and score it.

    Returns
    -------
    task : Task
        As given.
    result : dict or None
        Spend and score of its variants, or why it failed; None if the time was over.
    """
    start = time.perf_counter()
    fit_seconds = math.nan
    try:
        with deadline(limits.moment()), all_cores(run.n_jobs):
            result, fit_seconds = _measure(run, candidate, task[1])
    except DeadlineReached:
        return task, None
    except Exception as error:  # whatever a method raises is one point that failed
        result = {"error": f"{type(error).__name__}: {error}"}
    cache.put(limits.name, result)
    # Times are not cached: the same sweep gives the same files.
    return task, {**result, "seconds": time.perf_counter() - start, "fit_seconds": fit_seconds}


@contextmanager
def all_cores(n_jobs: int | None) -> Iterator[None]:
    """Let estimators without a number of jobs use the threads of all cores, unless jobs run side by side.

    Parameters
    ----------
    n_jobs : int, optional
        Number of jobs side by side; None is one, unless joblib was told otherwise.
    """
    if n_jobs is not None or effective_n_jobs(None) != 1:
        yield
        return
    with parallel_config(backend="threading", n_jobs=n_cores()):
        yield


def _measure(run: SweepRun, candidate: Candidate, fold: int) -> tuple[Any, float]:
    """Return what a cache holds of a fit, and the seconds that it took."""
    learn, held_out = run.rows_of(fold)
    start = time.perf_counter()
    model = learn.fit(clone(candidate.estimator))
    seconds = time.perf_counter() - start
    rows: list[list[Any]] = []
    best = (-math.inf, -math.inf, model, 0.0)
    slow = CurveErrors(run.scorer)
    values = RowValuesOf(run.held_out_numbers(fold))

    def add(params: Mapping[str, Any], variant: Any, evaluation: Evaluation) -> float:
        """Add a model of the fit, and return its mean spend."""
        nonlocal best
        check_deadline()
        figures = run.scorer.figures(evaluation)
        score, error = figures.score, figures.error
        spend, most = evaluation.mean_spend(), float(evaluation.spend.max())
        if error is None:
            slow.add(len(rows), spend, score, evaluation)
        values.add(evaluation, figures)
        rows.append([dict(params), spend, most, score, error, figures.loss])
        # The variant that the aim would take: the most expensive within it, or else the cheapest.
        fits = run.aim is None or spend <= spending_limit(run.aim)
        variance = float(evaluation.spend.var()) / len(evaluation.spend)
        best = max(best, (0.0 if fits else -spend, spend, variant, variance), key=lambda one: one[:2])
        return spend

    if run.aim is None or not isinstance(model, AnyBudgetMixin) or model.budget_kind != "mean":
        for params, variant, evaluation in _evaluations(model, held_out, run.costs, run.cap):
            add(params, variant, evaluation)
    else:
        decide = held_out.decider(model, run.cap)
        for params, variant in model.variants():
            add(params, variant, _evaluation(variant, decide(variant), held_out))

        def move(budget: float) -> float:
            moved = model.at(budget)
            return add({"budget": budget}, moved, _evaluation(moved, decide(moved), held_out))

        known = [(row[0]["budget"], row[1]) for row in rows if set(row[0]) == {"budget"}]
        aim_at(run.aim, known, move)
    for place, found in slow.errors().items():
        rows[place][4] = found
    aimed = [best[1], _own_spend(best[2], learn, run), best[3]]
    kept = values.result()
    result = {
        "rows": rows,
        "weight": held_out.weight(),
        "aimed": aimed,
        "values": None if kept is None else kept.state(),
    }
    return json.loads(json.dumps(result)), seconds  # as a cache would return it


def evaluate(model: Any, rows: SweepRows, costs: CostSheet, cap: float | None) -> Evaluation:
    """Return the predictions of a fitted model for rows, and the spend of each row.

    Parameters
    ----------
    model : estimator
        An estimator of the contract; any other pays for every feature.
    rows : SweepRows
        The rows.
    costs : CostSheet
        The prices.
    cap : float or None
        A hard budget.
    """
    if isinstance(model, BudgetedEstimator):
        return _evaluation(model, rows.decide(model, cap), rows)
    prediction = model.predict(rows.X)
    probabilities = model.predict_proba(rows.X) if hasattr(model, "predict_proba") else None
    spend = np.full(len(rows.y), costs.total(costs.features))
    # It buys everything, so what is acquired is of no interest.
    return _evaluation(model, Decisions(prediction, probabilities, spend, np.empty((0, 0), bool)), rows)


def _evaluations(
    model: Any, rows: SweepRows, costs: CostSheet, cap: float | None
) -> Iterator[tuple[Mapping[str, Any], Any, Evaluation]]:
    """Yield all models of a fit, with what `evaluate` returns of each."""
    if not isinstance(model, BudgetedEstimator):
        yield {}, model, evaluate(model, rows, costs, cap)
        return
    for params, variant, decided in rows.decide_variants(model, cap):
        yield params, variant, _evaluation(variant, decided, rows)


def _evaluation(model: Any, decided: Decisions, rows: SweepRows) -> Evaluation:
    return Evaluation(
        rows.y,
        decided.prediction,
        decided.probabilities,
        decided.spent,
        model.classes_ if is_classifier(model) else None,
        rows.all_weights,
        rows.qid,
        rows.weights,
    )


def _own_spend(model: Any, learn: SweepRows, run: SweepRun) -> float:
    """Return the mean spend of the rows that a model learned from."""
    some = learn
    if len(learn.y) > _MOST_ROWS:
        some = learn.take(np.sort(np.random.default_rng(0).choice(len(learn.y), _MOST_ROWS, replace=False)))
    return evaluate(model, some, run.costs, run.cap).mean_spend()


def gather(
    run: SweepRun,
    tried: Sequence[Candidate],
    results: Results,
    left: Mapping[int, tuple[int, ...]] = MappingProxyType({}),
) -> tuple[Frontier, list[SettingCurves]]:
    """Return the points of all candidates with the failures, and the curves of each candidate.

    Parameters
    ----------
    run : SweepRun
        The rows and the scorer.
    tried : sequence of Candidate
        What was fitted.
    results : mapping
        What the fits gave.
    left : mapping
        The candidates that left a race, with the folds that they have; others need all folds.
    """
    curves: list[SettingCurves] = []
    missing_folds: dict[int, tuple[int, ...]] = {}
    failures: list[Failure] = []
    n_skipped = 0
    for place, candidate in enumerate(tried):
        numbers = left.get(place, tuple(range(run.n_folds)))
        folds = [results.get((place, fold)) for fold in numbers]
        reason = next((fold["error"] for fold in folds if fold is not None and "error" in fold), None)
        if reason is not None:
            failures.append(Failure(candidate.method, candidate.params, reason))
        elif missing := sum(fold is None for fold in folds):
            n_skipped += missing
        else:
            curves.append(curves_of(run, candidate, folds, is_finalist=place not in left))
            if place in left and TRIAL not in numbers:
                missing_folds[len(curves) - 1] = numbers
    finalists = [one for one in curves if one.is_finalist]
    for place, numbers in missing_folds.items():
        curves[place] = replace(curves[place], shift=_shift(finalists, numbers))
    frontier = Frontier(
        tuple(point for setting in curves for point in setting.points()),
        tuple(failures),
        run.scorer.name + (WEIGHTED if run.whole.factors is not None else ""),
        run.costs.unit or "",
        run.costs.total(run.costs.features),
        n_skipped,
        fit_times=_fit_times(run, tried, results),
    )
    return frontier, curves


def _shift(finalists: Sequence[SettingCurves], folds: tuple[int, ...]) -> tuple[float, float]:
    """Return by how much score and loss of the finalists are higher on all folds than on some.

    Without it, who left a race after an easy fold would look better than those who went on.
    """
    gaps = []
    for one in finalists:
        weights = np.array([fold.weight for fold in one.folds])
        means = np.array([np.median(fold.figures[:, [2, 4]], axis=0) for fold in one.folds])
        some = list(folds)
        gaps.append(
            np.average(means, axis=0, weights=weights)
            - np.average(means[some], axis=0, weights=weights[some])
        )
    score, loss = np.mean(gaps, axis=0) if gaps else (0.0, 0.0)
    return float(score), float(loss)


def curves_of(
    run: SweepRun, candidate: Candidate, folds: Sequence[Any], *, is_finalist: bool
) -> SettingCurves:
    """Return the curves of a candidate from the results of its folds."""
    return SettingCurves(candidate, [_curve(fold) for fold in folds], run.overlap(), is_finalist)


def _curve(fold: Any) -> FoldCurve:
    rows = fold["rows"]
    figures = np.array([row[1:] for row in rows], dtype=np.float64)
    aimed, own, variance = fold["aimed"]
    return FoldCurve(
        [row[0] for row in rows],
        figures,
        fold["weight"],
        aimed,
        own,
        variance,
        fold.get("seconds", 0.0),
        None if fold["values"] is None else RowValues.from_state(fold["values"]),
    )


def _fit_times(run: SweepRun, tried: Sequence[Candidate], results: Results) -> tuple[FitTime, ...]:
    """Return the mean time of a fit of each candidate that was fitted in this sweep."""
    found = []
    for place, candidate in enumerate(tried):
        folds = [results.get((place, fold), {}) for fold in range(TRIAL, run.n_folds)]
        times = [fold["fit_seconds"] for fold in folds if fold.get("fit_seconds", math.nan) > 0]
        if times:
            found.append(FitTime(candidate.method, candidate.params, sum(times) / len(times)))
    return tuple(found)


def setting(candidate: Candidate) -> Any:
    """Return a value that identifies a candidate; the prices are part of the run's digest."""
    params = {
        name: value
        for name, value in candidate.estimator.get_params().items()
        if name.split("__")[-1] != "costs"
    }
    kind = type(candidate.estimator)
    return kind.__module__, kind.__qualname__, sorted(params.items(), key=lambda item: item[0])
