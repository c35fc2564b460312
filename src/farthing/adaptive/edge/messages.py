"""Messages of devices to the cloud: arrays of many rows, and how a single one is read."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.typing import Floats


@dataclass(frozen=True, eq=False)
class Messages:
    """The messages of each device about each row; edge models take it in place of a table.

    Parameters
    ----------
    devices : tuple of str
        The devices.
    scores : ndarray of float64, shape (n_rows, n_devices, n_scores)
        The outputs of the local models; those of a silent device are never read.
    sent : ndarray of bool, shape (n_rows, n_devices)
        Whose gate was open.

    Examples
    --------
    >>> messages = Messages.of([{"wrist": [0.5], "ankle": None}], ["wrist", "ankle"], n_scores=1)
    >>> messages.sent
    array([[ True, False]])
    >>> messages.row(0)
    {'wrist': [0.5], 'ankle': None}
    """

    devices: tuple[str, ...]
    scores: Floats
    sent: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.scores.ndim != 3 or self.scores.shape[:2] != self.sent.shape:
            raise TableError(
                f"got messages of shape {self.scores.shape} and sent of shape {self.sent.shape}; "
                "expected (n_rows, n_devices, n_scores) and (n_rows, n_devices)"
            )
        if self.scores.shape[1] != len(self.devices):
            raise TableError(f"got messages of {self.scores.shape[1]} devices, expected {len(self.devices)}")

    @classmethod
    def of(
        cls, rows: Sequence[Mapping[str, Sequence[float] | None]], devices: Sequence[str], n_scores: int
    ) -> Messages:
        """Collect messages by name, a mapping for each row; a device that is None or left out is silent."""
        schema = DeviceSchema.of(devices, n_scores)
        scores = np.zeros((len(rows), len(devices), n_scores))
        sent = np.zeros((len(rows), len(devices)), dtype=np.bool_)
        for number, row in enumerate(rows):
            for name, message in row.items():
                place = schema.index(name)
                if message is not None:
                    scores[number, place] = schema.encode_value(place, message)
                    sent[number, place] = True
        return cls(tuple(devices), scores, sent)

    def __len__(self) -> int:
        return len(self.scores)

    def row(self, number: int) -> dict[str, list[float] | None]:
        """Return the answers that a walk gets about one row: the scores by device, None if it is silent."""
        of_row = zip(self.devices, self.scores[number], self.sent[number], strict=True)
        return {name: scores.tolist() if sent else None for name, scores, sent in of_row}

    def check(self, acquired: NDArray[np.bool_]) -> None:
        """Raise TableError if a message that was acquired is not made of finite numbers."""
        invalid = acquired & ~np.isfinite(self.scores).all(axis=2)
        for number, place in np.argwhere(invalid)[:1]:
            raise TableError(
                f"device {self.devices[place]!r}: got {self.scores[number, place].tolist()} in row {number}, "
                "expected finite numbers"
            )


@dataclass(frozen=True)
class DeviceColumn:
    """A device in place of a column: how its message is read."""

    name: str
    n_scores: int

    def encode_value(self, value: object) -> Any:
        """Return a message as an array; None, a silent device, as NaN."""
        if value is None:
            return math.nan
        try:
            message = np.array(value, dtype=np.float64)
        except (TypeError, ValueError):
            message = np.empty(0)
        if message.shape != (self.n_scores,) or not np.isfinite(message).all():
            raise TableError(
                f"device {self.name!r}: got {value!r}, expected a list of {self.n_scores} finite numbers, or "
                "None from a silent device"
            )
        return message

    def to_dict(self) -> dict[str, Any]:
        """Return the device as JSON-compatible values, like a column."""
        return {"name": self.name, "kind": "device", "categories": []}


@dataclass(frozen=True)
class DeviceSchema:
    """The devices in place of a table's schema: what walks may ask for, and how answers are read."""

    columns: tuple[DeviceColumn, ...]

    @classmethod
    def of(cls, names: Sequence[str], n_scores: int) -> DeviceSchema:
        """Return the schema of some devices, whose messages have ``n_scores`` scores each."""
        return cls(tuple(DeviceColumn(name, n_scores) for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        """The devices."""
        return tuple(column.name for column in self.columns)

    @property
    def named(self) -> bool:
        """Whether a frame is read by the names of its columns: devices always have names."""
        return True

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def find(self, name: object) -> int | None:
        """Return the place of a device, or None if there is no such device."""
        return next((place for place, known in enumerate(self.names) if known == name), None)

    def index(self, name: str) -> int:
        """Return the place of a device, or raise TableError."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names[:8]))
            raise TableError(f"got the unknown device {name!r}; expected one of {listed}")
        return self.names.index(name)

    def encode_value(self, place: int, value: object) -> Any:
        """Return a message as an array; None, a silent device, as NaN."""
        return self.columns[place].encode_value(value)
