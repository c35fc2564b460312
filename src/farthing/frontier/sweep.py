"""Fit many settings of many methods, and measure the spend and the score of each."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import is_classifier

from farthing.base import BudgetKind, ErrorCosts, Frontier, SweepContext
from farthing.base.files import PathLike
from farthing.base.inputs import check_cap
from farthing.costs import CostSheet, CostsLike
from farthing.errors import TableError
from farthing.frontier.candidates import candidates
from farthing.frontier.data_split import SweepRows, split_rows, trial_rows
from farthing.frontier.fold_curves import SettingCurves
from farthing.frontier.positive_label import positive_scorer
from farthing.frontier.record_sweep import sweep_records
from farthing.frontier.result_cache import ResultCache
from farthing.frontier.schedule import TimeLimits, run_all
from farthing.frontier.scorers import scorer_of
from farthing.frontier.sweep_run import SweepRun, gather
from farthing.learning.unordered import check_missing
from farthing.table import PreparedTable, encode


def sweep(
    methods: Any,
    X: Any,
    y: Any,
    costs: CostsLike = None,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    validation: tuple[Any, ...] | None = None,
    test_size: float = 0.25,
    budget: float | None = None,
    budget_kind: BudgetKind = "mean",
    sample_weight: Any = None,
    qid: Any = None,
    missing: str = "measured",
    memory: PathLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    random_state: int = 0,
) -> Frontier:
    """Fit settings of any methods, and measure their spend and score on held-out rows.

    One fit may give many points: the ``variants`` of a method are further models from the same fit.

    Parameters
    ----------
    methods : "auto", "all", or iterable of names, classes, estimators and pairs of one of these and a grid
        "auto" is a selection of up to a dozen settings; "all" is every registered method that can learn the
        target, with its whole grid: many times as many fits. An estimator stands for itself alone. One that
        does not keep the contract pays for every feature.
    X : array, frame or PreparedTable, shape (n_rows, n_features)
        Read once, whatever the number of fits. Or a Dask array or dataframe: its rows stay on the workers of
        the active client, which make one fit after another together; "auto" and "all" are then the methods
        that learn from collections.
    y : array, shape (n_rows,)
        Labels or numbers.
    costs : CostSheet, mapping, array, Series, path or None
        Prices of the features; None means 1 each.
    scoring : str, callable, ErrorCosts or None
        See `farthing.frontier.scorers.scorer_of`. None means accuracy for labels, the negated mean squared
        error for numbers.
    pos_label : label, optional
        The positive one of two labels, for scores such as "f1"; without it they must be 0 and 1.
    cv : int, splitter or None
        Folds, as in scikit-learn; None means one split.
    validation : tuple (X, y) or (X, y, qid), optional
        Rows to evaluate on, in place of folds.
    test_size : float
        Share of the rows to evaluate on, if there is one split.
    budget : float, optional
        With budget_kind="mean", methods that aim at a mean budget are given it. With budget_kind="hard",
        methods that train for a hard budget are given it, and no prediction of any method exceeds it.
    budget_kind : {"mean", "hard"}
        Whether the budget limits the mean spend or the spend of every row.
    sample_weight : array, shape (n_rows,), optional
        Weight of each row, in fits and in scores.
    qid : array, shape (n_rows,), optional
        The query of each row, for rankings; splits keep queries whole, and "auto" tries rankers.
    missing : {"measured", "unordered"}
        What a missing entry means. "unordered": nobody ordered the test. Methods learn from rows completed by
        draws from similar records, and the ``details`` of each Pareto point have direct, inverse-propensity
        and doubly robust estimates of spend and accuracy, with intervals, from the held-out records as they
        are; see `farthing.learning.unordered`. Its spend and score are those of completed rows.
    memory : path, optional
        A folder for results. A sweep that was interrupted continues where it stopped if it is started again
        with the same folder.
    n_jobs : int, optional
        Number of fits in parallel, through joblib; its ``parallel_config`` may send them to a cluster. None
        is one after another, each with as many threads as it is worth.
    progress : bool
        Whether to show a progress bar.
    time_limit : float, optional
        Seconds after which no new fit is started, and those under way are cut off.
    random_state : int
        Seed of the single split, and of stochastic methods that have no seed of their own.

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
    rows = SweepRows.of(X, y, sample_weight, qid)

    def run(rows: SweepRows, validation: tuple[Any, ...] | None) -> Frontier:
        return run_sweep(
            methods,
            rows,
            costs,
            scoring=scoring,
            pos_label=pos_label,
            cv=cv,
            validation=validation,
            test_size=test_size,
            budget=budget,
            budget_kind=budget_kind,
            memory=memory,
            n_jobs=n_jobs,
            progress=progress,
            time_limit=time_limit,
            random_state=random_state,
        )[0]

    if not check_missing(missing):
        return run(rows, validation)
    if cv is not None:
        raise ValueError("missing='unordered' takes one split; leave out cv, or give validation")
    return sweep_records(run, rows, validation, test_size=test_size, random_state=random_state)


