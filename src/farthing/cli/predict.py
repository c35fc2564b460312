"""``farthing predict``: labels, probabilities and the spend of each row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farthing.cli.app import app
from farthing.cli.destinations import TABLES, check_destination, table_text, write_table
from farthing.cli.options import Separator, Table, budget_amount
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.cli.tables import for_model, read_table

if TYPE_CHECKING:
    from farthing.walks.decision import Decisions


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
    budget: Annotated[
        str | None,
        typer.Option(
            help="What each row may spend: a number, or a share of what all features cost, such as 20%."
        ),
    ] = None,
    separator: Separator = None,
    as_json: AsJson = False,
) -> None:
    """Predict every row, with its spend and the features it acquired, in the order of purchase."""
    file = None if output is None or str(output) == "-" else output
    with clear_errors():
        check_destination(file, "--output", TABLES)
        import pandas as pd  # noqa: PLC0415 - slow to import, and only the command line needs it

        from farthing.base import load_model  # noqa: PLC0415 - slow to import

        fitted = load_model(model)
        cap = budget_amount(budget, fitted.costs_)
        frame = for_model(read_table(table, separator), fitted)
        decided = fitted.decide(frame, budget=cap)
        columns: dict[str, Any] = {"prediction": decided.prediction}
        if decided.probabilities is not None:
            for place, label in enumerate(fitted.classes_.tolist()):
                columns[f"probability of {label}"] = decided.probabilities[:, place]
        columns["spend"] = decided.spent
        columns["acquired"] = purchases(fitted, frame, decided, cap)
        result = pd.DataFrame(columns)
        if file is not None:
            write_table(result, file)
    unit = fitted.costs_.unit
    summary = (
        f"{len(result)} rows, mean spend {decided.spent.mean():.4g}{f' {unit}' if unit else ''}, "
        f"at most {decided.spent.max():.4g}"
    )
    payload = {
        "rows": len(result),
        "mean_spend": float(decided.spent.mean()),
        "max_spend": float(decided.spent.max()),
        "unit": unit,
        "output": None if output is None else str(output),
        "predictions": None if file is not None else result.to_dict(orient="records"),
    }
    # Without a file, the table itself goes to standard output, without the summary, so it can be piped.
    emit(payload, summary if file is not None else table_text(result).rstrip(), as_json=as_json)


def purchases(model: Any, frame: Any, decided: Decisions, budget: float | None) -> list[list[str]]:
    """Return the features that each row bought, in the order of purchase.

    Parameters
    ----------
    model : estimator
        A fitted model.
    frame : DataFrame, shape (n_rows, n_features)
        The rows.
    decided : Decisions
        What `model.decide` returned for them.
    budget : float or None
        The budget that it was given.
    """
    import numpy as np  # noqa: PLC0415 - slow to import

    names = model.costs_.features
    found = [[names[column] for column in np.flatnonzero(bought)] for bought in decided.acquired]
    # The account does not know the order of several purchases: the walk of the row does.
    several = [row for row, bought in enumerate(found) if len(bought) > 1]
    if not several or getattr(model, "asks", "columns") != "columns":
        return found
    for row, answers in zip(several, frame.iloc[several].to_dict(orient="records"), strict=True):
        found[row] = _walked(model.walk(budget=budget), answers)
    return found


def _walked(walk: Any, answers: dict[str, Any]) -> list[str]:
    from farthing.walks import REFUSED  # noqa: PLC0415 - slow to import

    bought = []
    while (ask := walk.ask) is not None:
        value = answers[ask.feature]
        if value is REFUSED:
            walk.refuse()
        else:
            walk.tell(value)
            bought.append(ask.feature)
    return bought
