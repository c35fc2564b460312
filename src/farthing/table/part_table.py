"""The part of a table that one of several peers holds: bins, not values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

from farthing.errors import TableError
from farthing.table.bin_rules import BinRules
from farthing.table.bins import Bins
from farthing.table.encode import Encoded
from farthing.table.part_codes import PartCodes
from farthing.table.prepared import PreparedTable
from farthing.table.schema import Schema

# Rows whose values are made at a time.
_BLOCK_ROWS: Final = 65_536


class PartTable(PreparedTable):
    """A part of a table in bins, one byte per entry.

    The values that it was binned from are gone. `blocks` makes others that fall into the same bins, which
    trees grown on these bins cannot tell from them.

    Parameters
    ----------
    schema : Schema
        Names, types and categories of the columns, of the whole table.
    parts : sequence of PartCodes
        Bins of the rows, one part below the other; the table takes them over.
    rules : BinRules
        The bins of the whole table.
    max_bins : int
        The number of bins that the rules were learned with.
    contents : ndarray of uint64, shape (n_rows,), optional
        Hashes of the rows, see `content_keys`, made before their values were dropped.

    Examples
    --------
    >>> X = np.array([[1.0], [2.0], [np.nan], [2.0]])
    >>> schema = Schema.learn(X)
    >>> rules = BinRules.learn(X, schema)
    >>> parts = [PartCodes(rules.codes(X[:2])), PartCodes(rules.codes(X[2:]))]
    >>> table = PartTable(schema, parts, rules, 255)
    >>> len(table), table.bins(255).codes()
    (4, array([[0, 1, 2, 1]], dtype=uint8))
    """

    def __init__(
        self,
        schema: Schema,
        parts: Sequence[PartCodes],
        rules: BinRules,
        max_bins: int,
        contents: NDArray[np.uint64] | None = None,
    ) -> None:
        super().__init__(schema, Encoded.valid(np.empty((0, len(schema))), schema.columns))
        n_rows = sum(map(len, parts))
        bins = Bins.empty(n_rows, schema, list(rules.edges), list(rules.bins_of_codes))
        first = 0
        for part in parts:  # one by one, so that only one of them is in memory twice
            part.move_to(bins, first)
            first += len(part)
        self._bins[max_bins] = bins
        object.__setattr__(self, "_rules", rules)
        object.__setattr__(self, "_only", self._bins[max_bins])
        object.__setattr__(self, "_max_bins", max_bins)
        object.__setattr__(self, "_contents", contents)

    @property
    def values(self) -> NDArray[np.floating]:
        """Raise TableError: a part has bins only."""
        self._refuse("values")

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        bins: Bins = self._only  # type: ignore[attr-defined]
        return bins.n_rows, bins.n_features

    def bins(self, max_bins: int, n_threads: int = 1) -> Bins:
        """Return the binned part; only for the number of bins that it was made with."""
        if max_bins not in self._bins:
            self._refuse(f"bins for max_bins={max_bins}")
        return super().bins(max_bins, n_threads)

    def blocks(self) -> Iterator[NDArray[np.floating]]:
        """Yield values of some rows at a time, in order, that fall into the bins of these rows."""
        bins: Bins = self._only  # type: ignore[attr-defined]
        for begin in range(0, len(self), _BLOCK_ROWS):
            end = min(begin + _BLOCK_ROWS, len(self))
            yield self._rules.values(bins.codes(begin, end).T)  # type: ignore[attr-defined]

    def contents(self) -> NDArray[np.uint64]:
        """Return a hash of the values that each row had, shape (n_rows,)."""
        if self._contents is None:  # type: ignore[attr-defined]
            self._refuse("hashes of rows")
        found: NDArray[np.uint64] = self._contents  # type: ignore[attr-defined]
        return found

    def part(self, rows: NDArray[Any]) -> PreparedTable:
        """Return some of the rows, by index or by mask, in the same bins."""
        codes = np.ascontiguousarray(self._only.codes()[:, rows].T)  # type: ignore[attr-defined]
        contents = self._contents  # type: ignore[attr-defined]
        return PartTable(
            self.schema,
            [PartCodes(codes)],
            self._rules,  # type: ignore[attr-defined]
            self._max_bins,  # type: ignore[attr-defined]
            None if contents is None else contents[rows],
        )

    def take(self, rows: NDArray[Any]) -> PreparedTable:
        """Raise TableError: what is learned from some rows only needs bins of its own."""
        self._refuse("a choice of rows")

    def _refuse(self, what: str) -> NoReturn:
        raise TableError(
            f"this fit needs {what} of a table whose rows stay in bins on their workers; call compute() on "
            "the collection to fit in one process"
        )
