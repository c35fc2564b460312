"""Fit many settings of many methods, and see what each pays and scores."""

from __future__ import annotations

import inspect
import json
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from numpy.typing import NDArray
from sklearn.base import clone, is_classifier

from farthing.base.files import PathLike
from farthing.base.inputs import check_cap
from farthing.costs import CostSheet
from farthing.frontier.candidates import Candidate, Ground, Kind, candidates
from farthing.frontier.data_split import Part, folds_of
from farthing.frontier.frontier import Failure, Frontier, Point
from farthing.frontier.progress_bar import Progress
from farthing.frontier.result_cache import ResultCache, digest
from farthing.frontier.scorers import Evaluation, Scorer, scorer_of
from farthing.table import Schema

# Results of an older way of sweeping are not read again.
_VERSION = 3


@dataclass(frozen=True, eq=False)
class Bench:
    """Where candidates are tried: the folds, the judge, the cap of each row.

    Attributes
    ----------
    whole : Part
        The rows to learn from, or all rows if folds are taken of them.
    held : Part or None
        Rows of their own to judge by; None takes folds.
    folds : list of pairs of row numbers
        To learn from and to judge by; empty with rows of their own.
    judge : Scorer
        Gives the scores.
    costs : CostSheet
        The prices, in the order of the columns.
    cap : float or None
        A hard budget at prediction.
    """

    whole: Part
    held: Part | None
    folds: Sequence[tuple[NDArray[np.int64], NDArray[np.int64]]]
    judge: Scorer
    costs: CostSheet
    cap: float | None

    @property
    def n_folds(self) -> int:
        """How often each candidate is fitted."""
        return max(len(self.folds), 1)

    def parts(self, fold: int) -> tuple[Part, Part]:
        """Return the rows to learn from and those to judge by."""
        if self.held is not None:
            return self.whole, self.held
        learn, judge = self.folds[fold]
        return self.whole.take(learn).counted(), self.whole.take(judge).counted()

    def overlap(self) -> float:
        """Return how often a judged row is judged, in the mean: repeats add no new rows."""
        if not self.folds:
            return 1.0
        judged = np.concatenate([rows for _, rows in self.folds])
        return len(judged) / len(np.unique(judged))

    def name(self) -> str:
        """Return a name for all of this but the candidates."""
        parts = [self.whole] if self.held is None else [self.whole, self.held]
        tables = [(_plain(part.X), part.y.astype(str), part.weights, part.qid) for part in parts]
        judge = getattr(self.judge, "_scorer", None) or repr(self.judge)
        scoring = self.judge.name, judge if not isinstance(judge, str) or " at 0x" not in judge else ""
        return digest(_VERSION, tables, self.folds, scoring, repr(self.costs), self.cap)


