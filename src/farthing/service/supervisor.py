"""The parent of the workers: it replaces one that has died at once, and one that hangs after a while."""

from __future__ import annotations

import logging
import pickle
import time
from collections.abc import Callable
from dataclasses import dataclass
from socket import socket
from typing import Final

from uvicorn.config import Config
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from farthing.service.logs import log

START_SECONDS: Final = 300.0
"""Time that a worker may take to start; on a busy machine, imports and models may take minutes."""

HANG_SECONDS: Final = 30.0
"""Time within which a worker that has started must answer its parent."""

STARTUP_FAILURE: Final = 3
"""Exit status of a worker that cannot start, as uvicorn has it."""


@dataclass
class Question:
    """What the parent knows of a worker: when it was last asked, and whether it ever answered."""

    asked: float | None = None
    has_started: bool = False


class Supervisor(Multiprocess):
    """uvicorn's parent of several workers, except that it waits for none of them.

    uvicorn's own asks one worker after the other, and waits for each answer for as long as a worker may hang:
    while one starts, another one that has died is not replaced; and one that starts slowly is killed, again
    and again on a busy machine.

    Parameters
    ----------
    config : uvicorn.Config
    sockets : list of socket
        Bound sockets that the workers share.
    end_seconds : float
        Time that the workers have to end by themselves after a signal; then they are killed.
    now : function
        Clock, in seconds.
    """

    def __init__(
        self,
        config: Config,
        sockets: list[socket],
        end_seconds: float = HANG_SECONDS,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        super().__init__(config, sockets)
        self._end_seconds = end_seconds
        self._now = now
        self._questions: dict[Process, Question] = {}

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have died or hang."""
        self._questions = {worker: self._questions.get(worker, Question()) for worker in self.processes}
        for place, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if (fault := self.fault(worker)) is None:
                continue
            worker.kill()
            worker.join()
            if worker.exitcode == STARTUP_FAILURE:  # another one would fail in the same way
                log(logging.ERROR, "a worker cannot start", worker=worker.pid)
                self.should_exit.set()
                return
            log(logging.WARNING, "worker replaced", worker=worker.pid, reason=fault)
            self.processes[place] = Process(self.config, self.sockets)
            self.processes[place].start()

    def fault(self, worker: Process) -> str | None:
        """Return why a worker must be replaced, or None, without waiting for it."""
        if not worker.process.is_alive():
            return "it died"
        question = self._questions.setdefault(worker, Question())
        try:
            if question.asked is None:
                worker.parent_conn.send(b"ping")
                question.asked = self._now()
            if worker.parent_conn.poll():
                worker.parent_conn.recv()
                question.asked, question.has_started = None, True
                return None
        except (OSError, EOFError, pickle.UnpicklingError):
            return "it died"
        patience = HANG_SECONDS if question.has_started else START_SECONDS
        return "it hangs" if self._now() - question.asked > patience else None

    def join_all(self) -> None:
        """Wait for the workers to end, and kill those that do not."""
        end = self._now() + self._end_seconds
        for worker in self.processes:
            worker.process.join(max(0.0, end - self._now()))
            if worker.process.is_alive():
                log(logging.WARNING, "worker killed", worker=worker.pid, reason="it did not end")
                worker.process.kill()
                worker.process.join()
