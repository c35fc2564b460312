"""A pace for refusals of large bodies, so that a client that sends many of them takes little from others.

To receive and look through a large body costs as much as many steps. A client that is refused waits for its
answer, so the time of the answer sets how often it can try. Requests that are answered are not paced, nor are
small ones.
"""

from __future__ import annotations

import asyncio
import time
from typing import Final

SECONDS_BETWEEN: Final = 0.025
"""Time between two refusals of one worker."""

MAX_SECONDS: Final = 2.0
"""Longest time that a refusal is held back."""


class RefusalPace:
    """Spaces the refusals of one worker, whatever number of connections they come from.

    Examples
    --------
    >>> pace = RefusalPace()
    >>> [round(pace.delay(now=10.0), 3) for _ in range(3)]
    [0.025, 0.05, 0.075]
    >>> round(pace.delay(now=11.0), 3)
    0.025
    """

    def __init__(self, seconds: float = SECONDS_BETWEEN, max_seconds: float = MAX_SECONDS) -> None:
        self._seconds = seconds
        self._max_seconds = max_seconds
        self._last = 0.0

    def delay(self, now: float) -> float:
        """Return for how long the next refusal is held back, which counts as made."""
        self._last = min(max(now, self._last) + self._seconds, now + self._max_seconds)
        return self._last - now

    async def wait(self) -> None:
        """Hold a refusal back for its time."""
        await asyncio.sleep(self.delay(time.monotonic()))
