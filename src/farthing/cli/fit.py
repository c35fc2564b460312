"""``farthing fit``: the best model within a budget, from a table and a price list."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from farthing.cli.app import app
from farthing.cli.cluster import (
    ClusterAddress,
    ClusterOptions,
    Settings,
    WorkerMemory,
    Workers,
    bytes_text,
    counted,
    fit_on_cluster,
)
from farthing.cli.destinations import check_destination, check_report
from farthing.cli.options import (
    Budgets,
    Costs,
    Drop,
    Jobs,
    LabelSheet,
    MemoryFolder,
    Methods,
    Positive,
    Query,
    Scoring,
    Seed,
    Separator,
    Table,
    Target,
    TaskOption,
    TimeLimit,
    Weight,
    budget_option,
    method_list,
)
from farthing.cli.output import AsJson, clear_errors, emit, point_of, warn, warn_if_skipped
from farthing.cli.problem import Problem, read_labels, read_problem
from farthing.cli.task import Task

# The part of a time limit that is kept for the report, if there is one.
_REPORT_SHARE: Final = 0.25
# Rows whose spends, purchases and answers are counted for later audits.
_REFERENCE_ROWS: Final = 2000
# Below this many rows the chosen model is fitted again without each of some parts, for its calibration.
_MOST_CROSS_FITTED, _CROSS_FITS = 3000, 3


@app.command()
def fit(  # noqa: PLR0917 - typer takes the options from here
    table: Table,
    target: Target,
    costs: Costs = None,
    labels: LabelSheet = None,
    budget: Budgets = None,
    budget_kind: Annotated[
        str,
        typer.Option(
            "--budget-kind",
            "--kind",
            help="mean: rows spend the budget on average, some more, some less; hard: no row spends more.",
        ),
    ] = "mean",
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")] = Path(
        "model.farthing"
    ),
    report: Annotated[Path | None, typer.Option(help="Where to write an HTML report.")] = None,
    task: TaskOption = None,
    drop: Drop = None,
    weight: Weight = None,
    query: Query = None,
    separator: Separator = None,
    methods: Methods = "auto",
    scoring: Scoring = None,
    positive: Positive = None,
    calibrate: Annotated[
        bool, typer.Option("--calibrate", help="Calibrate the probabilities; for labels only.")
    ] = False,
    time_limit: TimeLimit = None,
    memory: MemoryFolder = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    cluster: ClusterAddress = None,
    workers: Workers = None,
    worker_memory: WorkerMemory = None,
    settings: Settings = None,
    as_json: AsJson = False,
) -> Any:
    """Find the best model within a budget, and write it to a file.

    With --cluster or --workers, the table is one or more Parquet files that workers read, and one method
    learns from all of them.
    """
    start = time.time()
    away = ClusterOptions(cluster, workers, worker_memory)
    with clear_errors():
        if settings and not away.is_given:
            raise ValueError("--set is for a fit on a cluster; without one, methods are tried with a grid")
        # Before the work, which may take hours, rather than after it.
        check_destination(output, "--output")
        check_report(report)
        if not budget and budget_kind == "hard":
            raise ValueError("--kind hard has no effect without a budget; add --budget, such as --budget 20%")
        if away.is_given:
            away.refuse(
                report=report,
                labels=labels,
                sep=separator,
                scoring=scoring,
                positive=positive,
                calibrate=calibrate,
                time_limit=time_limit,
                memory=memory,
            )
            with away.client():
                model = fit_on_cluster(
                    table,
                    target,
                    costs,
                    budget=budget,
                    budget_kind=budget_kind,
                    task=task,
                    drop=drop,
                    weight=weight,
                    query=query,
                    methods=methods,
                    settings=settings,
                    seed=seed,
                    shown=not as_json,
                )
            model.save(output)
            _tell_of_cluster(model, output, as_json=as_json)
            return model
        problem = read_problem(
            table, target, costs, task=task, drop=drop, weight=weight, query=query, separator=separator
        )
        sheet = read_labels(labels, problem)
        model = _estimator(
            problem,
            scoring,
            positive,
            calibrate=calibrate,
            budget=budget_option(budget),
            budget_kind=budget_kind,
            methods=method_list(methods),
            time_limit=_time_of_fit(time_limit, start, reports=report is not None),
            memory=None if memory is None else str(memory),
            random_state=seed,
            n_jobs=jobs,
            progress=not as_json,
        )
        # Many fits raise the same warning; each is printed once, as one line.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            model.fit(problem.X, problem.y, sample_weight=problem.weights, **problem.queries)
        for message in dict.fromkeys(str(item.message) for item in caught):
            warn(message)
        model = _with_reference(model.with_labels(sheet), problem, seed, limited=time_limit is not None)
        # Saved before the report: if that fails, the model is not lost.
        model.save(output)
        if report is not None:
            left = None if time_limit is None else max(start + time_limit - time.time(), 0.0)
            _write_report(report, model, problem, target, time_limit=left, shown=not as_json)
    warn_if_skipped(model.frontier_)
    payload = {
        "model": str(output),
        "report": None if report is None else str(report),
        "task": str(problem.task),
        "budget": budget_option(budget),
        "full_cost": model.frontier_.full_cost,
        "unit": model.frontier_.unit,
        "score_name": model.frontier_.score_name,
        "chosen": point_of(model.chosen_, model.frontier_.score_name),
        "n_points": len(model.frontier_),
        "failures": [[f.method, f.reason] for f in model.frontier_.failures],
    }
    emit(payload, _text(model, output, report), as_json=as_json)
    return model


def _with_reference(model: Any, problem: Problem, seed: int, *, limited: bool) -> Any:
    """Return the model with counts of what it does on rows that it learned from, for later audits."""
    import numpy as np  # noqa: PLC0415 - slow to import

    few = len(problem.y) < _MOST_CROSS_FITTED and problem.weights is None
    if few and not limited and problem.task is Task.CLASSIFY and not isinstance(model.budget, Mapping):
        # What is left out may be all rows of a class. What the fit itself had to warn of is said.
        with suppress(ValueError), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return model.with_reference(problem.X, problem.y, folds=_CROSS_FITS)
    drawn = np.random.default_rng(seed).permutation(len(problem.y))[:_REFERENCE_ROWS]
    # Without the truth: predictions of rows that were learned from are right too often.
    return model.with_reference(problem.X.iloc[np.sort(drawn)])


def _tell_of_cluster(model: Any, output: Path, *, as_json: bool) -> None:
    report = model.cluster_report_
    roots = model.forest_.feature[model.forest_.offsets[:-1]]
    payload = {
        "model": str(output),
        "method": type(model).__name__,
        "n_trees": int((roots >= 0).sum()),  # without constants
        "workers": report.n_workers,
        "bytes_per_worker": report.n_bytes,
        "seconds": report.seconds,
        "losses": report.n_losses,
    }
    trees, workers = counted(payload["n_trees"], "tree"), counted(report.n_workers, "worker")
    text = (
        f"{payload['method']}: {trees} on {workers} in {report.seconds:.1f} s after binning; "
        f"the first of them moved {bytes_text(report.n_bytes)}.\n"
        f"The model is in {output}."
    )
    emit(payload, text, as_json=as_json)


def _estimator(
    problem: Problem, scoring: str | None, positive: str | None, *, calibrate: bool, **given: Any
) -> Any:
    from farthing.frontier import (  # noqa: PLC0415 - slow to import
        BudgetedClassifier,
        BudgetedRanker,
        BudgetedRegressor,
    )

    if scoring is not None:
        given["scoring"] = scoring
    if problem.task is Task.CLASSIFY:
        return BudgetedClassifier(problem.sheet, pos_label=positive, calibrate=calibrate, **given)
    check_positive(problem, positive)
    if calibrate:
        raise ValueError("--calibrate is for labels: it rescales probabilities, and there are none here")
    kind = BudgetedRanker if problem.task is Task.RANK else BudgetedRegressor
    return kind(problem.sheet, **given)


def check_positive(problem: Problem, positive: str | None) -> None:
    """Raise ValueError if a positive label is named and there are no labels."""
    if positive is not None and problem.task is not Task.CLASSIFY:
        raise ValueError("--positive is for labels; the target is a number")


def _time_of_fit(time_limit: float | None, start: float, *, reports: bool) -> float | None:
    """Return the part of the time limit of the command that is left for the fit."""
    if time_limit is None:
        return None
    left = max(start + time_limit - time.time(), 0.0)
    return (1 - _REPORT_SHARE) * left if reports else left


def _write_report(
    path: Path, model: Any, problem: Problem, target: str, *, time_limit: float | None, shown: bool
) -> None:
    from farthing.report import write_report  # noqa: PLC0415 - needs an extra

    left_out = write_report(
        path,
        model,
        problem.X,
        problem.y,
        sample_weight=problem.weights,
        title=f"{target} on a budget",
        target=target,
        time_limit=time_limit,
        progress=shown,
        **problem.queries,
    )
    if left_out:
        warn(f"the time limit shortened the report. {' '.join(left_out)}")


def _text(model: Any, output: Path, report: Path | None) -> str:
    from farthing.base.score_words import ScoreWords  # noqa: PLC0415 - slow to import
    from farthing.costs import spending_limit  # noqa: PLC0415
    from farthing.frontier.budget_amount import budget_of  # noqa: PLC0415

    chosen, frontier = model.chosen_, model.frontier_
    words = ScoreWords.of(frontier.score_name)
    unit = f" {frontier.unit}" if frontier.unit else ""
    budget = budget_of(model.budget, model.costs_)
    kept = ""
    if model.budget_kind == "mean" and budget is not None and chosen.max_spend > spending_limit(budget):
        kept = (
            f"The budget, {budget:.4g}{unit}, is a mean: some rows spend more, others less; "
            "--kind hard limits every row.\n"
        )
    luck = ""
    if words.text(chosen.score) != words.text(chosen.score + model.optimism_):
        luck = (
            f"It was chosen for {words.text(chosen.score + model.optimism_)} on held-out rows; the best of "
            "several is partly lucky, and the estimate is corrected for that.\n"
        )
    return (
        f"{model.table()}\n\n"
        f"Chosen: {chosen}\n"
        f"On new rows, by estimate: {words.title} {words.text(chosen.score)}, mean spend "
        f"{chosen.spend:.4g}{unit}, at most {chosen.max_spend:.4g}{unit}; all features cost "
        f"{frontier.full_cost:.4g}{unit}.\n{luck}{kept}"
        f"The model is in {output}" + (f", the report in {report}." if report else ".")
    )
