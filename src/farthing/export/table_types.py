"""Tables of numbers of one type, the smallest that holds them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from farthing.errors import ExportError
from farthing.typing import Floats

# Types of whole numbers, from the smallest, and their ranges.
_WHOLE = (
    ("uint8_t", 0, 2**8 - 1), ("int8_t", -(2**7), 2**7 - 1), ("uint16_t", 0, 2**16 - 1),
    ("int16_t", -(2**15), 2**15 - 1), ("int32_t", -(2**31), 2**31 - 1),
)  # fmt: skip
SIZES = {
    "uint8_t": 1, "int8_t": 1, "uint16_t": 2, "int16_t": 2, "int32_t": 4, "uint64_t": 8,
    "float": 4, "double": 8,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Table:
    """Numbers of one type.

    Parameters
    ----------
    kind : str
        The type in C.
    entries : list of int or float
    """

    kind: str
    entries: list[float] | list[int]

    @property
    def size(self) -> int:
        """Bytes."""
        return SIZES[self.kind] * max(1, len(self.entries))


def whole(entries: Iterable[int]) -> Table:
    """Return integers in the smallest type.

    Examples
    --------
    >>> whole([0, 300]).kind
    'uint16_t'
    """
    numbers = [int(entry) for entry in entries]
    low, high = min(numbers, default=0), max(numbers, default=0)
    for kind, least, most in _WHOLE:
        if least <= low and high <= most:
            return Table(kind, numbers)
    raise ExportError("it is too large: an index does not fit 32 bits")


def real(entries: Iterable[float] | Floats) -> Table:
    """Return numbers in float if all of them are exact in it, else in double.

    Examples
    --------
    >>> real([0.5]).kind, real([0.1]).kind
    ('float', 'double')
    """
    numbers = np.asarray(list(entries), dtype=np.float64).ravel()
    with np.errstate(over="ignore"):
        exact = np.array_equal(numbers.astype(np.float32).astype(np.float64), numbers, equal_nan=True)
    return Table("float" if exact else "double", numbers.tolist())
