"""``farthing export``: a model in another language."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from farthing.cli.app import app
from farthing.cli.output import clear_errors


@app.command()
def export(
    model: Annotated[Path, typer.Argument(help="A model of Farthing.")],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The folder to write; it is made if needed.")
    ],
    to: Annotated[
        str,
        typer.Option(
            help="c; js, an ES module; html, a page that works offline; or onnx, for whole rows, without "
            "the questions and the account."
        ),
    ] = "c",
    name: Annotated[str, typer.Option(help="The name of the files, without extension.")] = "model",
) -> None:
    """Write a model as a program that asks for one feature at a time, without Python; or as ONNX."""
    with clear_errors():
        from farthing.base import load_model  # noqa: PLC0415 - slow to import
        from farthing.export import export_model  # noqa: PLC0415

        exported = export_model(load_model(model), output, to=to, name=name)
        for path in exported.paths:
            typer.echo(f"wrote {path}")
        walk = "" if exported.state_bytes is None else f", {exported.state_bytes} bytes for each walk"
        stack = "" if exported.stack_bytes is None else f", at most {exported.stack_bytes} bytes of stack"
        typer.echo(f"{exported.table_bytes} bytes of tables{walk}{stack}")
