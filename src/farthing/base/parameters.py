"""Checks of parameters that several boosters share."""

from __future__ import annotations

from typing import Any

import numpy as np


def check_whole(name: str, given: Any, least: int, most: int | None = None) -> None:
    """Raise ValueError unless a parameter is an integer within its bounds.

    Examples
    --------
    >>> check_whole("n_rounds", 0, 1)
    Traceback (most recent call last):
    ...
    ValueError: n_rounds must be at least 1; got 0
    """
    if isinstance(given, bool) or not isinstance(given, int | np.integer):
        raise ValueError(f"{name} must be an integer; got {given!r}")  # noqa: TRY004 - as for its bounds
    if given < least or (most is not None and given > most):
        expected = f"at least {least}" if most is None else f"between {least} and {most}"
        raise ValueError(f"{name} must be {expected}; got {given}")