def sweep(
    methods: Any,
    X: Any,
    y: Any,
    costs: Any = None,
    *,
    scoring: Any = None,
    cv: Any = None,
    validation: tuple[Any, ...] | None = None,
    test_size: float = 0.25,
    budget: float | None = None,
    budget_kind: Kind = "mean",
    sample_weight: Any = None,
    qid: Any = None,
    memory: PathLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    random_state: int = 0,
) -> Frontier:
    """Fit settings of any methods on some rows, and see what they pay and score on others.

    One fit may give many points: a method says by its ``variants`` which other models come out of it.

    Parameters
    ----------
    methods : "auto", "all", or iterable of names, classes, estimators and pairs of one of these and a grid
        "auto" is a choice of some twenty fits that suit most tables; "all" is every registered method that
        can learn the target with the whole grid that it registered, many times as many. An estimator stands
        for itself alone. One that does not keep the contract pays for every feature.
    X : array or frame, shape (n_rows, n_features)
    y : array, shape (n_rows,)
        Labels or numbers.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None is 1 each.
    scoring : str, callable, ErrorCosts or None
        See `farthing.frontier.scorers.scorer_of`. None is accuracy for labels, the negated mean squared error
        for numbers.
    cv : int, splitter or None
        Folds, as in scikit-learn; None is one split.
    validation : tuple of X, y and perhaps qid, optional
        Rows to judge by, in place of folds.
    test_size : float
        The share of rows to judge by, if there is one split.
    budget : float, optional
        With budget_kind="mean", methods that aim at a mean budget are told it. With budget_kind="hard", methods that
        train for a hard budget are told it, and no prediction of any method goes beyond it.
    budget_kind : {"mean", "hard"}
        What the budget is.
    sample_weight : array, shape (n_rows,), optional
        What rows count, in learning and in scores.
    qid : array, shape (n_rows,), optional
        The query of each row, for rankings; splits keep queries whole.
    memory : path, optional
        A folder where results are kept. A sweep that was interrupted, and is started again with the same
        folder, goes on where it stopped.
    n_jobs : int, optional
        Fits side by side, through joblib; its ``parallel_config`` may send them to a cluster.
    progress : bool
        Whether to show a bar.
    time_limit : float, optional
        Seconds after which no new fit is begun.
    random_state : int
        Of the one split, and of methods that draw lots and have no seed of their own.

    Returns
    -------
    Frontier
        A setting that fails is among its ``failures``.

    Examples
    --------
    >>> from farthing.datasets import load_heart_disease
    >>> heart = load_heart_disease()
    >>> frontier = sweep([("BudgetTreeClassifier", {"max_depth": [1, 3]})], heart.X, heart.y, heart.costs)
    >>> [point.params["max_depth"] for point in frontier]
    [1, 3]
    """
    if budget_kind not in ("mean", "hard"):
        raise ValueError(f"budget_kind must be 'mean' or 'hard'; got {budget_kind!r}")
    cap = check_cap(budget)
    whole = Part.of(X, y, sample_weight, qid)
    if cv is None or isinstance(cv, int):  # else the folds are of all rows
        whole = whole.counted()
    held = None if validation is None else Part.of(validation[0], validation[1], None, *validation[2:])
    schema = Schema.learn(whole.X, "sweep")
    sheet = CostSheet.of(costs, schema.names)
    tried = candidates(methods, _ground(whole, schema, sheet, cap, budget_kind, random_state))
    classifies = is_classifier(tried[0].estimator) if tried else whole.has_classes()
    bench = Bench(
        whole,
        held,
        [] if held is not None else folds_of(whole, cv, test_size, random_state, classifies=classifies),
        scorer_of(scoring, classifies=classifies),
        sheet,
        cap if budget_kind == "hard" else None,
    )
    return _run(bench, tried, ResultCache(memory), n_jobs=n_jobs, progress=progress, time_limit=time_limit)


def _run(
    bench: Bench,
    tried: Sequence[Candidate],
    memory: ResultCache,
    *,
    n_jobs: int | None,
    progress: bool,
    time_limit: float | None,
) -> Frontier:
    end = math.inf if time_limit is None else time.monotonic() + time_limit
    tasks = [(place, fold) for place in range(len(tried)) for fold in range(bench.n_folds)]
    where = bench.name() if memory.is_kept else ""
    results: dict[tuple[int, int], Any] = {}
    with Progress(len(tasks), "fits", shown=progress) as bar:

        def left() -> Iterator[Any]:
            for place, fold in tasks:
                name = digest(where, _setting(tried[place]), fold) if memory.is_kept else ""
                found = memory.get(name) if memory.is_kept else None
                if found is not None:
                    results[place, fold] = found
                    bar.step()
                elif time.monotonic() < end or place == 0:
                    yield delayed(_try)(bench, tried[place], (place, fold), memory, name)

        pool = Parallel(n_jobs=n_jobs, return_as="generator_unordered")
        for task, result in pool(left()):
            results[task] = result
            bar.step()
    return _gather(bench, tried, results)


def _try(
    bench: Bench, candidate: Candidate, task: tuple[int, int], memory: ResultCache, name: str
) -> tuple[tuple[int, int], Any]:
    """Fit one candidate on one fold; return what its variants pay and score, or why it failed."""
    learn, judge = bench.parts(task[1])
    try:
        model = clone(candidate.estimator)
        model.fit(learn.X, learn.y, **_fit_options(model, learn))
        rows = []
        for params, variant in _variants(model):
            told = listen(variant, judge, bench.costs, bench.cap)
            score, error = bench.judge(told)
            loss = _loss(bench.judge, told)
            rows.append([dict(params), told.mean(told.spend), float(told.spend.max()), score, error, loss])
        result: Any = {"rows": rows, "weight": judge.weight()}
    except Exception as error:  # whatever a method raises is one point that failed
        result = {"error": f"{type(error).__name__}: {error}"}
    else:
        result = json.loads(json.dumps(result))  # what a memory would give back
    memory.put(name, result)
    return task, result


def _loss(judge: Scorer, told: Evaluation) -> float:
    loss = getattr(judge, "loss", None)
    return math.nan if loss is None else loss(told)


