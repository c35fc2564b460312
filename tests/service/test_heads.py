"""Heads without end and connections without number: each is refused, and health checks go through."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from tests.serving import DIRECT, running

from farthing.service import Settings, http_protocol


@contextlib.contextmanager
def line(url: str) -> Iterator[socket.socket]:
    where = urlsplit(url)
    with socket.create_connection((where.hostname, where.port), timeout=20) as opened:
        yield opened


def answer(opened: socket.socket) -> bytes:
    """Read until the server closes."""
    told = b""
    with contextlib.suppress(ConnectionError):
        while piece := opened.recv(2**16):
            told += piece
    return told


@pytest.fixture
def url(models: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setattr(http_protocol, "HEAD_SECONDS", 0.5)
    with running(Settings(sources=(str(models / "heart.farthing"),), max_connections=8)) as address:
        yield address


START = b"GET /v1/models HTTP/1.1\r\nhost: localhost\r\n"


def test_a_large_head_is_refused(url: str) -> None:
    for piece in (b"x: " + b"a" * 2**14, b"x: " + b"a" * 2**14 + b"\r\n"):  # one header, and many
        with line(url) as opened:
            sent = 0
            with contextlib.suppress(ConnectionError):
                opened.sendall(START)
                while sent < 40 * 2**20:
                    opened.sendall(piece)
                    sent += len(piece)
            assert sent < 40 * 2**20
            # A reset may discard the answer that was on its way.
            assert answer(opened)[:12] in (b"HTTP/1.1 431", b"")
    with line(url) as opened:
        opened.sendall(START + b"x: " + b"a" * 70_000 + b"\r\n\r\n")
        assert answer(opened).startswith(b"HTTP/1.1 431")
    with line(url) as opened:
        opened.sendall(START + b"connection: close\r\nx: " + b"a" * 60_000 + b"\r\n\r\n")
        assert answer(opened).startswith(b"HTTP/1.1 200")


def test_trailers_are_bounded_too(url: str) -> None:
    with line(url) as opened:
        kind = b"content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n0\r\n"
        opened.sendall(b"POST /v1/models/heart/next HTTP/1.1\r\nhost: localhost\r\n" + kind)
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 40 * 2**20:
                opened.sendall(b"x: " + b"a" * 2**14)
                sent += 2**14
    assert sent < 40 * 2**20


def test_a_slow_head_runs_out_of_time(url: str) -> None:
    with line(url) as opened:
        opened.sendall(START + b"x: ")
        assert answer(opened).startswith(b"HTTP/1.1 408")
    with line(url) as opened:  # not a byte: nothing to answer
        assert answer(opened) == b""


def test_time_is_counted_from_the_first_byte(url: str) -> None:
    """A byte now and then does not buy more time."""
    with line(url) as opened:
        opened.settimeout(0.1)
        told, dribbled = b"", 0
        opened.sendall(START)
        for _ in range(200):
            with contextlib.suppress(TimeoutError):
                told = opened.recv(100)
                break
            opened.sendall(b"a")
            dribbled += 1
        assert told.startswith(b"HTTP/1.1 408")
        assert dribbled < 100


def test_a_body_that_nobody_reads_does_not_hold_a_connection(url: str) -> None:
    with line(url) as opened:
        opened.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 1000\r\n\r\n")
        told = answer(opened)  # to the end: the rest of the body never comes
        assert told.startswith(b"HTTP/1.1 200")


def test_connections_are_bounded_and_health_checks_go_through(url: str) -> None:
    with contextlib.ExitStack() as stack:
        idle = [stack.enter_context(line(url)) for _ in range(60)]
        for opened in idle:
            with contextlib.suppress(OSError):
                opened.sendall(b"GET /")
        for path in ("/healthz", "/livez", "/readyz"):
            assert httpx.get(url + path, **DIRECT).status_code == 200
        # The oldest made room for the newest.
        idle[0].settimeout(5)
        assert answer(idle[0])[:12] in (b"", b"HTTP/1.1 408")


def test_keep_alive_and_pipelining_go_on(url: str) -> None:
    with line(url) as opened:
        opened.sendall(START + b"\r\n" + START + b"connection: close\r\n\r\n")
        assert answer(opened).count(b"HTTP/1.1 200") == 2
