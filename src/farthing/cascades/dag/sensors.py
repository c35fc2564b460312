"""Sensors: the groups of columns that a state graph buys as wholes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.table import Schema

Columns = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Sensors:
    """What can be bought: columns that are free, and sensors by name.

    Attributes
    ----------
    free : ndarray of int64, shape (n_free,)
        Columns of the sensors that cost nothing, which every row owns from the start.
    names : tuple of str
        The other sensors.
    columns : tuple of ndarray of int64
        The columns of each, ascending.
    """

    free: Columns
    names: tuple[str, ...]
    columns: tuple[Columns, ...]

    def __len__(self) -> int:
        return len(self.names)

    @classmethod
    def of(cls, given: Mapping[str, Any] | None, schema: Schema, costs: CostSheet) -> Sensors:
        """Return the sensors of a table.

        Parameters
        ----------
        given : mapping of str to columns, or None
            The columns of each sensor, by name or by number; those of no sensor are never bought. None means
            the groups of the sheet that have a shared cost, and every other column by itself.
        schema : Schema
            Names of the columns.
        costs : CostSheet
            The prices, in the order of the columns.

        Examples
        --------
        >>> from farthing.costs import Group
        >>> schema = Schema.learn(np.zeros((1, 4)))
        >>> sheet = CostSheet([1, 2, 4, 0], groups={"lab": Group(8, ["x1", "x2"])})
        >>> Sensors.of(None, schema, sheet)
        Sensors(free=array([3]), names=('x0', 'lab'), columns=(array([0]), array([1, 2])))
        """
        found = _of_sheet(schema, costs) if given is None else _of_mapping(given, schema)
        prices = {
            name: costs.total([schema.names[column] for column in columns.tolist()])
            for name, columns in found.items()
        }
        free = [columns for name, columns in found.items() if prices[name] == 0]
        paid = {name: columns for name, columns in found.items() if prices[name] > 0}
        none = np.empty(0, dtype=np.int64)
        return cls(np.unique(np.concatenate([none, *free])), tuple(paid), tuple(paid.values()))


def _of_sheet(schema: Schema, costs: CostSheet) -> dict[str, Columns]:
    """Return groups with a shared cost, and other columns alone, in the order of the table."""
    found: dict[str, Columns] = {}
    for column, name in enumerate(schema.names):
        group = int(costs.group_of[column])
        # Without a shared cost nothing is saved by buying the members of a group together.
        if group < 0 or costs.shared[group] == 0:
            found[name] = np.array([column], dtype=np.int64)
        elif costs.group_names[group] not in found:
            found[costs.group_names[group]] = np.flatnonzero(costs.group_of == group).astype(np.int64)
    return found


def _of_mapping(given: Mapping[str, Any], schema: Schema) -> dict[str, Columns]:
    if not isinstance(given, Mapping) or not given:
        raise ValueError(f"sensors must map names to columns, at least one; got {given!r}")
    return {str(name): columns_of(columns, schema, f"sensor {name!r}") for name, columns in given.items()}


def columns_of(given: Any, schema: Schema, what: str) -> Columns:
    """Return columns that a user gives by name or by number, ascending.

    Examples
    --------
    >>> columns_of(["x2", 0], Schema.learn(np.zeros((1, 3))), "sensor 'a'")
    array([0, 2])
    """
    if isinstance(given, str):
        raise ValueError(f"{what} is the single string {given!r}; write [{given!r}]")  # noqa: TRY004
    names = schema.names
    entries = np.asarray(given, dtype=object).ravel().tolist() if not isinstance(given, list) else given
    columns = [schema.index(one) if isinstance(one, str) else int(one) for one in entries]
    if not columns or min(columns) < 0 or max(columns) >= len(names):
        raise ValueError(
            f"{what} must have columns, by name or by number from 0 to {len(names) - 1}; got {given!r}"
        )
    return np.unique(columns).astype(np.int64)
