"""``farthing ask``: a consultation at the terminal, one test at a time."""

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
    seed: Annotated[int | None, typer.Option(help="For models that draw lots.")] = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the tests that a model wants, and decide.

    Answer with a value; with ? if the test cannot be had, which costs nothing; with an empty line if it was
    done and gave nothing; with stop to end here.
    """
    with clear_errors():
        fitted = load_model(model)
        columns = {column.name: column for column in fitted._questions.columns}
        start = dict(_pair(item, columns) for item in known or [])
        walk = fitted.walk(seed=seed, budget=budget, known=start)
    unit = f" {fitted.costs_.unit}" if fitted.costs_.unit else ""
    while (question := walk.ask) is not None:
        typer.echo(f"spent {walk.spent:.2f}{unit}; belief: {belief(walk.decision)}", err=as_json)
        group = f", of {question.group}" if question.group else ""
        try:
            said = typer.prompt(
                f"{question.feature} ({question.price:.2f}{unit}{group})",
                default="",
                show_default=False,
                err=as_json,
            )
        except typer.Abort:
            typer.echo("", err=as_json)
            break
        if said.strip() == "stop":
            break
        if said.strip() == "?":
            walk.refuse()
            continue
        try:
            walk.tell(value_of(said, columns[question.feature]))
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
    text = f"Decision: {belief(decision)}\nSpent {decision.spent:.2f}{unit} on {bought}."
    emit(payload, text, as_json=as_json)


def belief(decision: Any) -> str:
    """Say what is held for likely, the most likely first."""
    if decision.probabilities is None:
        return f"{decision.prediction:.4g}"
    ranked = sorted(decision.probabilities.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{label} {chance:.0%}" for label, chance in ranked)


def value_of(said: str, column: Any) -> Any:
    """Return what was typed as a value of a column: a number, a category, or None for nothing.

    What is typed for a device is its message, numbers with commas between them; nothing is its silence.

    Examples
    --------
    >>> value_of(" 4.5 ", Column("age", "numeric")), value_of("", Column("age", "numeric"))
    (4.5, None)
    """
    text = said.strip()
    if not text:
        return None
    if not isinstance(column, Column):  # a device, whose message is a list of numbers
        return [float(part) for part in text.strip("[]").split(",")]
    if column.is_categorical:
        by_name = {str(category): category for category in column.categories}
        if text not in by_name:
            raise ValueError(f"{column.name} is one of {', '.join(by_name)}, or ? if it cannot be had")
        return by_name[text]
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"{column.name} is a number; got {text!r}. Type ? if it cannot be had") from None


def _pair(item: str, columns: dict[str, Column]) -> tuple[str, Any]:
    name, equals, said = item.partition("=")
    if not equals or name not in columns:
        raise ValueError(f"--known takes name=value, with a name among {', '.join(columns)}; got {item!r}")
    return name, value_of(said, columns[name])
