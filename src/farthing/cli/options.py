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


def budget_option(budget: str | None) -> float | str | None:
    """Return what was given as ``--budget``: a number, or a share with its percent sign."""
    if budget is None or "%" in budget:
        return budget
    try:
        return float(budget)
    except ValueError:
        raise ValueError(f"--budget must be a number or a share such as 20%; got {budget!r}") from None


def budget_amount(budget: str | None, sheet: CostSheet) -> float | None:
    """Return a budget as a number; a share is one of the cost of all features."""
    from farthing.frontier.budgeted_base import budget_of  # noqa: PLC0415 - slow to import

    return budget_of(budget_option(budget), sheet)


def split_names(given: Sequence[str] | None) -> tuple[str, ...]:
    """Return the names of an option that may be repeated, or hold several separated by commas.

    Examples
    --------
    >>> split_names(["age, sex", "chol"]), split_names(None)
    (('age', 'sex', 'chol'), ())
    """
    return tuple(name.strip() for entry in given or () for name in entry.split(","))
