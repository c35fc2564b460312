"""The part of a cost sheet that a walk can touch, with the columns renumbered."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from farthing.base import FittedModel
from farthing.table import Schema
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class Prices:
    """Columns that a walk may ask for, then calls, in the order of the sheet, and the groups of these.

    Columns that nobody asks for, and that share no group with one, are left out: no sum has a term of theirs.

    Parameters
    ----------
    names : tuple of str
        Of columns and calls.
    columns : tuple of int
        Their places in the cost sheet.
    categories : tuple of tuple
        The categories of each column, by code; empty for a number.
    n_columns : int
        How many of them are columns.
    own : ndarray of float64, shape (n_items,)
        Own costs.
    group_of : tuple of int
        The group of each; -1 without one.
    groups : tuple of str
        Names of the groups.
    shared : ndarray of float64, shape (n_groups,)
        Shared costs.
    unit : str
        The unit of the costs.
    """

    names: tuple[str, ...]
    columns: tuple[int, ...]
    categories: tuple[tuple[object, ...], ...]
    n_columns: int
    own: Floats
    group_of: tuple[int, ...]
    groups: tuple[str, ...]
    shared: Floats
    unit: str

    @classmethod
    def of(cls, model: FittedModel) -> Prices:
        """Return the prices of a fitted model."""
        sheet, wanted = model.costs, np.array(model.may_buy(), dtype=np.bool_)
        group_of = sheet.group_of[: sheet.n_columns]
        # A known column of a group that is never asked for itself makes the group free.
        wanted |= (group_of >= 0) & np.isin(group_of, group_of[wanted])
        items = [*np.flatnonzero(wanted).tolist(), *range(sheet.n_columns, len(sheet.features))]
        kept = sorted({int(sheet.group_of[item]) for item in items if sheet.group_of[item] >= 0})
        return cls(
            names=tuple(sheet.features[item] for item in items),
            columns=tuple(items),
            categories=tuple(_categories(model.schema, item) for item in items if item < sheet.n_columns),
            n_columns=int(wanted.sum()),
            own=sheet.own[items],
            group_of=tuple(
                kept.index(group) if (group := int(sheet.group_of[item])) >= 0 else -1 for item in items
            ),
            groups=tuple(sheet.group_names[group] for group in kept),
            shared=sheet.shared[kept],
            unit=sheet.unit,
        )

    def slot(self, item: int) -> int:
        """Return the number of a column, or a call, of the cost sheet; -1 stays."""
        return -1 if item < 0 else self.columns.index(item)


def _categories(schema: Schema, column: int) -> tuple[object, ...]:
    return tuple(schema.columns[column].categories)