def listen(model: Any, part: Part, costs: CostSheet, cap: float | None) -> Evaluation:
    """Return what a fitted model says about rows, and what they pay for it.

    Parameters
    ----------
    model : estimator
        Of the contract; any other pays for every feature, whatever it looks at.
    part : Part
        The rows.
    costs : CostSheet
        The prices.
    cap : float or None
        A hard budget.
    """
    classes = model.classes_ if is_classifier(model) else None
    if hasattr(model, "decide"):
        asked = "qid" in inspect.signature(model.decide).parameters and part.qid is not None
        options = {"qid": part.qid} if asked else {}
        decided = model.decide(part.X, budget=cap, **options)
        prediction, probabilities, spend = decided.prediction, decided.probabilities, decided.spent
    else:
        prediction = model.predict(part.X)
        probabilities = model.predict_proba(part.X) if hasattr(model, "predict_proba") else None
        spend = np.full(len(part.y), costs.total(costs.features))
    return Evaluation(part.y, prediction, probabilities, spend, classes, part.weights, part.qid)


def _gather(bench: Bench, tried: Sequence[Candidate], results: dict[tuple[int, int], Any]) -> Frontier:
    points: list[Point] = []
    failures: list[Failure] = []
    n_skipped = 0
    for place, candidate in enumerate(tried):
        folds = [results.get((place, fold)) for fold in range(bench.n_folds)]
        reason = next((fold["error"] for fold in folds if fold is not None and "error" in fold), None)
        if reason is not None:
            failures.append(Failure(candidate.method, candidate.params, reason))
        elif missing := sum(fold is None for fold in folds):
            n_skipped += missing
        else:
            points += _points(candidate, folds, bench.overlap())
    return Frontier(
        tuple(points),
        tuple(failures),
        bench.judge.name,
        bench.costs.unit or "",
        bench.costs.total(bench.costs.features),
        n_skipped,
    )


def _points(candidate: Candidate, folds: Sequence[Any], overlap: float) -> list[Point]:
    """Return a point for each variant that every fold has."""
    weights = np.array([fold["weight"] for fold in folds])
    shares = weights / weights.sum()
    by_variant = [{json.dumps(row[0], sort_keys=True): row for row in fold["rows"]} for fold in folds]
    found = []
    for key, first in by_variant[0].items():
        if not all(key in variants for variants in by_variant):
            continue
        rows = np.array([variants[key][1:] for variants in by_variant], dtype=np.float64)
        errors = shares * rows[:, 3]
        found.append(
            Point(
                candidate.method,
                {**candidate.params, **first[0]},
                float(shares @ rows[:, 0]),
                float(rows[:, 1].max()),
                float(shares @ rows[:, 2]),
                float(np.sqrt(overlap * np.sum(errors**2))),
                float(shares @ rows[:, 4]),
                _with(candidate.estimator, first[0]),
            )
        )
    return found


def _with(estimator: Any, params: Mapping[str, Any]) -> Any:
    """Return an unfitted estimator with other parameters; there are hundreds, and a clone takes a while."""
    made = copy(estimator)
    for name, value in params.items():
        outer, _, inner = name.partition("__")
        setattr(made, outer, _with(getattr(made, outer), {inner: value}) if inner else value)
    return made


def _variants(model: Any) -> Iterator[tuple[dict[str, Any], Any]]:
    if hasattr(model, "variants"):
        yield from model.variants()
    else:
        yield {}, model


def _fit_options(model: Any, part: Part) -> dict[str, Any]:
    taken = inspect.signature(model.fit).parameters
    given = {"sample_weight": part.weights, "qid": part.qid}
    return {name: value for name, value in given.items() if value is not None and name in taken}


def _setting(candidate: Candidate) -> Any:
    """Return what tells a candidate from others; the prices are named with the table."""
    params = {
        name: value
        for name, value in candidate.estimator.get_params().items()
        if name.split("__")[-1] != "costs"
    }
    kind = type(candidate.estimator)
    return kind.__module__, kind.__qualname__, sorted(params.items(), key=lambda item: item[0])


def _plain(X: Any) -> Any:
    schema = Schema.learn(X, "sweep")
    return (
        schema.names,
        [list(map(str, c.categories)) for c in schema.columns],
        schema.encode(X, "sweep").values,
    )


def _ground(  # noqa: PLR0917 - all that there is to know
    part: Part, schema: Schema, sheet: CostSheet, cap: float | None, budget_kind: Kind, random_state: int
) -> Ground:
    n_classes = len(np.unique(part.y)) if part.has_classes() else None
    return Ground(len(part.y), len(schema.names), n_classes, sheet, cap, budget_kind, random_state)
