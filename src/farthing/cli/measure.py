"""``farthing measure``: how long the blocks of a lazy pipeline take, as a price list."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app
from farthing.cli.options import Separator, Trusted, split_names
from farthing.cli.output import clear_errors


@app.command()
def measure(  # noqa: PLR0917 - typer takes the options from here
    pipeline: Annotated[Path, typer.Argument(help="A file of a LazyPipeline.")],
    table: Annotated[Path, typer.Argument(help="Sample rows: a CSV, TSV, Parquet or Feather file.")],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .toml file for the price list; else it is printed."),
    ] = None,
    column: Annotated[
        str | None, typer.Option(help="The column that holds the rows, as texts; by default all columns.")
    ] = None,
    per: Annotated[
        str, typer.Option(help="batch: per row of a batch, as in a scoring job; row: of a row alone.")
    ] = "batch",
    unit: Annotated[str, typer.Option(help="us, ms or s.")] = "us",
    batch: Annotated[int, typer.Option(min=1, help="Rows of a batch.")] = 256,
    repeats: Annotated[int, typer.Option(min=1, help="How often each block is called.")] = 7,
    separator: Separator = None,
    trusted: Trusted = None,
) -> None:
    """Time each block of a pipeline, and write the times as prices."""
    with clear_errors():
        if output is not None and output.suffix != ".toml":
            raise ValueError(f"{output.name} has the extension {output.suffix!r}; expected .toml")
        from farthing.base import load  # noqa: PLC0415 - slow to import
        from farthing.cli.tables import check_columns, read_table  # noqa: PLC0415
        from farthing.costs import CostSheet  # noqa: PLC0415
        from farthing.costs import measure as measured  # noqa: PLC0415

        frame = read_table(table, separator)
        if column is not None:
            check_columns([column], frame)
        rows = frame if column is None else frame[column].astype(str).tolist()
        found = measured(load(pipeline, split_names(trusted)), rows, batch=batch, repeats=repeats)
        own, groups = found.prices(per, unit)  # type: ignore[arg-type]
        lines = found.lines(unit)
        text = CostSheet(own, groups, unit).to_toml(comments=lines)
        if output is None:
            typer.echo(text, nl=False)
        else:
            output.write_text(text, encoding="utf-8")
            typer.echo("\n".join([*lines, f"wrote {output}"]))
