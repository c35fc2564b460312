"""Steps of walks come first: work in threads rests while the event loop has steps to answer."""

from __future__ import annotations

import time
from typing import Final

SECONDS_PER_STEP: Final = 0.005
"""How long work rests for each step that was answered while it ran."""
MOST_REST: Final = 2.0
"""The longest rest, as a multiple of the time that the work took."""
MAX_SECONDS: Final = 5.0
"""The longest rest in any case."""


class StepsFirst:
    """What work in the threads of one worker leaves to its steps, whoever asks for that work.

    Threads and the event loop share one interpreter. A client with dear requests that follow each other would
    leave half of it to the steps of all others, and less with more connections. So the next work starts only
    after a rest. On a worker without steps nothing rests.

    Examples
    --------
    >>> rest = StepsFirst()
    >>> before = rest.steps
    >>> for _ in range(1000):
    ...     rest.count_step()
    >>> rest.work_ended(now=10.0, seconds=2.0, steps=rest.steps - before)
    >>> rest.left(now=10.5)
    3.5
    >>> rest.work_ended(now=15.0, seconds=2.0, steps=1)
    >>> round(rest.left(now=15.0), 3)
    0.005
    """

    def __init__(self) -> None:
        self.steps = 0
        self._end = 0.0

    def count_step(self) -> None:
        """Note that a step was answered on the event loop."""
        self.steps += 1

    def work_ended(self, now: float, seconds: float, steps: int) -> None:
        """Note that work took so many seconds, while so many steps were answered."""
        rest = min(MOST_REST * seconds, SECONDS_PER_STEP * steps)
        self._end = min(max(now, self._end) + rest, now + MAX_SECONDS)

    def left(self, now: float) -> float:
        """Return how long the next work rests, in seconds."""
        return max(0.0, self._end - now)

    def wait(self, most: float) -> None:
        """Rest, in a thread, for at most so many seconds."""
        while most > 0 and (left := min(self.left(time.monotonic()), most)) > 0:
            time.sleep(left)
            most -= left
