"""Drain on SIGTERM: say that the worker is not ready, go on for a while, then finish what has begun."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from types import FrameType
from typing import Any

from farthing.service.logs import log


class Drain:
    """Puts off the shutdown of a worker, so that a balancer can take it out first.

    The server itself then closes its socket, and ends when the requests that have begun are answered.

    Parameters
    ----------
    seconds : float
        Time from the signal to the shutdown.

    Attributes
    ----------
    begun : bool
        Whether the signal has come.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self.begun = False

    def watch_signals(self) -> None:
        """Take over SIGTERM from the server; call it on the event loop, once the server has its handlers."""
        # Only the main thread may have handlers; a server in another thread is stopped otherwise.
        if threading.current_thread() is not threading.main_thread():
            return
        server: Any = signal.getsignal(signal.SIGTERM)
        if not callable(server):
            return
        loop = asyncio.get_running_loop()

        def on_signal(number: int, frame: FrameType | None) -> None:
            again, self.begun = self.begun, True
            if again or not self._seconds:  # asked twice, it goes at once
                server(number, frame)
            else:
                loop.call_soon_threadsafe(loop.call_later, self._seconds, server, number, None)
                log(logging.INFO, "draining", seconds=self._seconds)

        signal.signal(signal.SIGTERM, on_signal)
