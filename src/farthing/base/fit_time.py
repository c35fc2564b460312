"""How long the fits of a sweep took."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from farthing.base.point import Point


@dataclass(frozen=True, slots=True)
class FitTime:
    """The time of one fit of a setting.

    Attributes
    ----------
    method : str
        Name of the method.
    params : mapping
        The parameters that were set.
    seconds : float
        Mean over the folds.
    """

    method: str
    params: Mapping[str, Any]
    seconds: float


def expected_seconds(times: Iterable[FitTime], point: Point) -> float | None:
    """Return how long a fit of a point's setting took; None if none was measured.

    Examples
    --------
    >>> times = [FitTime("Tree", {"depth": 2}, 1.0), FitTime("Tree", {"depth": 8}, 5.0)]
    >>> expected_seconds(times, Point("Tree", {"depth": 8, "budget": 3.0}, 1.0, 1.0, 0.9))
    5.0
    """
    of_method = [time for time in times if time.method == point.method]
    # A point may be a variant of a fit, with more parameters than the fit was given.
    same = [
        time
        for time in of_method
        if all(name in point.params and point.params[name] == value for name, value in time.params.items())
    ]
    found = same or of_method
    return sum(time.seconds for time in found) / len(found) if found else None
