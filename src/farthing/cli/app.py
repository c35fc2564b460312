"""The command ``farthing``; each file of this package registers its subcommand on `app`.

Files of this package import the libraries they need inside their functions, so that ``--help`` is quick.
"""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    name="farthing",
    help="Prediction on a budget: models that know what each feature costs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


def _print_version(asked: bool) -> None:
    if asked:
        import farthing  # noqa: PLC0415 - only for this option

        typer.echo(f"farthing {farthing.__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Prediction on a budget: models that know what each feature costs."""
    # With a callback, a single command keeps its name: `farthing serve`, not `farthing`.


def fail(message: object, code: int = 1) -> typer.Exit:
    """Print an error and return what to raise: `raise fail("...")`."""
    typer.secho(f"error: {message}", fg=typer.colors.RED, err=True)
    return typer.Exit(code)
