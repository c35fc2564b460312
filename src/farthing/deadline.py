"""A time limit that fits observe: growing trees and other loops ask whether the time is over.

The limit is one of the process, not of a thread, since a fit may grow its trees in threads of its own.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager

# Seconds since the epoch, so that worker processes understand it; None is no limit.
_end: float | None = None


class DeadlineReached(Exception):  # noqa: N818 - not an error of the user
    """The time of a fit is over."""


@contextmanager
def deadline(end: float | None) -> Iterator[None]:
    """Stop what runs in a ``with`` block at a point in time, by `DeadlineReached`.

    Parameters
    ----------
    end : float or None
        In seconds since the epoch, as ``time.time`` gives them; None leaves an outer limit as it is.

    Examples
    --------
    >>> with deadline(time.time() - 1):
    ...     check_deadline()
    Traceback (most recent call last):
    farthing.deadline.DeadlineReached: the time limit was reached
    """
    global _end  # noqa: PLW0603 - threads of a fit share it
    before = _end
    if end is not None:
        _end = end if before is None else min(before, end)
    try:
        yield
    finally:
        _end = before


def check_deadline() -> None:
    """Raise DeadlineReached if the time is over."""
    if _end is not None and time.time() > _end:
        raise DeadlineReached("the time limit was reached")


def deadline_end() -> float:
    """Return when the time is over, in seconds since the epoch; infinity without a limit.

    Examples
    --------
    >>> deadline_end()
    inf
    """
    return math.inf if _end is None else _end
