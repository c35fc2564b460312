"""``farthing predict``: labels, probabilities and the spend of each row of a table."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

from farthing.base import load_model
from farthing.cli.app import app
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.cli.tables import for_model, read_table


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    table: Annotated[Path, typer.Argument(help="A CSV or Parquet file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="CSV file for the predictions; - is standard output."),
    ] = None,
    budget: Annotated[float | None, typer.Option(help="What each row may spend.")] = None,
    as_json: AsJson = False,
) -> None:
    """Predict every row, with its spend and the features it acquired."""
    with clear_errors():
        import pandas as pd  # noqa: PLC0415 - only the command line needs it

        fitted = load_model(model)
        decided = fitted.decide(for_model(read_table(table), fitted), budget=budget)
        columns: dict[str, Any] = {"prediction": decided.prediction}
        if decided.probabilities is not None:
            for place, label in enumerate(fitted.classes_.tolist()):
                columns[f"probability of {label}"] = decided.probabilities[:, place]
        columns["spend"] = decided.spent
        names = np.array(fitted.costs_.features)
        columns["acquired"] = [" ".join(names[bought]) for bought in decided.acquired]
        result = pd.DataFrame(columns)
        if output is not None and str(output) != "-":
            result.to_csv(output, index=False)
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
        "predictions": None if output is not None else result.to_dict(orient="records"),
    }
    # Without a file, the table itself goes to standard output, without the summary, so it can be piped.
    text = summary if output is not None and str(output) != "-" else result.to_csv(index=False).rstrip()
    emit(payload, text, as_json=as_json)
