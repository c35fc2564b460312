"""Which of many points to take: the best score is often the luckiest one."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Final

from farthing.base.any_budget import AnyBudgetMixin

if TYPE_CHECKING:
    from farthing.base.point import Point

# Scores that are no farther below the best one, in its standard errors, are as good.
_AS_GOOD: Final = 0.5


def choose(fitting: Iterable[Point]) -> Point | None:
    """Return the point to take of those within a budget; None if there is none.

    Among hundreds of points on a few hundred rows the best accuracy belongs to a lucky one. So, first, of the
    models that one fit gives for many budgets (`farthing.base.AnyBudgetMixin`) only the dearest stands:
    rows held out within the fit have said already that it is the best of them, and these were more. Then, of
    the scores within half a standard error of the best, the one of the least ``loss`` is taken, which depends
    on luck much less than the share of right labels.

    Points without a ``loss`` are taken at their score, the cheapest of equals.

    Parameters
    ----------
    fitting : iterable of Point
        Those to choose from.

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
    points = _ends(points)
    best = max(points, key=lambda point: (point.score, -point.loss))
    least = best.score - (0.0 if math.isnan(best.error) else _AS_GOOD * best.error)
    return min(
        (point for point in points if point.score >= least), key=lambda point: (point.loss, point.spend)
    )


def _ends(points: list[Point]) -> list[Point]:
    """Keep of each path of budgets only the dearest point."""
    kept: dict[object, Point] = {}
    for number, point in enumerate(points):
        key: object = number
        if isinstance(point.estimator, AnyBudgetMixin):
            others = {name: value for name, value in point.params.items() if name != "budget"}
            key = point.method, repr(sorted(others.items()))
        if key not in kept or kept[key].spend < point.spend:
            kept[key] = point
    return list(kept.values())
