"""The curves of a path: one for each setting, from its first round to its last."""

from __future__ import annotations

from farthing.base import Frontier, Point


def setting(path: Frontier) -> float:
    """Return the setting of a curve: its trade-off, or the price up to which it has features."""
    (value,) = path[0].params.values()
    return float(value)


def curves(path: Frontier) -> list[Frontier]:
    """Split a path of one parameter into its curves, in the order of the settings.

    Examples
    --------
    >>> points = [Point("Miser", {"tradeoff": t}, s, s, s) for t, s in ((0.0, 1.0), (0.0, 2.0), (1.0, 0.5))]
    >>> [(setting(curve), len(curve)) for curve in curves(Frontier(tuple(points)))]
    [(0.0, 2), (1.0, 1)]
    """
    (name,) = path[0].params
    return list(path.by(name).values())


def best(curve: Frontier) -> Point:
    """Return the earliest point of the highest validation score.

    Examples
    --------
    >>> figures = ((1, 0.5), (2, 0.9), (3, 0.9))
    >>> points = [Point("Miser", {"tradeoff": 0.0}, spend, spend, score) for spend, score in figures]
    >>> best(Frontier(tuple(points))).spend
    2
    """
    return max(curve, key=lambda point: point.score)
