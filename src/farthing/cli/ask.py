"""``farthing ask``: an interactive prediction in the terminal, one feature at a time."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from farthing.base import load_model
from farthing.cli.app import app
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.errors import FarthingError
from farthing.table import Column


@app.command()
def ask(
    model: Annotated[Path, typer.Argument(help="A model file.")],
    budget: Annotated[float | None, typer.Option(help="What may be spent.")] = None,
    known: Annotated[
        list[str] | None, typer.Option(help="name=value, known from the start and free; may be repeated.")
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a stochastic model.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the features that a model wants, one at a time, and decide.

    Answer with a value; with ? if the feature is not available, which costs nothing; with an empty line if it
    was measured but is missing; with stop to end here.
    """
    with clear_errors():
        fitted = load_model(model)
        columns = {column.name: column for column in fitted.fitted_.questions.columns}
        start = dict(_pair(item, columns) for item in known or [])
        walk = fitted.walk(seed=seed, budget=budget, known=start)
    unit = f" {fitted.costs_.unit}" if fitted.costs_.unit else ""
    # With --json, standard output holds one JSON object and nothing else; the dialogue goes to stderr.
    while (question := walk.ask) is not None:
        typer.echo(
            f"spent {walk.spent:.2f}{unit}; prediction: {summarize_decision(walk.decision)}", err=as_json
        )
        group = f", of {question.group}" if question.group else ""
        try:
            typed = typer.prompt(
                f"{question.feature} ({question.price:.2f}{unit}{group})",
                default="",
                show_default=False,
                err=as_json,
            )
        except typer.Abort:
            typer.echo("", err=as_json)
            break
        if typed.strip() == "stop":
            break
        if typed.strip() == "?":
            walk.refuse()
            continue
        try:
            walk.tell(value_of(typed, columns[question.feature]))
        # A bad answer does not move the walk, so the same question is asked again.
        except (FarthingError, ValueError) as error:
            typer.echo(f"  {error}", err=True)
    decision = walk.decision
    payload = {
        "prediction": decision.prediction,
        "probabilities": None
        if decision.probabilities is None
        else {str(label): p for label, p in decision.probabilities.items()},
        "spent": decision.spent,
        "acquired": list(decision.acquired),
        "finished": walk.ask is None,
    }
    bought = ", ".join(decision.acquired) or "nothing"
    text = f"Decision: {summarize_decision(decision)}\nSpent {decision.spent:.2f}{unit} on {bought}."
    emit(payload, text, as_json=as_json)


def summarize_decision(decision: Any) -> str:
    """Return the most likely labels with their probabilities, or the predicted number."""
    if decision.probabilities is None:
        return f"{decision.prediction:.4g}"
    ranked = sorted(decision.probabilities.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{label} {probability:.0%}" for label, probability in ranked)


def value_of(typed: str, column: Any) -> Any:
    """Return the value of a column that was typed: a number, a category, or None for an empty line.

    For a device it is the message, numbers separated by commas; an empty line means that it is silent.

    Examples
    --------
    >>> value_of(" 4.5 ", Column("age", "numeric")), value_of("", Column("age", "numeric"))
    (4.5, None)
    """
    text = typed.strip()
    if not text:
        return None
    if not isinstance(column, Column):  # a device, whose message is a list of numbers
        return [float(part) for part in text.strip("[]").split(",")]
    if column.is_categorical:
        # Categories may be numbers or booleans; what is typed is text.
        by_name = {str(category): category for category in column.categories}
        if text not in by_name:
            raise ValueError(f"{column.name} is one of {', '.join(by_name)}, or ? if it is not available")
        return by_name[text]
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{column.name} is a number; got {text!r}. Type ? if it is not available") from None


def _pair(item: str, columns: dict[str, Column]) -> tuple[str, Any]:
    name, equals, typed = item.partition("=")
    if not equals or name not in columns:
        raise ValueError(f"--known takes name=value, with a name among {', '.join(columns)}; got {item!r}")
    return name, value_of(typed, columns[name])
