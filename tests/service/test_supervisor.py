"""The parent of the workers replaces those that have died or hang, and waits for none of them."""

from __future__ import annotations

import signal
import socket
from collections.abc import Iterator
from multiprocessing import Pipe
from types import SimpleNamespace
from typing import Any

import pytest
import uvicorn

from farthing.service import supervisor as supervision
from farthing.service.supervisor import HANG_SECONDS, START_SECONDS, STARTUP_FAILURE, Supervisor


class FakeWorker:
    """A process that answers when told to."""

    pid = 7

    def __init__(self, *_: Any) -> None:
        self.parent_conn, self.child_conn = Pipe()
        self.alive, self.started, self.exitcode = True, False, None
        self.process = SimpleNamespace(is_alive=lambda: self.alive)

    def start(self) -> None:
        self.started = True

    def answer(self) -> None:
        assert self.child_conn.recv() == b"ping"
        self.child_conn.send(True)

    def kill(self) -> None:
        self.alive = False

    def join(self) -> None:
        assert not self.alive


@pytest.fixture
def parent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Give a supervisor of two fake workers, and a clock that stands still."""
    monkeypatch.setattr(supervision, "Process", FakeWorker)
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    clock = SimpleNamespace(now=0.0)
    with socket.socket() as unused:
        made: Any = Supervisor(uvicorn.Config("x:y"), [unused], now=lambda: clock.now)
        made.clock, made.processes = clock, [FakeWorker(), FakeWorker()]
        yield made


def test_a_worker_that_starts_slowly_is_left_alone(parent: Any) -> None:
    slow, _ = parent.processes
    for seconds in (0.0, HANG_SECONDS + 1, START_SECONDS - 1):
        parent.clock.now = seconds
        parent.keep_subprocess_alive()
    assert parent.processes[0] is slow
    slow.answer()
    parent.keep_subprocess_alive()  # takes the answer
    parent.keep_subprocess_alive()  # asks again
    parent.clock.now += HANG_SECONDS + 1
    parent.keep_subprocess_alive()
    assert parent.processes[0] is not slow, "it had started, and hangs"
    assert parent.processes[0].started
    assert not slow.alive


def test_a_worker_that_never_starts_is_replaced(parent: Any) -> None:
    parent.keep_subprocess_alive()
    slow, other = parent.processes
    other.answer()
    parent.clock.now = START_SECONDS + 1
    parent.keep_subprocess_alive()
    assert parent.processes[0] is not slow
    assert parent.processes[1] is other


def test_a_dead_worker_is_replaced_beside_one_that_is_silent(parent: Any) -> None:
    silent, dead = parent.processes
    dead.alive = False
    parent.keep_subprocess_alive()
    assert parent.processes[0] is silent
    assert parent.processes[1] is not dead
    assert parent.processes[1].started


def test_a_worker_that_cannot_start_ends_the_service(parent: Any) -> None:
    broken = parent.processes[1]
    broken.alive, broken.exitcode = False, STARTUP_FAILURE
    parent.keep_subprocess_alive()
    assert parent.should_exit.is_set()
    assert parent.processes[1] is broken
