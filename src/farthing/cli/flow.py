"""``farthing flow``: the questions of a model as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app
from farthing.cli.options import Separator
from farthing.cli.output import clear_errors
from farthing.cli.tables import for_model, read_table


@app.command()
def flow(  # noqa: PLR0917 - typer takes the options from here
    model: Annotated[Path, typer.Argument(help="A model of Farthing.")],
    table: Annotated[
        Path | None,
        typer.Argument(
            help="Rows to walk: a CSV, TSV, Parquet or Feather file; without it, answers are as likely as "
            "the model tells."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="An .svg picture, or .md for a Mermaid chart; else it is printed."
        ),
    ] = None,
    depth: Annotated[int, typer.Option(min=1, help="Questions of a row that are shown.")] = 5,
    share: Annotated[
        float, typer.Option(min=0.0, max=0.99, help="Branches of a smaller share of rows are summed up.")
    ] = 0.02,
    budget: Annotated[float | None, typer.Option(min=0.0, help="Hard budget of each row.")] = None,
    separator: Separator = None,
) -> None:
    """Draw which questions rows are asked, what they cost, and where the walks end."""
    with clear_errors():
        if output is not None and output.suffix not in (".svg", ".md"):
            raise ValueError(f"{output.name} has the extension {output.suffix!r}; expected .svg or .md")
        from farthing.base import load_model  # noqa: PLC0415 - slow to import
        from farthing.report.flow import flow as flow_of  # noqa: PLC0415

        fitted = load_model(model)
        frame = None if table is None else for_model(read_table(table, separator), fitted)
        found = flow_of(fitted, frame, max_depth=depth, min_share=share, budget=budget)
        if output is None:
            typer.echo(found.mermaid(), nl=False)
        else:
            found.write(output)
            typer.echo(f"wrote {output}")
