"""Price lists of images whose pixels are bought in squares."""

from __future__ import annotations

from collections.abc import Sequence

from farthing.costs.group import Group
from farthing.costs.sheet import CostSheet


def superpixels(
    height: int, width: int, size: int, *, price: float = 1.0, features: Sequence[str] | None = None
) -> CostSheet:
    """Return the prices of an image's pixels, where a square is paid once.

    Parameters
    ----------
    height, width : int
        Pixels of a column and of a row of the image.
    size : int
        Pixels of a side of a square; those at the edges may be smaller.
    price : float
        What a square costs. Its pixels cost nothing more.
    features : sequence of str, optional
        Names of the pixels, row by row; by default ``x0``, ``x1``, ..., as for arrays.

    Returns
    -------
    CostSheet
        With a group for each square, named by its place: ``square 0 1`` is the second of the first row.

    Examples
    --------
    >>> sheet = superpixels(4, 4, 2)
    >>> sheet.groups["square 0 1"].members, sheet.total(["x2", "x3", "x7"])
    (('x2', 'x3', 'x6', 'x7'), 1.0)
    """
    if min(height, width, size) < 1:
        raise ValueError(f"height, width and size must be at least 1; got {height}, {width} and {size}")
    names = [f"x{pixel}" for pixel in range(height * width)] if features is None else list(features)
    if len(names) != height * width:
        raise ValueError(f"{height} times {width} pixels need as many names; got {len(names)}")
    members: dict[str, list[str]] = {}
    for pixel, name in enumerate(names):
        row, column = divmod(pixel, width)
        members.setdefault(f"square {row // size} {column // size}", []).append(name)
    groups = {square: Group(price, pixels) for square, pixels in members.items()}
    return CostSheet(dict.fromkeys(names, 0.0), groups=groups)
