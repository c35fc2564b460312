"""The schema of a table from what each of its parts shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from farthing.errors import TableError
from farthing.table.columns import Column, learn_column
from farthing.table.schema import Schema
from farthing.table.sources import RawColumn, open_source


@dataclass(frozen=True, slots=True)
class ColumnFacts:
    """What a part shows of a column.

    Parameters
    ----------
    column : Column
        As if the part were the whole table.
    listed : tuple or None
        All categories of a categorical dtype, in order, whether they occur or not.
    is_open : bool
        Whether nothing but missing values is in it, so that it may be of any kind.
    """

    column: Column
    listed: tuple[object, ...] | None = None
    is_open: bool = False

    @classmethod
    def of(cls, name: str, raw: RawColumn) -> ColumnFacts:
        """Look at a column of a part."""
        column = learn_column(name, raw)
        if raw.store == "codes":
            return cls(column, tuple(raw.codes()[1]))
        return cls(column, is_open=raw.store == "objects" and not column.is_categorical and _is_empty(raw))


@dataclass(frozen=True, slots=True)
class PartFacts:
    """What a part shows of all columns.

    Examples
    --------
    >>> import pandas as pd
    >>> one = PartFacts.of(pd.DataFrame({"sex": ["male"]}))
    >>> other = PartFacts.of(pd.DataFrame({"sex": ["female", None]}))
    >>> merged_schema([one, other]).columns
    (Column(name='sex', kind='categorical', categories=('female', 'male')),)
    """

    columns: tuple[ColumnFacts, ...]
    named: bool

    @classmethod
    def of(cls, X: Any, estimator: str = "the model") -> PartFacts:
        """Look at a part, which may have no rows."""
        source = open_source(X, estimator, min_rows=0)
        names = source.names or tuple(f"x{place}" for place in range(source.shape[1]))
        return cls(
            tuple(ColumnFacts.of(name, source.column(place)) for place, name in enumerate(names)),
            source.names is not None,
        )

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(facts.column.name for facts in self.columns)

    @property
    def depends_on_rows(self) -> bool:
        """Whether other parts may show more than this one: there are columns that are not of numbers."""
        return any(facts.column.is_categorical or facts.is_open for facts in self.columns)


def merged_schema(parts: Sequence[PartFacts]) -> Schema:
    """Return the schema that `Schema.learn` gives for all parts one below the other."""
    for number, part in enumerate(parts):
        if (part.names, part.named) != (parts[0].names, parts[0].named):
            raise TableError(
                f"partition {number} has the columns {', '.join(part.names)}, but partition 0 has "
                f"{', '.join(parts[0].names)}; give all partitions the same columns, in the same order"
            )
    columns = zip(*(part.columns for part in parts), strict=True)
    return Schema(tuple(_merged(facts) for facts in columns), parts[0].named)


def _merged(parts: Sequence[ColumnFacts]) -> Column:
    name = parts[0].column.name
    known = [(number, part) for number, part in enumerate(parts) if not part.is_open]
    kinds = {part.column.kind: number for number, part in reversed(known)}
    if len(kinds) > 1:
        raise TableError(
            f"column {name!r}: got numbers in partition {kinds['numeric']} and strings in partition "
            f"{kinds['categorical']}; make all of them numbers, or all of them strings"
        )
    if "categorical" not in kinds:
        return Column(name, "numeric")
    found = {category for _, part in known for category in part.column.categories}
    lists = {part.listed for _, part in known}
    if lists == {None}:
        return Column(name, "categorical", tuple(sorted(found, key=str)))
    if len(lists) > 1:
        raise TableError(
            f"column {name!r}: partitions differ in the categories of its dtype; make them known and equal, "
            "as X.categorize() does"
        )
    listed = next(iter(lists)) or ()
    # As in `learn_column`: those that occur, in the order of the dtype, as plain scalars.
    order = {category: place for place, category in enumerate(listed)}
    return Column(name, "categorical", tuple(sorted(found, key=lambda category: order[category])))


def _is_empty(raw: RawColumn) -> bool:
    return all(value is None or value != value for value in raw.objects())  # noqa: PLR0124
