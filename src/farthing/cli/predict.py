"""``farthing predict``: labels, probabilities and the spend of each row of a table."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from farthing.cli.app import app
from farthing.cli.cluster import (
    ClusterAddress,
    ClusterOptions,
    WorkerMemory,
    Workers,
    predict_on_cluster,
)
from farthing.cli.destinations import TABLES, check_destination, table_text, write_table
from farthing.cli.options import Budgets, Separator, Table, Trusted, budget_amount, split_names
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.cli.tables import for_model, read_table, refused_cells

if TYPE_CHECKING:
    from farthing.walks.decision import Decisions

# From this many rows on, walking them takes long enough for a bar.
_MANY: Final = 1000


@app.command()
def predict(  # noqa: PLR0917 - typer takes the options from here
    model: Annotated[Path, typer.Argument(help="A model file.")],
    table: Table,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="File for the predictions: .csv, .json, .parquet or .feather; - is standard output, as CSV.",
        ),
    ] = None,
    budget: Budgets = None,
    ordered: Annotated[
        bool,
        typer.Option(
            help="List the features in the order of purchase, or, quicker, in that of the price list."
        ),
    ] = True,
    refuse: Annotated[
        list[str] | None,
        typer.Option(help="A feature that no row has; may be repeated, or several separated by commas."),
    ] = None,
    refused: Annotated[
        str | None,
        typer.Option(help="The text of cells that are not available; they cost nothing, unlike empty ones."),
    ] = None,
    separator: Separator = None,
    trusted: Trusted = None,
    cluster: ClusterAddress = None,
    workers: Workers = None,
    worker_memory: WorkerMemory = None,
    as_json: AsJson = False,
) -> None:
    """Predict every row, with its spend and the features it acquired."""
    file = None if output is None or str(output) == "-" else output
    away = ClusterOptions(cluster, workers, worker_memory)
    with clear_errors():
        if not away.is_given:
            check_destination(file, "--output", TABLES)
        from farthing.base import load_model  # noqa: PLC0415 - slow to import

        fitted = load_model(model, split_names(trusted))
        cap = budget_amount(budget, fitted.costs_)
        if away.is_given:
            away.refuse(refuse=refuse, refused=refused, sep=separator)
            told, text = _predict_on_cluster(
                away, fitted, table, output, cap, ordered=ordered, shown=not as_json
            )
            emit(told, text, as_json=as_json)
            return
        frame = for_model(read_table(table, separator, missing=refused), fitted)
        frame, flags = _refusals(fitted, frame, table, separator, refuse or (), refused)
        result = prediction_frame(fitted, frame, cap, ordered=ordered, quiet=as_json, refused=flags)
        if file is not None:
            write_table(result, file)
    unit = fitted.costs_.unit
    spent = result["spend"]
    mean, most = (float(spent.mean()), float(spent.max())) if len(result) else (None, None)
    summary = _summary(len(result), mean, most, unit)
    payload = {
        "rows": len(result),
        "mean_spend": mean,
        "max_spend": most,
        "unit": unit,
        "output": None if output is None else str(output),
        "predictions": None if file is not None else result.to_dict(orient="records"),
    }
    # Without a file, the table itself goes to standard output, without the summary, so it can be piped.
    emit(payload, summary if file is not None else table_text(result).rstrip(), as_json=as_json)


def prediction_frame(
    model: Any, frame: Any, budget: Any, *, ordered: bool, quiet: bool, refused: Any = None
) -> Any:
    """Return the predictions of a table as a frame: label or number, probabilities, spend, purchases.

    Parameters
    ----------
    model, frame, budget, ordered, quiet
        As in `purchases`.
    refused : DataFrame of bool, shape (n_rows, n_features), optional
        Cells that are not available.
    """
    import pandas as pd  # noqa: PLC0415 - slow to import, and only the command line needs it

    decided = model.decide(frame, budget=budget, **({} if refused is None else {"refused": refused}))
    columns: dict[str, Any] = {"prediction": decided.prediction}
    if decided.probabilities is not None:
        for place, label in enumerate(model.classes_.tolist()):
            columns[f"probability of {label}"] = decided.probabilities[:, place]
    columns["spend"] = decided.spent
    columns["acquired"] = purchases(model, frame, decided, budget, ordered=ordered, quiet=quiet)
    return pd.DataFrame(columns)


def _summary(n_rows: int, mean: float | None, most: float | None, unit: str | None) -> str:
    text = f"{n_rows} rows"
    if mean is not None:
        text += f", mean spend {mean:.4g}{f' {unit}' if unit else ''}, at most {most:.4g}"
    return text


def _predict_on_cluster(
    cluster: ClusterOptions,
    fitted: Any,
    table: Path,
    output: Path | None,
    cap: Any,
    *,
    ordered: bool,
    shown: bool,
) -> tuple[dict[str, Any], str]:
    """Predict Parquet files into a folder; return what to print, as JSON and as text."""
    if output is None or str(output) == "-":
        raise ValueError("a cluster writes Parquet files into a folder: add --output FOLDER")
    with cluster.client():
        n_rows, spent, most = predict_on_cluster(
            fitted, table, output, budget=cap, ordered=ordered, shown=shown
        )
    mean = spent / n_rows if n_rows else None
    unit = fitted.costs_.unit
    payload = {"rows": n_rows, "mean_spend": mean, "max_spend": most, "unit": unit, "output": str(output)}
    return payload, _summary(n_rows, mean, most, unit)


def _refusals(  # noqa: PLR0917 - two of them are the user's options
    model: Any, frame: Any, table: Path, separator: str | None, names: Sequence[str], mark: str | None
) -> tuple[Any, Any]:
    """Return the table and which of its cells are refused, as booleans; None if nothing is."""
    listed = list(split_names(names))
    if strange := [name for name in listed if name not in model.schema_.names]:
        raise ValueError(f"the model has no column {strange[0]!r} to refuse")
    if mark is None and not listed:
        return frame, None
    # A refused column need not be in the table.
    lacking = [name for name in listed if name not in frame.columns]
    frame = frame.assign(**dict.fromkeys(lacking, float("nan")))
    flags = frame.isna() & False
    if mark is not None:
        cells = refused_cells(table, separator, mark)
        shared = [name for name in frame.columns if name in cells.columns]
        flags[shared] = cells[shared]
    flags[listed] = True
    return frame, flags


def purchases(
    model: Any, frame: Any, decided: Decisions, budget: Any, *, ordered: bool, quiet: bool
) -> list[list[str]]:
    """Return the features that each row bought.

    Parameters
    ----------
    model : estimator
        A fitted model.
    frame : DataFrame, shape (n_rows, n_features)
        The rows.
    decided : Decisions
        What `model.decide` returned for them.
    budget : float, mapping of str to float, or None
        The budget that it was given.
    ordered : bool
        Whether in the order of purchase, for which rows are walked again, or in that of the price list.
    quiet : bool
        Whether to show no bar.
    """
    from farthing.costs import split_budget  # noqa: PLC0415 - slow to import
    from farthing.frontier.progress_bar import Progress  # noqa: PLC0415
    from farthing.table import encode  # noqa: PLC0415
    from farthing.walks.purchase_order import purchase_order  # noqa: PLC0415

    names = model.costs_.features
    # The answers of devices are messages, which are not in the table.
    if not ordered or getattr(model, "asks", "columns") != "columns":
        return [[names[column] for column in bought.nonzero()[0]] for bought in decided.acquired]
    fitted = model.fitted_
    values = encode(fitted.schema, frame, needed=fitted.may_buy(), min_rows=0).values
    money, given = split_budget(budget, fitted.costs)
    cap, caps = fitted.budget if money is None else money, {**fitted.own_caps(), **given}
    shown = not quiet and len(values) > _MANY
    found = []
    with Progress(len(values), "order of purchases", shown=shown) as bar:
        for bought in purchase_order(
            fitted.policy, model.costs_, values, decided.acquired, budget=cap, caps=caps
        ):
            found.append(bought)
            bar.step()
    return found
