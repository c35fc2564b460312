"""Limits of one request: time and rows."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field


class RequestTimeoutError(Exception):
    """A request took longer than allowed."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Limits of one request.

    Attributes
    ----------
    max_seconds : float
        Time limit of the request, in seconds.
    max_rows : int
        Maximum number of rows in a bulk prediction.
    strict_categories : bool
        Whether a category unseen during fitting is an error.
    """

    max_seconds: float = math.inf
    max_rows: int = 10_000
    strict_categories: bool = False


@dataclass(slots=True)
class Deadline:
    """The time by which a request must be answered, checked between questions and between chunks of rows.

    Work in a thread cannot be cancelled from outside, so it has to check the clock itself.
    """

    seconds: float
    start: float = field(default_factory=time.perf_counter)

    def left(self) -> float:
        """Return the seconds that are left, at least zero."""
        return max(0.0, self.start + self.seconds - time.perf_counter())

    def check(self) -> None:
        """Raise RequestTimeoutError if the time is up."""
        if time.perf_counter() - self.start > self.seconds:
            raise RequestTimeoutError
