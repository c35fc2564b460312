"""Work off the event loop that all who wait for it share, so that asking for it often costs little."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Generic, TypeVar

Made = TypeVar("Made")


class SharedRun(Generic[Made]):
    """A function of no arguments that runs in a thread, one run at a time.

    Who asks during a run gets the result of the next one, together with all others who asked meanwhile: no
    result is older than its request.

    Parameters
    ----------
    work : function
        What to run.

    Examples
    --------
    >>> runs = []
    >>> shared = SharedRun(lambda: runs.append(1) or len(runs))
    >>> async def five():
    ...     return await asyncio.gather(*(shared.run() for _ in range(5)))
    >>> asyncio.run(five())
    [1, 1, 1, 1, 1]
    """

    def __init__(self, work: Callable[[], Made]) -> None:
        self._work = work
        self._current: asyncio.Task[Made] | None = None
        self._next: asyncio.Task[Made] | None = None

    async def run(self) -> Made:
        """Return the result of a run that begins after this call."""
        if self._next is None:
            self._next = asyncio.create_task(self._begin(self._current))
        # Shielded: a client that hangs up must not cancel the run of others.
        return await asyncio.shield(self._next)

    async def _begin(self, before: asyncio.Task[Made] | None) -> Made:
        if before is not None:
            await asyncio.wait([before])
        self._current, self._next = self._next, None
        try:
            return await asyncio.to_thread(self._work)
        finally:
            if self._current is asyncio.current_task():
                self._current = None
