"""Arguments and options that several commands share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from farthing.cli.task import RULE, Task

if TYPE_CHECKING:
    from farthing.costs import CostSheet

Table = Annotated[Path, typer.Argument(help="A CSV, TSV, Parquet or Feather file.")]
Target = Annotated[str, typer.Argument(help="The column to predict.")]
Costs = Annotated[
    Path | None, typer.Option(help="The price list: TOML, JSON or CSV. Without one, every feature costs 1.")
]
LabelSheet = Annotated[
    Path | None,
    typer.Option(
        "--labels",
        help="What features and classes mean: titles, units, ranges, names, as TOML or JSON. The model file "
        "keeps it; the page, ask and the report show it.",
    ),
]
Budgets = Annotated[
    list[str] | None,
    typer.Option(
        "--budget",
        help="What a row may spend: a number, or a share of what all features cost, such as 20%. If the "
        "price list has further resources, once for each limit: --budget CAD=100 --budget minutes=30.",
    ),
]
TaskOption = Annotated[
    Task | None,
    typer.Option(
        "--task",
        help="Whether the target is a label, a number, or a grade of documents to rank, which needs --query. "
        f"By default: {RULE}.",
    ),
]
Query = Annotated[
    str | None,
    typer.Option(help="For --task rank, the column that names the query of each row; it is not a feature."),
]
Drop = Annotated[
    list[str] | None,
    typer.Option(
        help="A column to leave out, such as an ID; may be repeated, or several separated by commas."
    ),
]
Weight = Annotated[
    str | None, typer.Option(help="A column of row weights, zero or more; it is not a feature.")
]
Separator = Annotated[
    str | None, typer.Option("--sep", help=r"What separates the cells of a CSV file: ; or \t or |.")
]
Trusted = Annotated[
    list[str] | None,
    typer.Option(
        help="Full name of a type that a scikit-learn model in the file may be made of, such as "
        "sklearn.tree._tree.Tree; may be repeated, or several separated by commas. Only for files whose "
        "maker you trust: a hostile one can crash the process."
    ),
]
Methods = Annotated[
    str,
    typer.Option(
        help="Names of the methods to try, separated by commas; auto is a good selection, all is every one."
    ),
]
Scoring = Annotated[
    str | None,
    typer.Option(
        help="Name of a scikit-learn scorer, or ndcg@10. By default accuracy for labels, mean squared error "
        "for numbers, NDCG@5 for rankings."
    ),
]
Positive = Annotated[
    str | None,
    typer.Option(help="The label that counts as positive, for scorers such as f1, precision and recall."),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        help="Seconds for the whole command; fits are cut off and reports shortened when it is over."
    ),
]
MemoryFolder = Annotated[
    Path | None, typer.Option(help="Folder for intermediate results, to continue after an interruption.")
]
Seed = Annotated[int, typer.Option(help="Seed of random splits and of methods that draw.")]
Jobs = Annotated[int, typer.Option(help="Number of parallel jobs; -1 uses all cores.")]


def method_list(methods: str) -> str | list[str]:
    """Return the methods in a comma-separated list."""
    return "auto" if methods == "auto" else [name.strip() for name in methods.split(",") if name.strip()]


def budget_option(budget: str | Sequence[str] | None) -> float | str | dict[str, float | str] | None:
    """Return what was given as ``--budget``: a number, a share with its percent sign, or several by name.

    Examples
    --------
    >>> budget_option("20%"), budget_option(["100"]), budget_option(["CAD=100", "minutes=30"])
    ('20%', 100.0, {'CAD': 100.0, 'minutes': 30.0})
    """
    given = [budget] if isinstance(budget, str) else list(budget or ())
    if not given:
        return None
    if len(given) == 1 and "=" not in given[0]:
        return _amount(given[0])
    named: dict[str, float | str] = {}
    for each in given:
        name, sign, amount = (part.strip() for part in each.rpartition("="))
        if not sign or not name:
            raise ValueError(f"of several budgets each has a name, such as minutes=30; got {each!r}")
        if name in named:
            raise ValueError(f"--budget gives {name!r} twice")
        named[name] = _amount(amount)
    return named


def _amount(text: str) -> float | str:
    if "%" in text:
        return text
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"--budget must be a number or a share such as 20%; got {text!r}") from None


def budget_amount(budget: str | Sequence[str] | None, sheet: CostSheet) -> float | dict[str, float] | None:
    """Return a budget in numbers; a share is one of what all features take."""
    from farthing.costs.resources import MONEY  # noqa: PLC0415 - slow to import
    from farthing.frontier.budget_amount import budget_of, resource_caps  # noqa: PLC0415

    given = budget_option(budget)
    money, caps = budget_of(given, sheet), resource_caps(given, sheet)
    return ({} if money is None else {MONEY: money}) | caps if caps else money


def split_names(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of an option that may be repeated, or hold several separated by commas.

    Examples
    --------
    >>> split_names(["age, sex", "chol"]), split_names(None)
    (('age', 'sex', 'chol'), ())
    """
    return tuple(name.strip() for entry in given or () for name in entry.split(","))
