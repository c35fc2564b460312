"""Rows with all that belongs to them, and the part of them that is held out to choose the rounds."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from farthing.learning.booster import Floats
from farthing.learning.random_numbers import draw_rows


@dataclass(frozen=True, slots=True)
class Rows:
    """Some rows of a table with all that belongs to them."""

    values: NDArray[np.floating]
    target: NDArray[Any]
    weights: Floats
    qid: NDArray[np.int64] | None

    def apart(self, fraction: float, key: int) -> tuple[Rows, Rows]:
        """Part the rows, or the queries if there are any, into those to learn from and those held out."""
        units = (
            np.arange(len(self.target)) if self.qid is None else np.unique(self.qid, return_inverse=True)[1]
        )
        n_units = int(units.max()) + 1
        n_held = round(fraction * n_units)
        if not 0 < n_held < n_units:
            what = "rows" if self.qid is None else "queries"
            raise ValueError(
                f"validation_fraction={fraction} leaves no {what} on one side of {n_units}; "
                "give more, or validation rows of their own"
            )
        held = np.isin(units, draw_rows(key, n_units, n_held))
        return self._take(~held), self._take(held)

    def reweighed(self, factors: Floats | None) -> Rows:
        """Return the rows with their weights multiplied by the factor of their class."""
        return self if factors is None else replace(self, weights=self.weights * factors[self.target])

    def _take(self, kept: NDArray[np.bool_]) -> Rows:
        qid = None if self.qid is None else self.qid[kept]
        return Rows(self.values[kept], self.target[kept], self.weights[kept], qid)
