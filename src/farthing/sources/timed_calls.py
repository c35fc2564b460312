"""Calls that end by a time limit, whatever the called function does."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import queue
import threading
from collections.abc import Callable
from typing import Any, Final

from farthing.errors import SourceError

# Python cannot end a thread. A call that hangs keeps its own until it returns, so their number is bounded.
_MOST_HANGING: Final = 8


class TimedCalls:
    """Call functions and coroutine functions with a time limit.

    A plain function with a time limit runs in a daemon thread, which is left behind if it takes too long; the
    program can still end. From `_MOST_HANGING` such threads on, further calls fail at once.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._n_hanging = 0

    def call(self, function: Callable[[], Any], seconds: float | None) -> Any:
        """Call a function.

        Parameters
        ----------
        function : callable
            Takes nothing.
        seconds : float or None
            The time limit; None means none, and no thread.

        Raises
        ------
        TimeoutError
            If the function has not returned in time.
        """
        if seconds is None:
            return function()
        ended: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()
        flight = self._start(function, lambda *outcome: ended.put(outcome))
        try:
            succeeded, outcome = ended.get(timeout=seconds)
        except queue.Empty:
            flight.leave()
            raise TimeoutError(f"no answer within {seconds:g} s") from None
        if not succeeded:
            raise outcome
        return outcome

    async def call_async(self, function: Callable[[], Any], seconds: float | None) -> Any:
        """Call a coroutine function, or a plain function in a thread; parameters as in `call`."""
        if inspect.iscoroutinefunction(function):
            return await _finished(asyncio.ensure_future(function()), seconds)
        loop = asyncio.get_running_loop()
        future: asyncio.Future[tuple[bool, Any]] = loop.create_future()

        def settle(*outcome: Any) -> None:
            if not future.done():  # or it was given up
                future.set_result(outcome)

        def report(*outcome: Any) -> None:
            with contextlib.suppress(RuntimeError):  # the loop ended before the call
                loop.call_soon_threadsafe(settle, *outcome)

        flight = self._start(function, report)
        try:
            succeeded, outcome = await _finished(future, seconds)
        except BaseException:
            flight.leave()
            raise
        if not succeeded:
            raise outcome
        return outcome

    def _start(self, function: Callable[[], Any], report: Callable[..., None]) -> _Flight:
        with self._lock:
            if self._n_hanging >= _MOST_HANGING:
                raise SourceError(f"{self._n_hanging} earlier calls have not returned yet")
        flight = _Flight(self._count)
        context = contextvars.copy_context()

        def run() -> None:
            try:
                outcome = True, context.run(function)
            except BaseException as error:
                outcome = False, error
            flight.land()
            report(*outcome)

        threading.Thread(target=run, daemon=True, name="farthing-source").start()
        return flight

    def _count(self, change: int) -> None:
        with self._lock:
            self._n_hanging += change


class _Flight:
    """A call in a thread: it hangs from when it is left until it lands."""

    def __init__(self, count: Callable[[int], None]) -> None:
        self._count = count
        self._lock = threading.Lock()
        self._landed = self._left = False

    def leave(self) -> None:
        with self._lock:
            self._left = True
            if not self._landed:
                self._count(+1)

    def land(self) -> None:
        with self._lock:
            self._landed = True
            if self._left:
                self._count(-1)


async def _finished(future: asyncio.Future[Any], seconds: float | None) -> Any:
    """Await a future; cancel it if it takes too long, without waiting for it to take notice."""
    try:
        done, _ = await asyncio.wait({future}, timeout=seconds)
    except BaseException:
        future.cancel()
        raise
    if not done:
        future.cancel()
        raise TimeoutError(f"no answer within {seconds:g} s")
    return future.result()
