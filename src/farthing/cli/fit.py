"""``farthing fit``: the best model within a budget, from a table and a price list."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated, Any

import typer

from farthing.cli.app import app
from farthing.cli.output import AsJson, clear_errors, emit, point_of, warn, warn_if_skipped
from farthing.cli.tables import is_label, read_costs, read_table, split_target
from farthing.frontier import BudgetedClassifier, BudgetedRegressor

Table = Annotated[Path, typer.Argument(help="A CSV or Parquet file.")]
Target = Annotated[str, typer.Argument(help="The column to predict.")]
Costs = Annotated[Path | None, typer.Option(help="The price list: TOML, JSON or CSV.")]
Methods = Annotated[
    str,
    typer.Option(
        help="Names of the methods to try, separated by commas; auto is a good selection, all is every one."
    ),
]
Scoring = Annotated[str | None, typer.Option(help="Name of a scikit-learn scorer.")]
TimeLimit = Annotated[float | None, typer.Option(help="Seconds after which no new fit is started.")]
MemoryFolder = Annotated[
    Path | None, typer.Option(help="Folder for intermediate results, to continue after an interruption.")
]
Jobs = Annotated[int, typer.Option(help="Number of parallel jobs; -1 uses all cores.")]


@app.command()
def fit(  # noqa: PLR0917 - typer takes the options from here
    table: Table,
    target: Target,
    costs: Costs = None,
    budget: Annotated[
        str | None, typer.Option(help="What a row may spend: a number, or a share such as 20%.")
    ] = None,
    budget_kind: Annotated[
        str,
        typer.Option("--budget-kind", "--kind", help="mean: on average over the rows; hard: on every row."),
    ] = "mean",
    output: Annotated[Path, typer.Option("--output", "-o", help="Where to write the model.")] = Path(
        "model.farthing"
    ),
    report: Annotated[Path | None, typer.Option(help="Where to write an HTML report.")] = None,
    methods: Methods = "auto",
    scoring: Scoring = None,
    calibrate: Annotated[bool, typer.Option("--calibrate", help="Calibrate the probabilities.")] = False,
    time_limit: TimeLimit = None,
    memory: MemoryFolder = None,
    jobs: Jobs = -1,
    as_json: AsJson = False,
) -> Any:
    """Find the best model within a budget, and write it to a file."""
    with clear_errors():
        frame, y = split_target(read_table(table), target)
        sheet, warning = read_costs(costs, list(frame.columns))
        if warning:
            warn(warning)
        given: dict[str, Any] = {
            "budget": _amount(budget),
            "budget_kind": budget_kind,
            "methods": method_list(methods),
            "time_limit": time_limit,
            "memory": None if memory is None else str(memory),
            "n_jobs": jobs,
            "progress": not as_json,
        }
        if scoring is not None:
            given["scoring"] = scoring
        model: Any
        if is_label(y):
            model = BudgetedClassifier(sheet, calibrate=calibrate, **given)
        else:
            model = BudgetedRegressor(sheet, **given)
        # Many fits raise the same warning; each is printed once, as one line.
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("default")
            model.fit(frame, y)
        for message in dict.fromkeys(str(item.message) for item in caught):
            warn(message)
        # Saved before the report, which needs more packages: if it fails, the model is not lost.
        model.save(output)
        if report is not None:
            from farthing.report import write_report  # noqa: PLC0415 - needs an extra

            write_report(report, model, frame, y, title=f"{target} on a budget", target=target)
    chosen, frontier = model.chosen_, model.frontier_
    warn_if_skipped(frontier)
    payload = {
        "model": str(output),
        "report": None if report is None else str(report),
        "budget": None if budget is None else budget,
        "full_cost": frontier.full_cost,
        "unit": frontier.unit,
        "score_name": frontier.score_name,
        "chosen": point_of(chosen),
        "n_points": len(frontier),
        "failures": [[f.method, f.reason] for f in frontier.failures],
    }
    unit = f" {frontier.unit}" if frontier.unit else ""
    text = (
        f"{frontier.table()}\n\n"
        f"Chosen: {chosen}\n"
        f"{frontier.score_name} {chosen.score:.4f}, mean spend {chosen.spend:.4g}{unit}, at most "
        f"{chosen.max_spend:.4g}{unit}; all features cost {frontier.full_cost:.4g}{unit}.\n"
        f"The model is in {output}" + (f", the report in {report}." if report else ".")
    )
    emit(payload, text, as_json=as_json)
    return model


def method_list(methods: str) -> Any:
    """Return the methods in a comma-separated list."""
    return "auto" if methods == "auto" else [name.strip() for name in methods.split(",") if name.strip()]


def _amount(budget: str | None) -> float | str | None:
    if budget is None or "%" in budget:
        return budget
    try:
        return float(budget)
    except ValueError:
        raise ValueError(f"--budget must be a number or a share such as 20%; got {budget!r}") from None
