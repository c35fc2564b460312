"""The bins of a part of a table, in memory once: on their own, or within a joined table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.table.bins import Bins


class PartCodes:
    """The bins of some rows.

    They are an array until a joined table takes them over; from then on they are read from that table, so
    that no byte is kept twice. A copy that is sent elsewhere is an array again.

    Parameters
    ----------
    codes : ndarray of uint8, shape (n_rows, n_features)
        Bins.

    Examples
    --------
    >>> part = PartCodes(np.array([[0, 1], [1, 0]], dtype=np.uint8))
    >>> len(part), part.rows()[0]
    (2, array([0, 1], dtype=uint8))
    """

    def __init__(self, codes: NDArray[np.uint8]) -> None:
        self._n_rows = len(codes)
        self._codes: NDArray[np.uint8] | None = codes
        self._joined: tuple[Bins, int] | None = None

    def __len__(self) -> int:
        return self._n_rows

    def rows(self) -> NDArray[np.uint8]:
        """Return the bins, shape (n_rows, n_features)."""
        if self._codes is not None:
            return self._codes
        assert self._joined is not None
        bins, first = self._joined
        return bins.codes(first, first + self._n_rows).T

    def move_to(self, bins: Bins, first: int) -> None:
        """Hand the bins over to a table, as its rows from ``first`` on."""
        bins.set_rows(first, self.rows())
        self._joined, self._codes = (bins, first), None

    def __reduce__(self) -> tuple[Any, ...]:
        return PartCodes, (np.ascontiguousarray(self.rows()),)
