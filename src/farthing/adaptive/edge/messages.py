"""What devices say to the cloud: messages of many rows, and the walk that asks device by device."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.adaptive.projection import Floats
from farthing.errors import TableError
from farthing.walks import Walk


@dataclass(frozen=True, eq=False)
class Messages:
    """What each device says about each row; the array calls of an edge model take it in place of a table.

    Parameters
    ----------
    devices : tuple of str
        The devices.
    said : ndarray of float64, shape (n_rows, n_devices, n_scores)
        The local outputs; those of a silent device mean nothing, and are never looked at.
    spoke : ndarray of bool, shape (n_rows, n_devices)
        Whose gate was open.

    Examples
    --------
    >>> heard = Messages.of([{"wrist": [0.5], "ankle": None}], ["wrist", "ankle"], n_scores=1)
    >>> heard.spoke
    array([[ True, False]])
    >>> heard.row(0)
    {'wrist': [0.5], 'ankle': None}
    """

    devices: tuple[str, ...]
    said: Floats
    spoke: NDArray[np.bool_]

    def __post_init__(self) -> None:
        if self.said.ndim != 3 or self.said.shape[:2] != self.spoke.shape:
            raise TableError(
                f"got messages of shape {self.said.shape} from devices that spoke as {self.spoke.shape}; "
                "expected (n_rows, n_devices, n_scores) and (n_rows, n_devices)"
            )
        if self.said.shape[1] != len(self.devices):
            raise TableError(f"got messages of {self.said.shape[1]} devices, expected {len(self.devices)}")

    @classmethod
    def of(
        cls, rows: Sequence[Mapping[str, Sequence[float] | None]], devices: Sequence[str], n_scores: int
    ) -> Messages:
        """Collect messages by name, a mapping for each row; a device that is None or left out is silent."""
        channel = Channel.of(devices, n_scores)
        said = np.zeros((len(rows), len(devices), n_scores))
        spoke = np.zeros((len(rows), len(devices)), dtype=np.bool_)
        for number, row in enumerate(rows):
            for name, message in row.items():
                place = channel.index(name)
                if message is not None:
                    said[number, place] = channel.encode_value(place, message)
                    spoke[number, place] = True
        return cls(tuple(devices), said, spoke)

    def __len__(self) -> int:
        return len(self.said)

    def row(self, number: int) -> dict[str, list[float] | None]:
        """Return what a walk about one row is told: the numbers of each device, None for a silent one."""
        both = zip(self.devices, self.said[number], self.spoke[number], strict=True)
        return {name: said.tolist() if spoke else None for name, said, spoke in both}

    def check(self, heard: NDArray[np.bool_]) -> None:
        """Raise TableError if a message that was heard is not made of finite numbers."""
        odd = heard & ~np.isfinite(self.said).all(axis=2)
        for number, place in np.argwhere(odd)[:1]:
            raise TableError(
                f"device {self.devices[place]!r}: got {self.said[number, place].tolist()} in row {number}, "
                "expected finite numbers"
            )


@dataclass(frozen=True)
class Line:
    """The line to one device, in place of a column: how its message is read."""

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
        """Return the line as values that JSON knows, as a column is."""
        return {"name": self.name, "kind": "device", "categories": []}


@dataclass(frozen=True)
class Channel:
    """What a walk over devices knows of its answers, in place of a table's schema."""

    columns: tuple[Line, ...]

    @classmethod
    def of(cls, names: Sequence[str], n_scores: int) -> Channel:
        """Return lines to some devices, each of which says as many numbers."""
        return cls(tuple(Line(name, n_scores) for name in names))

    @property
    def names(self) -> tuple[str, ...]:
        """The devices."""
        return tuple(line.name for line in self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    def __contains__(self, name: object) -> bool:
        return name in self.names

    def index(self, name: str) -> int:
        """Return the place of a device, or raise TableError."""
        if name not in self.names:
            listed = ", ".join(map(repr, self.names[:8]))
            raise TableError(f"got the unknown device {name!r}; expected one of {listed}")
        return self.names.index(name)

    def encode_value(self, place: int, value: object) -> Any:
        """Return a message as an array; None, a silent device, as NaN."""
        return self.columns[place].encode_value(value)


class DeviceWalk(Walk):
    """A prediction that asks one device after another; a silent device is told as None, and costs nothing."""

    def tell(self, value: object) -> None:
        """Take a device's message and pay for it; None says that the device keeps silent, for nothing."""
        if value is not None:
            super().tell(value)
            return
        column = self._asked("tell")
        self._told[self._sheet.features[column]] = None
        self._row_walk.refuse()


def speak(device: Mapping[str, Any], reading: Mapping[str, Any]) -> list[float] | None:
    """Run an entry of ``device_models_``, as a device would: no NumPy, no Farthing.

    Parameters
    ----------
    device : mapping
        What ``device_models_`` gives for a device; a JSON round trip does not change it.
    reading : mapping of str to object
        What the device measured, by column; missing values may be None, NaN or left out.

    Returns
    -------
    list of float or None
        The message, None if the gate is shut. To the last bit what the model itself computes.

    Examples
    --------
    >>> device = {
    ...     "terms": [{"column": "pulse", "category": None, "mean": 60.0, "scale": 10.0}],
    ...     "gate": {"coef": [1.0], "intercept": -1.0, "threshold": 0.0},
    ...     "local": {"coef": [[0.5]], "intercept": [0.0]}}
    >>> speak(device, {"pulse": 90}), speak(device, {"pulse": 65})
    ([1.5], None)
    """
    gate, local = device["gate"], device["local"]
    score, said = gate["intercept"], list(local["intercept"])
    for number, term in enumerate(device["terms"]):
        value = reading.get(term["column"])
        if value is None or value != value:  # noqa: PLR0124 - NaN
            continue
        if term["category"] is None:
            found = float(value)
            if math.isinf(found):
                continue
        else:
            found = 1.0 if value == term["category"] else 0.0
            if not found and value not in term["categories"]:
                continue  # unseen in fitting, so as good as missing
        x = (found - term["mean"]) / term["scale"]
        score += x * gate["coef"][number]
        for output, coef in enumerate(local["coef"][number]):
            said[output] += x * coef
    return said if score > gate["threshold"] else None
