"""``farthing frontier``: the models of all methods that no other beats in both spend and score."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app
from farthing.cli.destinations import PLOTS, TABLES, check_destination, write_table
from farthing.cli.fit import check_positive
from farthing.cli.options import (
    Costs,
    Drop,
    Jobs,
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
    method_list,
)
from farthing.cli.output import AsJson, clear_errors, emit, point_of, warn, warn_if_skipped
from farthing.cli.problem import read_problem
from farthing.cli.task import Task


@app.command()
def frontier(  # noqa: PLR0917 - typer takes the options from here
    table: Table,
    target: Target,
    costs: Costs = None,
    task: TaskOption = None,
    drop: Drop = None,
    weight: Weight = None,
    query: Query = None,
    separator: Separator = None,
    methods: Methods = "auto",
    scoring: Scoring = None,
    positive: Positive = None,
    folds: Annotated[
        int | None,
        typer.Option(help="Number of folds; by default as in fit: five below 3,000 rows, else one split."),
    ] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to save the plot: PNG, SVG or PDF.")] = None,
    points: Annotated[
        Path | None, typer.Option(help="Where to write all points: CSV, JSON, Parquet or Feather.")
    ] = None,
    time_limit: TimeLimit = None,
    memory: MemoryFolder = None,
    seed: Seed = 0,
    jobs: Jobs = -1,
    as_json: AsJson = False,
) -> None:
    """Sweep over the methods and show the models that no other beats in both spend and score."""
    start = time.time()
    with clear_errors():
        check_destination(plot, "--plot", PLOTS)
        check_destination(points, "--points", TABLES)
        problem = read_problem(
            table, target, costs, task=task, drop=drop, weight=weight, query=query, separator=separator
        )
        check_positive(problem, positive)
        from farthing.frontier import sweep  # noqa: PLC0415 - slow to import
        from farthing.frontier.data_split import default_folds  # noqa: PLC0415

        n_rows = len(problem.y) if problem.weights is None else int((problem.weights > 0).sum())
        found = sweep(
            method_list(methods),
            problem.X,
            problem.y,
            problem.sheet,
            scoring="ndcg@5" if scoring is None and problem.task is Task.RANK else scoring,
            pos_label=positive,
            cv=default_folds(n_rows) if folds is None else folds,
            sample_weight=problem.weights,
            qid=problem.qid,
            memory=memory,
            n_jobs=jobs,
            time_limit=None if time_limit is None else max(start + time_limit - time.time(), 0.0),
            random_state=seed,
            progress=not as_json,
        )
        if plot is not None:
            found.plot().figure.savefig(plot, dpi=120)
        if points is not None:
            every = found.to_frame()
            # Parameters may be objects, which not every format can hold.
            every["params"] = [
                {name: str(value) for name, value in params.items()} for params in every["params"]
            ]
            write_table(every, points)
    warn_if_skipped(found)
    for failure in found.failures:
        warn(f"{failure.method} failed: {failure.reason}")
    payload = {
        "task": str(problem.task),
        "full_cost": found.full_cost,
        "unit": found.unit,
        "score_name": found.score_name,
        "efficient": [point_of(point, found.score_name) for point in found.pareto()],
        "n_points": len(found),
        "failures": [[f.method, f.reason] for f in found.failures],
    }
    unit = f" {found.unit}" if found.unit else ""
    text = (
        f"Of {len(found)} models, these are beaten by no other in both spend and score, on rows that they "
        f"did not learn from.\nAll features cost {found.full_cost:.4g}{unit}.\n\n{found.efficient_table()}"
    )
    emit(payload, text, as_json=as_json)
