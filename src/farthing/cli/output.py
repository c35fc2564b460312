"""What commands print: for people, or as JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import numpy as np
import typer

from farthing.cli.app import fail
from farthing.errors import FarthingError
from farthing.frontier import Frontier, Point

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]


def emit(payload: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print the text, or the same as JSON."""
    typer.echo(json.dumps(payload, default=_plain, allow_nan=False) if as_json else text)


def warn(message: str) -> None:
    """Print a warning where it disturbs no output."""
    typer.secho(f"warning: {message}", fg=typer.colors.YELLOW, err=True)


def warn_if_skipped(frontier: Frontier) -> None:
    """Say how many fits a time limit left out."""
    if frontier.n_skipped:
        warn(f"the time limit left out {frontier.n_skipped} fits; the best model may be among them")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn errors of the user into one line and an exit code of 1."""
    try:
        yield
    except (FarthingError, ValueError, TypeError, LookupError, OSError, ImportError) as error:
        raise fail(error) from None


def point_of(point: Point | None) -> dict[str, Any] | None:
    """Return a point as plain values."""
    if point is None:
        return None
    low, high = point.interval
    return {
        "method": point.method,
        "params": {name: _number(value) for name, value in point.params.items()},
        "spend": point.spend,
        "max_spend": point.max_spend,
        "score": _number(point.score),
        "low": _number(low),
        "high": _number(high),
    }


def _number(value: Any) -> Any:
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    return value.tolist() if isinstance(value, np.ndarray) else str(value)
