"""``farthing ask``: an interactive prediction in the terminal, one feature at a time."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final

import typer

from farthing.cli.app import app
from farthing.cli.options import Trusted, budget_amount, split_names
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.errors import FarthingError

# What may be typed for a boolean, which a model knows as 1 or 0.
_BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}
_REFUSAL: Final = "?"


@app.command()
def ask(  # noqa: PLR0917 - typer takes the options from here
    model: Annotated[Path, typer.Argument(help="A model file.")],
    budget: Annotated[
        str | None,
        typer.Option(help="What may be spent: a number, or a share of what all features cost, such as 20%."),
    ] = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="name=value, known from the start and free; name=? if it is not available; may be repeated."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a stochastic model.")] = None,
    trusted: Trusted = None,
    as_json: AsJson = False,
) -> None:
    """Ask for the features that a model wants, one at a time, and decide.

    Answer with a value, yes or no for a boolean; with ? if the feature is not available, which costs nothing;
    with an empty line if it was measured but is missing; with stop to end here. A category that is itself ?
    or stop is typed in quotes.
    """
    with clear_errors():
        from farthing.base import load_model  # noqa: PLC0415 - slow to import

        fitted = load_model(model, split_names(trusted))
        columns = {column.name: column for column in fitted.fitted_.questions.columns}
        pairs = dict(_pair(item, columns) for item in known or [])
        refused = {name for name, typed in pairs.items() if typed.strip() == _REFUSAL}
        start = {name: value_of(typed, columns[name]) for name, typed in pairs.items() if name not in refused}
        walk = fitted.walk(seed=seed, budget=budget_amount(budget, fitted.costs_), known=start)
    unit = f" {fitted.costs_.unit}" if fitted.costs_.unit else ""
    # With --json, standard output holds one JSON object and nothing else; the dialogue goes to stderr.
    bought = _consult(walk, columns, refused, unit, err=as_json)
    decision = walk.decision
    payload = {
        "prediction": decision.prediction,
        "probabilities": None
        if decision.probabilities is None
        else {str(label): p for label, p in decision.probabilities.items()},
        "spent": decision.spent,
        "acquired": bought,
        "finished": walk.ask is None,
    }
    paid = f"Spent {decision.spent:.2f}{unit} on {', '.join(bought) or 'nothing'}."
    emit(payload, f"Decision: {summarize_decision(decision)}\n{paid}", as_json=as_json)


def _consult(walk: Any, columns: Mapping[str, Any], refused: set[str], unit: str, *, err: bool) -> list[str]:
    """Ask until the model decides or the user stops; return what was bought, in the order of purchase."""
    bought: list[str] = []
    while (question := walk.ask) is not None:
        if question.feature in refused:
            walk.refuse()
            continue
        typer.echo(f"spent {walk.spent:.2f}{unit}; prediction: {summarize_decision(walk.decision)}", err=err)
        group = f", of {question.group}" if question.group else ""
        title = f"{question.feature} ({question.price:.2f}{unit}{group})"
        try:
            typed = typer.prompt(title, default="", show_default=False, err=err)
        except typer.Abort:
            typer.echo("", err=err)
            break
        if typed.strip() == "stop":
            break
        if typed.strip() == _REFUSAL:
            walk.refuse()
            continue
        try:
            walk.tell(value_of(typed, columns[question.feature]))
            bought.append(question.feature)
        # A bad answer does not move the walk, so the same question is asked again.
        except (FarthingError, ValueError) as error:
            typer.echo(f"  {error}", err=True)
    return bought


def summarize_decision(decision: Any) -> str:
    """Return the most likely labels with their probabilities, or the predicted number."""
    if decision.probabilities is None:
        return f"{decision.prediction:.4g}"
    ranked = sorted(decision.probabilities.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{label} {probability:.0%}" for label, probability in ranked)


def value_of(typed: str, column: Any) -> Any:
    """Return the value of a column that was typed: number, boolean, category, or None for an empty line.

    For a device it is the message, numbers separated by commas; an empty line means that it is silent.

    Parameters
    ----------
    typed : str
        What was typed. Quotes around a category are left out.
    column : Column or device
        What was asked for.

    Examples
    --------
    >>> from farthing.table import Column
    >>> age, smokes = Column("age", "numeric"), Column("smokes", "numeric")
    >>> value_of(" 4.5 ", age), value_of("", age), value_of("yes", smokes)
    (4.5, None, True)
    >>> value_of("bonn", Column("city", "categorical", ("Bonn", "Oslo")))
    'Bonn'
    """
    from farthing.table import Column  # noqa: PLC0415 - slow to import

    text = typed.strip()
    if not text:
        return None
    if not isinstance(column, Column):  # a device, whose message is a list of numbers
        return [float(part) for part in text.strip("[]").split(",")]
    if column.is_categorical:
        return _category(text, column)
    if text.lower() in _BOOLEANS:
        return _BOOLEANS[text.lower()]
    try:
        return float(text)
    except ValueError:
        raise ValueError(
            f"{column.name} is a number, or yes or no; got {text!r}. Type ? if it is not available"
        ) from None


def _category(text: str, column: Any) -> Any:
    # Categories may be numbers or booleans; what is typed is text.
    by_name = {str(category): category for category in column.categories}
    if len(text) > 2 and text[0] == text[-1] and text[0] in "'\"":
        text = text[1:-1]
    if text in by_name:
        return by_name[text]
    # In another case, or as yes and no, if that leaves no doubt.
    wanted = {
        text.lower(),
        str(_BOOLEANS.get(text.lower(), text)).lower() if by_name.keys() <= {"True", "False"} else "",
    }
    alike = [category for name, category in by_name.items() if name.lower() in wanted]
    if len(alike) == 1:
        return alike[0]
    raise ValueError(f"{column.name} is one of {', '.join(by_name)}, or ? if it is not available")


def _pair(item: str, columns: Mapping[str, Any]) -> tuple[str, str]:
    name, equals, typed = item.partition("=")
    if not equals or name not in columns:
        raise ValueError(f"--known takes name=value, with a name among {', '.join(columns)}; got {item!r}")
    return name, typed
