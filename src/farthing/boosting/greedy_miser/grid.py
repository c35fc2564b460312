"""The settings of the Greedy Miser that a sweep tries by default."""

from __future__ import annotations

from typing import Any

from farthing.base import SweepContext
from farthing.learning.tradeoff_grid import relative_tradeoffs


def miser_grid(context: SweepContext) -> dict[str, list[Any]]:
    """Return the grid: trade-offs that suit the price list, for both ways to charge."""
    return {
        "tradeoff": relative_tradeoffs(context),
        "relative": [True],
        "charge": ["model", "row"],
        "n_estimators": [100],
    }
