"""Frames of libraries other than pandas and polars, by narwhals: PyArrow tables, DuckDB relations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from farthing.table.sources import Source, Store, as_floats, column_names
from farthing.table.values import TableTypeError

# These compute in this process; other lazy frames stand for data elsewhere, which no fit should pull unasked.
_IN_PROCESS: Final = frozenset({nw.Implementation.DUCKDB})


def other_frame(X: Any) -> Source | None:
    """Return the columns of a frame that narwhals knows; None if `X` is no frame.

    Parameters
    ----------
    X : object
        Such as a ``pyarrow.Table``, a relation of DuckDB, a Modin frame or a frame of narwhals itself.

    Returns
    -------
    Source or None

    Examples
    --------
    >>> import pyarrow
    >>> other_frame(pyarrow.table({"age": [63, None], "sex": ["f", "m"]})).names
    ('age', 'sex')
    >>> other_frame([[1.0, 2.0]]) is None
    True
    """
    frame = nw.from_native(X, pass_through=True)
    if isinstance(frame, nw.LazyFrame):
        if frame.implementation not in _IN_PROCESS:
            kind = frame.implementation.name.lower()
            raise TableTypeError(f"got a lazy frame of {kind}, expected a table in memory; collect it first")
        frame = frame.collect()
    return OtherFrameSource(frame) if isinstance(frame, nw.DataFrame) else None


class OtherFrameSource:
    """A frame in memory of a library that narwhals knows."""

    def __init__(self, frame: nw.DataFrame[Any]) -> None:
        self.frame = frame
        self.shape: tuple[int, int] = frame.shape
        self.names = column_names(frame.columns)

    def column(self, position: int) -> OtherFrameColumn:
        """Return the column at a position."""
        return OtherFrameColumn(self.frame[:, position])

    def floats(self, positions: Sequence[int]) -> NDArray[np.floating[Any]] | None:
        """Return None: such frames store their columns separately."""
        return None


class OtherFrameColumn:
    """A column of a frame that narwhals knows."""

    def __init__(self, series: nw.Series[Any]) -> None:
        self.series = series
        self.dtype = str(series.dtype)
        self.store = _store_of(series)

    def floats(self) -> NDArray[np.floating[Any]]:
        """Return the values as floats."""
        if self.series.dtype.is_integer() and not self.series.is_null().any():
            return as_floats(self.series.to_numpy(), self.series.name)
        values: NDArray[np.floating[Any]] = self.series.cast(nw.Float64()).to_numpy()
        return values

    def codes(self) -> tuple[NDArray[np.integer[Any]], list[object]]:
        """Raise, since categories are read as text, whose order does not depend on the library."""
        raise NotImplementedError

    def objects(self) -> list[object]:
        """Return the values as Python objects."""
        values: list[object] = self.series.to_list()
        return values


def _store_of(series: nw.Series[Any]) -> Store:
    """Return the representation of a column."""
    dtype = series.dtype
    if dtype.is_integer() or dtype.is_float() or dtype == nw.Boolean or series.is_null().all():
        return "numbers"
    if dtype in (nw.String, nw.Categorical, nw.Enum):
        return "text"
    return "objects" if dtype.is_decimal() or dtype == nw.Object else "foreign"
