"""A service on a free port of this machine, for as long as a test needs it."""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import uvicorn

from farthing.service import Settings, create_app
from farthing.service.http_protocol import BoundedProtocol

# For calls of this machine: through no proxy, and without certificates, which take 30 ms to read.
DIRECT: dict[str, Any] = {"trust_env": False, "verify": False}


@contextlib.contextmanager
def running(settings: Settings, prefix: str = "") -> Iterator[str]:
    """Run an application in a thread, under uvicorn and perhaps under a path; give its address."""
    app: Any = create_app(settings)
    served = _under(prefix, app) if prefix else app
    config = uvicorn.Config(
        served,
        port=0,
        log_config=None,
        access_log=False,
        http=BoundedProtocol,
        ws="none",
        limit_concurrency=settings.max_connections,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        assert thread.is_alive(), "the server did not start"
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}{prefix}"
    finally:
        server.should_exit = True
        thread.join(timeout=10)


def _under(prefix: str, app: Any) -> Any:
    """Return an application as a proxy shows it: under a path, which it does not see."""

    async def stripped(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] == "http":
            assert scope["path"].startswith(prefix), f"{scope['path']} is not under {prefix}"
            path = scope["path"][len(prefix) :] or "/"
            scope = {**scope, "path": path, "raw_path": path.encode()}
        await app(scope, receive, send)

    return stripped


@contextlib.contextmanager
def command(*arguments: str, log: Path) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run ``farthing serve`` as a process of its own; give its address once it answers."""
    with log.open("wb") as stream:
        process = subprocess.Popen(
            [sys.executable, "-m", "farthing.cli", "serve", *arguments, "--port", "0"],
            stderr=stream,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        try:
            yield await_address(log, process), process
        finally:
            process.terminate()
            process.wait(timeout=20)


def lines(log: Path) -> list[dict[str, object]]:
    """Return the lines of a log that are JSON."""
    return [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]


def await_address(log: Path, process: subprocess.Popen[bytes]) -> str:
    end = time.monotonic() + 180
    while process.poll() is None and time.monotonic() < end:
        found = re.search(r"http://127\.0\.0\.1:([1-9]\d*)", log.read_text())
        if found:
            with contextlib.suppress(httpx.TransportError):
                if httpx.get(f"{found[0]}/healthz", **DIRECT).status_code == 200:
                    return found[0]
        time.sleep(0.05)
    raise AssertionError(log.read_text())


def worker_pids(parent: int) -> Sequence[int]:
    """Return the processes that answer for a supervisor."""
    import psutil  # noqa: PLC0415 - only where workers are killed

    found = []
    for child in psutil.Process(parent).children():
        with contextlib.suppress(psutil.Error):  # it may just have ended
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found
