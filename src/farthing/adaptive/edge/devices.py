"""Devices: named groups of columns, each measured in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.store import register_codec
from farthing.table import Schema


@dataclass(frozen=True)
class Devices:
    """The columns that each device measures.

    Parameters
    ----------
    names : tuple of str
        The devices.
    columns : tuple of tuple of int
        The columns of each, ascending; no column belongs to two.

    Examples
    --------
    >>> schema = Schema.learn(np.zeros((1, 3)))
    >>> Devices.of({"wrist": ["x0", "x2"], "ankle": [1]}, schema)
    Devices(names=('wrist', 'ankle'), columns=((0, 2), (1,)))
    >>> Devices.of(None, schema).names
    ('x0', 'x1', 'x2')
    """

    names: tuple[str, ...]
    columns: tuple[tuple[int, ...], ...]

    def __post_init__(self) -> None:
        if not self.names or len(self.names) != len(self.columns):
            raise ValueError("there must be at least one device, each with its columns")
        if len(set(self.names)) < len(self.names):
            raise ValueError("a device is named twice")
        every = [column for columns in self.columns for column in columns]
        if len(set(every)) < len(every) or min(every, default=0) < 0:
            raise ValueError("a column belongs to two devices")

    @classmethod
    def of(cls, given: Any, schema: Schema) -> Devices:
        """Read a mapping from names to columns, by name or position; None means one device per column."""
        if given is None:
            return cls(schema.names, tuple((column,) for column in range(len(schema))))
        if isinstance(given, cls):
            given = dict(zip(given.names, given.columns, strict=True))
        if not isinstance(given, Mapping) or not given:
            raise ValueError(
                "devices must be a mapping from names to columns, such as {'wrist': ['x0', 'x1']}; got "
                f"{type(given).__name__}"
            )
        found: dict[str, tuple[int, ...]] = {}
        owner: dict[int, str] = {}
        for name, columns in given.items():
            if not isinstance(name, str):
                raise ValueError(f"the name of a device must be a string; got {name!r}")  # noqa: TRY004
            found[name] = _columns(name, columns, schema)
            for column in found[name]:
                if column in owner:
                    problem = f"column {schema.names[column]!r} belongs to two devices"
                    raise ValueError(f"{problem}, {owner[column]!r} and {name!r}; give it to one")
                owner[column] = name
        return cls(tuple(found), tuple(found.values()))

    def __len__(self) -> int:
        return len(self.names)

    def measured(self, n_features: int) -> NDArray[np.bool_]:
        """Return which columns belong to a device, shape (n_features,)."""
        mask = np.zeros(n_features, dtype=np.bool_)
        mask[[column for columns in self.columns for column in columns]] = True
        return mask


def message_prices(sheet: CostSheet) -> NDArray[np.float64]:
    """Return the price of a message of each device: its own cost and an even part of its group's shared cost.

    Examples
    --------
    >>> from farthing.costs import Group
    >>> message_prices(CostSheet({"a": 1, "b": 2, "c": 3}, groups={"hub": Group(4, ["b", "c"])}))
    array([1., 4., 5.])
    """
    # Used in training only, where the price of a message must not depend on the other devices. The account
    # charges the shared cost once per row, to the first member that sends.
    inside = sheet.group_of >= 0
    members = np.bincount(sheet.group_of[inside], minlength=len(sheet.shared))
    prices = sheet.own.copy()
    prices[inside] += (sheet.shared / np.maximum(members, 1))[sheet.group_of[inside]]
    return prices


def _columns(name: str, given: Any, schema: Schema) -> tuple[int, ...]:
    if isinstance(given, str):
        raise ValueError(f"the columns of {name!r} are the single string {given!r}; write [{given!r}]")  # noqa: TRY004
    columns = []
    for one in given:
        column = schema.index(one) if isinstance(one, str) else int(one)
        if not 0 <= column < len(schema):
            raise ValueError(
                f"device {name!r} has the column {one}; the table has {len(schema)}, numbered from 0"
            )
        columns.append(column)
    if not columns or len(set(columns)) < len(columns):
        raise ValueError(f"device {name!r} must have at least one column, each once; got {list(given)!r}")
    return tuple(sorted(columns))


def _decode(fields: dict[str, Any]) -> Devices:
    names, columns = fields["names"], fields["columns"]
    if not isinstance(names, tuple) or not all(isinstance(name, str) for name in names):
        raise TypeError("names must be strings")
    if not isinstance(columns, tuple) or not all(isinstance(part, tuple) for part in columns):
        raise TypeError("columns must be tuples")
    if not all(type(column) is int for part in columns for column in part):
        raise TypeError("columns must be integers")
    return Devices(names, columns)


register_codec(
    "Devices", Devices, lambda devices: {"names": devices.names, "columns": devices.columns}, _decode
)
