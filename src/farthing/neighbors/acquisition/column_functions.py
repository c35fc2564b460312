"""Functions of single columns with bitwise equal results for one value and for a whole table."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from farthing.typing import Floats


class ColumnFunctions(ABC):
    """One function per feature, for a column, a table, or one value."""

    @property
    @abstractmethod
    def n_features(self) -> int:
        """Number of columns of the table."""

    @abstractmethod
    def column(self, feature: int, values: NDArray[np.floating]) -> Floats:
        """Apply the function of a feature to values of it, shape (n_values,)."""

    def table(self, values: NDArray[np.floating]) -> Floats:
        """Apply each function to its column of an encoded table, shape (n_rows, n_features)."""
        results = np.empty(values.shape)
        for feature in range(self.n_features):
            results[:, feature] = self.column(feature, values[:, feature])
        return results

    def value(self, feature: int, value: float) -> float:
        """Apply the function of a feature to one value, bitwise as in `table`."""
        # Through the array code of `table`, since scalar code may round differently: a walk must have the
        # bits of the array calls (one truth).
        return float(self.column(feature, np.array([value]))[0])
