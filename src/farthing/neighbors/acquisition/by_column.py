"""Tables that are turned into others column by column, one value with the bits of many."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]


class ByColumn(ABC):
    """A function of single features: of a column, of a table, or of one value."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Columns of the table."""

    @abstractmethod
    def column(self, feature: int, values: NDArray[np.floating]) -> Floats:
        """Return what becomes of values of one feature, shape (n_values,)."""

    def table(self, values: NDArray[np.floating]) -> Floats:
        """Return what becomes of each entry of an encoded table, shape (n_rows, n_features)."""
        made = np.empty(values.shape)
        for feature in range(self.n_features):
            made[:, feature] = self.column(feature, values[:, feature])
        return made

    def value(self, feature: int, value: float) -> float:
        """Return what becomes of one value; the bits of `table`."""
        return float(self.column(feature, np.array([value]))[0])
