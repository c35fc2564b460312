"""The command ``farthing``; each file of this package registers its subcommand on `app`."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="farthing",
    help="Prediction on a budget: models that know what each feature costs.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_show_locals=False,
)


@app.callback()
def root() -> None:
    """Prediction on a budget: models that know what each feature costs."""
    # With a callback, a single command keeps its name: `farthing serve`, not `farthing`.


def fail(message: object, code: int = 1) -> typer.Exit:
    """Print an error and return what to raise: `raise fail("...")`."""
    typer.secho(f"error: {message}", fg=typer.colors.RED, err=True)
    return typer.Exit(code)
