"""What `fit` and `frontier` learn from: the features, target, weights and prices of a table."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from farthing.cli.output import note, warn
from farthing.cli.tables import (
    check_columns,
    numbers_of,
    queries_of,
    read_table,
    refuse_dates,
    target_of,
)
from farthing.cli.task import Task, guess_task, target_for
from farthing.errors import TableError

if TYPE_CHECKING:
    from farthing.costs import CostSheet
    from farthing.labels import Labels


@dataclass(frozen=True, eq=False)
class Problem:
    """A table and a price list, read and checked.

    Attributes
    ----------
    X : DataFrame, shape (n_rows, n_features)
        The features.
    y : ndarray, shape (n_rows,)
        Labels, or floats to regress.
    weights : ndarray of float64, shape (n_rows,), or None
        Weight of each row.
    sheet : CostSheet
        The prices, in the order of the columns.
    task : Task
        What to learn.
    qid : ndarray, shape (n_rows,), or None
        The query of each row, to rank.
    unused : tuple of str
        Columns of the table that are neither features nor the target.
    """

    X: Any
    y: Any
    weights: Any
    sheet: CostSheet
    task: Task
    qid: Any = None
    unused: tuple[str, ...] = ()

    @property
    def queries(self) -> dict[str, Any]:
        """The queries as an option of what takes them; empty unless rows are to be ranked."""
        return {} if self.qid is None else {"qid": self.qid}


def read_problem(
    table: Path,
    target: str,
    costs: Path | None,
    *,
    task: Task | None = None,
    drop: Sequence[str] | None = None,
    weight: str | None = None,
    query: str | None = None,
    separator: str | None = None,
) -> Problem:
    """Read a table and a price list, and say on standard error what was assumed.

    Parameters
    ----------
    table : Path
        The table.
    target : str
        The column to predict.
    costs : Path or None
        The price list; None means 1 each.
    task : Task, optional
        None guesses it from the target.
    drop : sequence of str, optional
        Columns to leave out; an entry that is no column may be several, separated by commas.
    weight : str, optional
        The column of row weights.
    query : str, optional
        The column of queries, for rankings.
    separator : str, optional
        What separates the cells of a CSV file.
    """
    frame = read_table(table, separator)
    check_columns([target], frame)
    dropped = dropped_columns(drop or (), frame)
    roles = [name for name in (weight, query) if name is not None]
    check_columns([*dropped, *roles], frame)
    if target in (*dropped, *roles):
        raise TableError(f"{target!r} is the target; it cannot be dropped, nor be the weight or the query")
    _check_query(task, query)
    y = target_of(frame, target)
    weights = None if weight is None else numbers_of(frame, weight)
    qid = None if query is None else queries_of(frame, query)
    unused = {*dropped, *roles}
    X = frame.drop(columns=[target, *unused])
    if not len(X.columns):
        raise TableError(f"no features are left beside the target {target!r}")
    refuse_dates(X)
    sheet = read_costs(costs, list(X.columns), unused=unused)
    if task is None:
        task, reason = guess_task(y)
        note_task(task, target, reason)
    return Problem(X, target_for(task, y, target), weights, sheet, task, qid, tuple(sorted(unused)))


def note_task(task: Task, target: str, reason: str) -> None:
    """Say on standard error which task was guessed."""
    # Text can only be labels, and fractions only numbers.
    doubt = "; change it with --task" if "whole" in reason else ""
    note(f"--task {task}, since {target!r} {reason}{doubt}")


def read_costs(path: Path | None, names: Sequence[str], *, unused: Collection[str] = ()) -> CostSheet:
    """Return the prices of the columns.

    Parameters
    ----------
    path : Path or None
        The price list; None means 1 each, with a warning.
    names : sequence of str
        The columns.
    unused : collection of str
        Columns of the table that are no features; the list may have them.
    """
    from farthing.costs import CostSheet  # noqa: PLC0415 - slow to import

    if path is None:
        warn("no price list is given, so every feature costs 1; see --costs")
        return CostSheet.uniform(names)
    listed = CostSheet.read(path)
    spare = [name for name in listed.features if name in unused]
    aligned = listed.align([*names, *spare])
    if not spare:
        return aligned
    own = dict(zip(aligned.features, aligned.own.tolist(), strict=True))
    return CostSheet(own, aligned.groups, aligned.unit, strict=False).align(names)


def read_labels(path: Path | None, problem: Problem) -> Labels:
    """Return the labels of the features, checked before a fit that may take hours.

    Parameters
    ----------
    path : Path or None
        The sheet of labels; None means none.
    problem : Problem
        The table. Columns of it that are no features may have labels, too, which are left out.
    """
    from farthing.labels import Labels  # noqa: PLC0415 - slow to import

    if path is None:
        return Labels()
    sheet, names = Labels.read(path), list(problem.X.columns)
    classes = dict.fromkeys(problem.y.tolist()) if problem.task is Task.CLASSIFY else None
    sheet.check([*names, *problem.unused], classes)
    return sheet.only(names)


def _check_query(task: Task | None, query: str | None) -> None:
    """Raise TableError unless there is a column of queries exactly if rows are to be ranked."""
    if task is Task.RANK and query is None:
        raise TableError("--task rank needs to know which rows belong together: add --query COLUMN")
    if task is not Task.RANK and query is not None:
        raise TableError("--query is for rankings; add --task rank, or leave the column out: --drop")


def dropped_columns(given: Sequence[str], frame: Any) -> list[str]:
    """Return the columns to leave out; a name that has a comma in it is tried as a whole first."""
    found: list[str] = []
    for entry in given:
        found += [entry] if entry in frame.columns else [name.strip() for name in entry.split(",")]
    return list(dict.fromkeys(found))
