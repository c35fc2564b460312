"""``farthing frontier``: the spend and the score of every method on a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app
from farthing.cli.fit import (
    Costs,
    Jobs,
    MemoryFolder,
    Methods,
    Scoring,
    Table,
    Target,
    TimeLimit,
    method_list,
)
from farthing.cli.output import AsJson, clear_errors, emit, point_of, warn, warn_if_skipped
from farthing.cli.tables import read_costs, read_table, split_target
from farthing.frontier import sweep


@app.command()
def frontier(  # noqa: PLR0917 - typer takes the options from here
    table: Table,
    target: Target,
    costs: Costs = None,
    methods: Methods = "auto",
    scoring: Scoring = None,
    folds: Annotated[int | None, typer.Option(help="Number of folds; by default one split.")] = None,
    plot: Annotated[Path | None, typer.Option(help="Where to save the plot: PNG, SVG or PDF.")] = None,
    points: Annotated[Path | None, typer.Option(help="Where to write all points, CSV.")] = None,
    time_limit: TimeLimit = None,
    memory: MemoryFolder = None,
    jobs: Jobs = -1,
    as_json: AsJson = False,
) -> None:
    """Sweep over the methods and show the best one within each budget."""
    with clear_errors():
        frame, y = split_target(read_table(table), target)
        sheet, warning = read_costs(costs, list(frame.columns))
        if warning:
            warn(warning)
        found = sweep(
            method_list(methods),
            frame,
            y,
            sheet,
            scoring=scoring,
            cv=folds,
            memory=memory,
            n_jobs=jobs,
            time_limit=time_limit,
            progress=not as_json,
        )
        if plot is not None:
            found.plot().figure.savefig(plot, dpi=120)
        if points is not None:
            found.to_frame().to_csv(points, index=False)
    warn_if_skipped(found)
    for failure in found.failures:
        warn(f"{failure.method} failed: {failure.reason}")
    payload = {
        "full_cost": found.full_cost,
        "unit": found.unit,
        "score_name": found.score_name,
        "efficient": [point_of(point) for point in found.pareto()],
        "n_points": len(found),
        "failures": [[f.method, f.reason] for f in found.failures],
    }
    emit(payload, found.table(), as_json=as_json)
