"""Model selection among many points of a sweep, robust to the noise of the scores."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from farthing.base.any_budget import AnyBudgetMixin

if TYPE_CHECKING:
    from farthing.base.point import Point

AS_GOOD: Final = 0.5
"""Scores within this many standard errors of the best one count as equal to it."""


def choose(fitting: Iterable[Point]) -> Point | None:
    """Return the point to choose among those within a budget; None if there is none.

    Among hundreds of points on a few hundred rows, the best accuracy is partly luck. So selection takes two
    steps. First, of the models that one fit gives for many budgets (`farthing.base.AnyBudgetMixin`), only the
    most expensive is kept: the rows held out within the fit, of which there are more, already ranked it best.
    Then, of the points whose score is within half a standard error of the best, the one with the least
    ``loss`` is taken, since the loss is far less noisy than the accuracy.

    If some point has no ``loss``, the best score wins, and the cheapest of equal scores.

    Parameters
    ----------
    fitting : iterable of Point
        The candidates.

    Examples
    --------
    >>> from farthing.base.point import Point
    >>> lucky = Point("Tree", {}, 1.0, 1.0, 0.81, error=0.02, loss=0.30)
    >>> sound = Point("Cascade", {}, 2.0, 2.0, 0.80, error=0.02, loss=0.25)
    >>> choose([lucky, sound]).method
    'Cascade'
    """
    points = [point for point in fitting if not math.isnan(point.score)]
    if not points:
        return None
    if any(math.isnan(point.loss) for point in points):
        return max(points, key=lambda point: (point.score, -point.spend))
    points = path_ends(points)
    best = max(points, key=lambda point: (point.score, -point.loss))
    least = best.score - (0.0 if math.isnan(best.error) else AS_GOOD * best.error)
    return min(
        (point for point in points if point.score >= least), key=lambda point: (point.loss, point.spend)
    )


def path_ends(points: Iterable[Point]) -> list[Point]:
    """Return the points without those of one path of budgets but for the most expensive of each."""
    kept: dict[object, Point] = {}
    for number, point in enumerate(points):
        # A point that is not on such a path is a path of its own.
        key: object = number
        if isinstance(point.estimator, AnyBudgetMixin):
            # Parameters need not be hashable, but their repr is.
            others = {name: value for name, value in point.params.items() if name != "budget"}
            key = point.method, repr(sorted(others.items()))
        if key not in kept or kept[key].spend < point.spend:
            kept[key] = point
    return list(kept.values())
