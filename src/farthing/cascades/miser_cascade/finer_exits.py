"""Exits between two points of a cascade's path: thresholds that let fewer of the doubtful rows go on.

The path has the thresholds that are best for some trade-off of errors and money. Between two neighbours there
may be a wide gap: a chain whose next stage costs 20 spends that on all rows, or another chain spends little.
Here the thresholds of a dearer point are raised together until held-out rows spend what is wanted: of the
rows that a stage sends on, only a share goes on, those of the largest risk. For one point each row spends no
more the smaller the share is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from farthing.learning.exits import ALWAYS
from farthing.typing import Floats

# Of the rows that a stage sends on, the shares that are tried.
_SHARES: Final = np.linspace(0.02, 0.98, 33)


class FinerExit(NamedTuple):
    """One setting of the thresholds, and what held-out rows spend and err with it."""

    point: int
    thresholds: Floats
    spend: float
    error: float


@dataclass(frozen=True, eq=False)
class HeldOutChain:
    """Held-out rows on one chain.

    Parameters
    ----------
    totals : ndarray of float64, shape (n_stages,)
        What a row has paid at each stage.
    risks, errors : ndarray of float64, shape (n_stages, n_rows)
        What thresholds are compared with, and the errors of stopping there.
    weights : ndarray of float64, shape (n_rows,)
    """

    totals: Floats
    risks: Floats
    errors: Floats
    weights: Floats

    def spend_and_error(self, thresholds: Floats) -> tuple[float, float]:
        """Return the means over the rows, for thresholds of shape (n_stages,), the last one infinite."""
        stops = np.argmax(self.risks <= thresholds[:, np.newaxis], axis=0)
        rows = np.arange(len(self.weights))
        return (
            float(np.average(self.totals[stops], weights=self.weights)),
            float(np.average(self.errors[stops, rows], weights=self.weights)),
        )

    def raised(self, thresholds: Floats, share: float) -> Floats:
        """Return thresholds with which about a share of the rows above each of them go on.

        Rows of the same risk stay together: if a share of them cannot go on, all do.
        """
        found = thresholds.copy()
        for stage, threshold in enumerate(thresholds[:-1].tolist()):
            above = self._sorted[stage]
            above = above[np.searchsorted(above, threshold, side="right") :]
            if not len(above):
                continue
            last = above[len(above) - max(1, round(share * len(above)))]
            # The largest risk below those that go on.
            place = int(np.searchsorted(above, last))
            if place:
                found[stage] = above[place - 1]
        return found

    @cached_property
    def _sorted(self) -> Floats:
        return np.sort(self.risks, axis=1)


def finer_exits(rows: HeldOutChain, point: int, thresholds: Floats) -> list[FinerExit]:
    """Return settings that spend less than a point of a path: its thresholds, raised more and more.

    Parameters
    ----------
    rows : HeldOutChain
        The chain of the point.
    point : int
        Its number.
    thresholds : ndarray of float64, shape (n_stages,)
        Its thresholds; those after the last stage of the chain are left out.
    """
    own = np.append(thresholds[: len(rows.totals) - 1], ALWAYS)
    raised = [rows.raised(own, share) for share in _SHARES.tolist()]
    return [FinerExit(point, each, *rows.spend_and_error(each)) for each in raised]