def run_sweep(
    methods: Any,
    rows: SweepRows,
    costs: CostsLike = None,
    *,
    scoring: Any = None,
    pos_label: Any = None,
    cv: Any = None,
    validation: tuple[Any, ...] | None = None,
    test_size: float = 0.25,
    budget: float | None = None,
    budget_kind: BudgetKind = "mean",
    memory: PathLike | None = None,
    n_jobs: int | None = None,
    progress: bool = False,
    time_limit: float | None = None,
    random_state: int = 0,
    classifies: bool | None = None,
    ranks: bool | None = None,
    fit_limit: float | None = None,
    is_race: bool = False,
) -> tuple[Frontier, list[SettingCurves]]:
    """Return the frontier of `sweep` and the curves of each setting; parameters as there.

    Parameters
    ----------
    rows : SweepRows
        The rows, with their targets and weights.
    classifies : bool, optional
        Whether the targets are classes; None means that they are unless they are floats.
    ranks : bool, optional
        Whether rows are documents to rank; None means that they are if they belong to queries.
    fit_limit : float, optional
        Seconds that one fit may take under a time limit, if its setting is fitted once more afterwards.
    is_race : bool
        Whether settings that cannot win are fitted on a part of the folds, or of the rows, only; see
        `farthing.frontier.race`.
    """
    if budget_kind not in ("mean", "hard"):
        raise ValueError(f"budget_kind must be 'mean' or 'hard'; got {budget_kind!r}")
    if cv is not None and validation is not None:
        raise ValueError("cv and validation are two ways to hold out rows; give one of them")
    cap = check_cap(budget)
    whole = rows
    if cv is None or isinstance(cv, int):  # else the folds are of all rows
        whole = whole.of_positive_weight()
    if rows.is_collection:
        if validation is not None:
            raise TableError("validation= needs rows in this process; collections hold out rows by cv=")
        n_jobs = 1  # the workers of the cluster fit one model together
    held_out = None if validation is None else _held_out(whole, *validation)
    sheet = CostSheet.of(costs, whole.table.schema.names)
    ranks = whole.qid is not None if ranks is None else ranks
    has_classes = whole.has_classes() and not ranks if classifies is None else classifies
    n_classes = len(np.unique(whole.y)) if has_classes else None
    if isinstance(scoring, ErrorCosts):
        # Over the labels of all rows: those of a fold may be fewer.
        scoring = scoring.over(np.unique(whole.y))
    context = SweepContext(
        *whole.table.shape,
        n_classes,
        sheet,
        cap,
        budget_kind,
        random_state,
        ranks,
        scoring if isinstance(scoring, ErrorCosts) else None,
        rows.is_collection,
    )
    tried = candidates(methods, context, fast_first=time_limit is not None)
    if classifies is None and tried:
        has_classes = is_classifier(tried[0].estimator)
    folds = [] if held_out else split_rows(whole, cv, test_size, random_state, classifies=has_classes)
    if rows.is_collection:
        folds = [(np.sort(learn), np.sort(evaluate)) for learn, evaluate in folds]
    if has_classes:
        scoring = positive_scorer(scoring, pos_label, whole.y)
    elif pos_label is not None:
        raise ValueError("pos_label is for labels; the target is a number")
    scorer = scorer_of(scoring, classifies=has_classes)
    hard, mean = (cap, None) if budget_kind == "hard" else (None, cap)
    # Queries stay whole, so rankings are not tried on a part of their rows.
    trial = trial_rows(folds, random_state) if is_race and whole.qid is None else None
    run = SweepRun(whole, held_out, folds, scorer, sheet, cap=hard, aim=mean, trial=trial, n_jobs=n_jobs)
    cache = ResultCache(memory)
    limits = None if time_limit is None else TimeLimits(time_limit, fit_limit)
    found = run_all(
        run, tried, cache, n_jobs=n_jobs, progress=progress, limits=limits, is_race=is_race and bool(folds)
    )
    return gather(run, tried, found.results, found.left)


def _held_out(rows: SweepRows, X: Any, y: Any, qid: Any = None) -> SweepRows:
    """Prepare validation rows under the columns of the training rows, found by name in any order."""
    schema = rows.table.schema
    encoded = encode(schema, X, "sweep")
    encoded.warn_unseen()  # here, once, and not for each candidate
    return SweepRows.of(PreparedTable(schema, encoded, X), y, None, qid)
