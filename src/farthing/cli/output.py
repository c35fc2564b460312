"""Output of the commands: text, or JSON for programs."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated, Any

import typer

from farthing.cli.app import fail
from farthing.errors import FarthingError

if TYPE_CHECKING:
    from farthing.frontier import Frontier, Point

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for programs.")]


def emit(payload: dict[str, Any], text: str, *, as_json: bool) -> None:
    """Print the text or the JSON payload."""
    # JSON has no NaN; `point_of` turns it into null.
    typer.echo(json.dumps(payload, default=_to_json, allow_nan=False) if as_json else text)


def note(message: str) -> None:
    """Print what was assumed to standard error."""
    typer.echo(f"note: {message}", err=True)


def warn(message: str) -> None:
    """Print a warning to standard error."""
    typer.secho(f"warning: {message}", fg=typer.colors.YELLOW, err=True)


def warn_if_skipped(frontier: Frontier) -> None:
    """Warn about fits that the time limit left out."""
    if frontier.n_skipped:
        warn(f"the time limit left out {frontier.n_skipped} fits; the best model may be among them")


@contextmanager
def clear_errors() -> Iterator[None]:
    """Turn user errors into one line of text and exit code 1."""
    try:
        yield
    # Errors that a user can cause. Anything else is a bug, and keeps its traceback.
    except (FarthingError, ValueError, TypeError, LookupError, OSError, ImportError) as error:
        raise fail(error) from None


def point_of(point: Point | None, score_name: str) -> dict[str, Any] | None:
    """Return a point as JSON values; the interval of its score is within what the score can be."""
    if point is None:
        return None
    from farthing.base.score_words import ScoreWords  # noqa: PLC0415 - only when there is a point

    low, high = ScoreWords.of(score_name).clip(*point.interval)
    return {
        "method": point.method,
        "params": {name: _finite_or_none(value) for name, value in point.params.items()},
        "spend": point.spend,
        "max_spend": point.max_spend,
        "score": _finite_or_none(point.score),
        "low": _finite_or_none(low),
        "high": _finite_or_none(high),
    }


def _finite_or_none(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value if isinstance(value, str | int | float | bool | None) else str(value)


def _to_json(value: Any) -> Any:
    # Arrays and scalars of NumPy.
    return value.tolist() if hasattr(value, "tolist") else str(value)
