"""The part of a cost sheet that a walk can touch, with the columns renumbered."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from farthing.base import FittedModel
from farthing.table import Schema
from farthing.typing import Floats
from farthing.walks.plans import Handover, MessagePlan, Plan, StationPlan, TreePlan


@dataclass(frozen=True, eq=False)
class Prices:
    """Columns that a walk may ask for, then calls, in the order of the sheet, and the groups of these.

    The call of a `Handover` is the last of the columns, since it is a question. Columns that nobody asks for,
    and that share no group with one, are left out: no sum has a term of theirs.

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
    def of(cls, model: FittedModel, plan: Plan) -> Prices:
        """Return the prices of a fitted model, whose plan tells what its questions are."""
        if isinstance(plan, MessagePlan):
            return cls._of_devices(model)
        handover = plan.handover if isinstance(plan, TreePlan | StationPlan) else None
        return cls._of_columns(model) if handover is None else cls._with_handover(model, plan, handover)

    @classmethod
    def _of_devices(cls, model: FittedModel) -> Prices:
        """Return the prices of messages: devices take the place of columns."""
        sheet = model.costs
        return cls(
            names=sheet.features,
            columns=tuple(range(len(sheet.features))),
            categories=((),) * len(sheet.features),
            n_columns=len(sheet.features),
            own=sheet.own,
            group_of=tuple(sheet.group_of.tolist()),
            groups=sheet.group_names,
            shared=sheet.shared,
            unit=sheet.unit,
        )

    @classmethod
    def _with_handover(cls, model: FittedModel, plan: Plan, handover: Handover) -> Prices:
        """Return the prices of the plan's columns, of those that the other model reads, and of its call."""
        read = set(handover.columns)
        if isinstance(plan, TreePlan):
            read |= set(np.flatnonzero(plan.trees.forest.tested).tolist())
        elif isinstance(plan, StationPlan):
            read |= {column for station in plan.stations for column in station.columns}
        found = cls._of_columns(model, np.isin(np.arange(model.costs.n_columns), sorted(read)), calls=False)
        return replace(
            found,
            names=(*found.names, handover.name),
            columns=(*found.columns, -2),
            categories=(*found.categories, ()),
            n_columns=found.n_columns + 1,
            own=np.append(found.own, handover.price),
            group_of=(*found.group_of, -1),
        )

    @classmethod
    def _of_columns(
        cls, model: FittedModel, read: NDArray[np.bool_] | None = None, *, calls: bool = True
    ) -> Prices:
        sheet, wanted = model.costs, np.array(model.may_buy() if read is None else read, dtype=np.bool_)
        group_of = sheet.group_of[: sheet.n_columns]
        # A known column of a group that is never asked for itself makes the group free.
        wanted |= (group_of >= 0) & np.isin(group_of, group_of[wanted])
        items = np.flatnonzero(wanted).tolist()
        items += range(sheet.n_columns, len(sheet.features)) if calls else ()
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
