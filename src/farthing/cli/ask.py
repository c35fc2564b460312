"""``farthing ask``: an interactive prediction in the terminal, one feature at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final

import typer

from farthing.cli.app import app
from farthing.cli.options import Budgets, Trusted, budget_amount, split_names
from farthing.cli.output import AsJson, clear_errors, emit
from farthing.errors import FarthingError

if TYPE_CHECKING:
    from farthing.labels import Labels

# What may be typed for a boolean, which a model knows as 1 or 0.
_BOOLEANS: Final = {"true": True, "yes": True, "false": False, "no": False}
_REFUSAL: Final = "?"


@app.command()
def ask(  # noqa: PLR0917 - typer takes the options from here
    model: Annotated[Path, typer.Argument(help="A model file.")],
    budget: Budgets = None,
    known: Annotated[
        list[str] | None,
        typer.Option(
            help="name=value, known from the start and free; name=? if it is not available; may be repeated."
        ),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Seed of a stochastic model.")] = None,
    why: Annotated[
        bool, typer.Option(help="Say why each feature is asked for, and why the walk ends.")
    ] = False,
    panel: Annotated[
        int, typer.Option(min=1, help="Ask for up to so many features at once, if each round costs waiting.")
    ] = 1,
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
        start = {
            name: value_of(typed, columns[name], fitted.labels_)
            for name, typed in pairs.items()
            if name not in refused
        }
        walk = fitted.walk(seed=seed, budget=budget_amount(budget, fitted.costs_), known=start)
    unit = f" {fitted.costs_.unit}" if fitted.costs_.unit else ""
    # With --json, standard output holds one JSON object and nothing else; the dialogue goes to stderr.
    dialogue = _Dialogue(fitted.fitted_.questions, columns, fitted.labels_, unit, err=as_json, why=why)
    bought = dialogue.consult(walk, refused, panel)
    decision = walk.decision
    payload = {
        "prediction": decision.prediction,
        "probabilities": None
        if decision.probabilities is None
        else {str(label): p for label, p in decision.probabilities.items()},
        "spent": decision.spent,
        "acquired": bought,
        "finished": walk.ask is None,
        **({} if decision.resources is None else {"resources": decision.resources}),
        **({"rounds": walk.n_rounds} if panel > 1 else {}),
    }
    stop = walk.stop_reason if why else None
    if why:
        payload["stop_reason"] = None if stop is None else stop.to_dict()
    titles = [fitted.labels_.title_of(name) for name in bought]
    paid = f"Spent {decision.spent:.2f}{unit} on {', '.join(titles) or 'nothing'}."
    for name, amount in (decision.resources or {}).items():
        paid += f" Took {amount:g} {name}."
    if panel > 1:
        paid += f" {walk.n_rounds} {'round' if walk.n_rounds == 1 else 'rounds'} of questions."
    if stop is not None:
        paid += f"\nIt ends since {stop}."
    emit(payload, f"Decision: {summarize_decision(decision, fitted.labels_)}\n{paid}", as_json=as_json)


@dataclass(frozen=True)
class _Dialogue:
    """Questions and answers at a terminal."""

    asked: Any  # what walks may ask for: the schema, or a substitute for it
    columns: Mapping[str, Any]
    labels: Labels
    unit: str
    err: bool  # whether to write to standard error
    why: bool = False

    def consult(self, walk: Any, refused: set[str], panel: int = 1) -> list[str]:
        """Ask until the model decides or the user stops; return what was bought, in the order of purchase.

        Up to ``panel`` questions are asked before any of their answers goes to the model.
        """
        from farthing.walks import REFUSED  # noqa: PLC0415 - slow to import

        bought: list[str] = []
        while walk.ask is not None:
            if walk.ask.feature in refused:
                walk.refuse()
                continue
            questions = [ask for ask in walk.panel(panel) if ask.feature not in refused]
            decided = summarize_decision(walk.decision, self.labels)
            typer.echo(f"spent {walk.spent:.2f}{self.unit}; prediction: {decided}", err=self.err)
            if self.why:
                first = questions[0]
                typer.echo(f"why {self.labels.title_of(first.feature)}: {first.reason}", err=self.err)
            if len(questions) > 1:
                titles = ", ".join(self.labels.title_of(ask.feature) for ask in questions)
                price = sum(ask.price for ask in questions)
                typer.echo(f"order together: {titles} ({price:.2f}{self.unit})", err=self.err)
            answers, stopped = self._answers(questions)
            walk.tell_panel(answers)
            bought += [name for name, value in answers.items() if value is not REFUSED]
            if stopped:
                break
        return bought

    def _answers(self, questions: Sequence[Any]) -> tuple[dict[str, Any], bool]:
        """Return the answers to a panel, and whether the user wants to stop after them."""
        from farthing.walks import REFUSED  # noqa: PLC0415 - slow to import

        answers: dict[str, Any] = {}
        for question in questions:
            while question.feature not in answers:
                try:
                    typed = self._prompt(question)
                except typer.Abort:
                    typer.echo("", err=self.err)
                    return answers, True
                if typed.strip() == "stop":
                    return answers, True
                if typed.strip() == _REFUSAL:
                    answers[question.feature] = REFUSED
                    continue
                # A bad answer is asked for again.
                try:
                    value = value_of(typed, self.columns[question.feature], self.labels)
                    # A panel is told as a whole, so each of its values is checked before.
                    self.asked.encode_value(self.asked.index(question.feature), value)
                    if self._is_meant(question.feature, value):
                        answers[question.feature] = value
                except (FarthingError, ValueError) as error:
                    typer.echo(f"  {error}", err=True)
        return answers, False

    def _prompt(self, question: Any) -> str:
        label = self.labels.feature(question.feature)
        if label.question:
            typer.echo(label.question, err=self.err)
        for category, text in label.categories.items():
            typer.echo(f"  {category}: {text}", err=self.err)
        group = f", of {question.group}" if question.group else ""
        measured = f", in {label.unit}" if label.unit else ""
        title = self.labels.title_of(question.feature)
        text = f"{title}{measured} ({question.price:.2f}{self.unit}{group})"
        return str(typer.prompt(text, default="", show_default=False, err=self.err))

    def _is_meant(self, feature: str, value: Any) -> bool:
        """Ask back if a value is unusual; raise ValueError if it cannot be right."""
        label = self.labels.feature(feature)
        if fault := label.fault(value):
            raise ValueError(f"{label.shown(value)} is {fault}")
        doubt = label.doubt(value)
        return doubt is None or typer.confirm(
            f"  {label.shown(value)} is {doubt}. Is it right?", err=self.err
        )


def summarize_decision(decision: Any, labels: Labels) -> str:
    """Return the most likely labels with their probabilities, or the predicted number."""
    if decision.probabilities is None:
        return f"{decision.prediction:.4g}"
    ranked = sorted(decision.probabilities.items(), key=lambda item: -item[1])[:3]
    return ", ".join(f"{labels.class_name(label)} {probability:.0%}" for label, probability in ranked)


def value_of(typed: str, column: Any, labels: Labels) -> Any:
    """Return the value of a column that was typed: number, boolean, category, or None for an empty line.

    For a device it is the message, numbers separated by commas; an empty line means that it is silent.

    Parameters
    ----------
    typed : str
        What was typed. Quotes around a category are left out.
    column : Column or device
        What was asked for.
    labels : Labels
        Texts of categories, which may be typed as well.

    Examples
    --------
    >>> from farthing import Labels
    >>> from farthing.table import Column
    >>> age, smokes = Column("age", "numeric"), Column("smokes", "numeric")
    >>> value_of(" 4.5 ", age, Labels()), value_of("", age, Labels()), value_of("yes", smokes, Labels())
    (4.5, None, True)
    >>> value_of("bonn", Column("city", "categorical", ("Bonn", "Oslo")), Labels())
    'Bonn'
    >>> value_of("Female", Column("sex", "numeric"), Labels({"sex": {"categories": {0: "female"}}}))
    0.0
    """
    from farthing.table import Column  # noqa: PLC0415 - slow to import

    text = typed.strip()
    if not text:
        return None
    if not isinstance(column, Column):  # a device, whose message is a list of numbers
        return [float(part) for part in text.strip("[]").split(",")]
    text = _code(text, labels.feature(column.name).categories)
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


def _code(text: str, texts: Mapping[str, str]) -> str:
    """Return the category of which a text was typed, or what was typed."""
    alike = [category for category, shown in texts.items() if shown.lower() == text.lower()]
    return alike[0] if len(alike) == 1 and text not in texts else text


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
