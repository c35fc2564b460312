"""Work off the event loop: a few threads, and a bounded number of requests that wait for one of them."""

from __future__ import annotations

import asyncio
import contextvars
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final, TypeVar

from farthing.service.request_limits import Deadline
from farthing.service.steps_first import StepsFirst

Made = TypeVar("Made")

# More threads would only compete for the interpreter and for the cores that other workers have.
THREADS: Final = 4
RETRY_SECONDS: Final = 1

SWITCH_SECONDS: Final = 0.0005
"""Time that a thread with work keeps the interpreter while the event loop waits for it; Python's own 5 ms
would leave a fifth of their rate to steps beside one client that sends rows in bulk."""


class BusyError(Exception):
    """The worker has as much work as it may hold; the client should try again later."""


class WorkQueue:
    """The threads of one worker process, and a bound on the requests that wait for them.

    A request whose time is up stops being waited for, but its thread goes on until it next asks its deadline.
    It counts until then, so that abandoned work cannot pile up. Work rests in between while steps of walks
    are answered on the event loop, which `steps` counts.

    Parameters
    ----------
    max_waiting : int
        Requests that may wait for a thread; one more raises `BusyError` at once.
    threads : int
        Number of threads.

    Examples
    --------
    >>> queue = WorkQueue(max_waiting=8)
    >>> asyncio.run(queue.run(lambda: 6 * 7, Deadline(1.0)))
    42
    >>> queue.close()
    """

    def __init__(self, max_waiting: int, threads: int = THREADS) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="farthing-work")
        self._room = threads + max_waiting
        self._taken = 0
        self.steps = StepsFirst()

    @property
    def busy(self) -> bool:
        """Whether one more piece of work would be refused."""
        return self._taken >= self._room

    async def run(self, work: Callable[[], Made], deadline: Deadline) -> Made:
        """Run the work in a thread.

        Raises
        ------
        BusyError
            At once, if too many requests wait already.
        TimeoutError
            If the deadline passes first.
        """
        if self.busy:
            raise BusyError
        context = contextvars.copy_context()

        def in_time() -> Made:
            self.steps.wait(deadline.left())
            deadline.check()  # nobody waits any more for work whose time passed in the queue
            begin, steps = time.monotonic(), self.steps.steps
            try:
                return context.run(work)
            finally:
                now = time.monotonic()
                self.steps.work_ended(now, now - begin, self.steps.steps - steps)

        self._taken += 1
        running = asyncio.get_running_loop().run_in_executor(self._pool, in_time)
        running.add_done_callback(self._release)
        async with asyncio.timeout(deadline.left()):
            # Shielded: a cancelled future would count as done while its thread still runs.
            return await asyncio.shield(running)

    def close(self) -> None:
        """Let the threads end; work that has not started is dropped."""
        self._pool.shutdown(wait=False, cancel_futures=True)

    def _release(self, done: asyncio.Future[Made]) -> None:
        self._taken -= 1
        if not done.cancelled():
            done.exception()  # taken note of: nobody awaits the rest of a request that timed out
