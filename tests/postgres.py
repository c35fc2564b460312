"""A PostgreSQL server of its own for a test, in a temporary folder."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

# Where Debian and Ubuntu put each version's programs, which are not on the path.
INSTALLED = Path("/usr/lib/postgresql")


def program(name: str) -> str:
    """Return the path of one of PostgreSQL's programs; skip the test if there is none."""
    there = [path for path in INSTALLED.glob(f"*/bin/{name}") if path.parent.parent.name.isdecimal()]
    newest = max(there, key=lambda path: int(path.parent.parent.name), default=None)
    found = shutil.which(name) or (newest and str(newest))
    if not found:
        pytest.skip(f"PostgreSQL is not installed: {name} is neither on the path nor in {INSTALLED}")
    return found


@contextmanager
def running_postgres() -> Iterator[str]:
    """Start a server and yield its URL for SQLAlchemy; skip the test if it cannot be started."""
    pytest.importorskip("psycopg", reason="PostgreSQL needs its driver, psycopg")
    initdb, pg_ctl = program("initdb"), program("pg_ctl")
    # Not below pytest's own folder, which another user than that of the tests may not enter.
    folder = Path(tempfile.mkdtemp(prefix="farthing-postgres-"))
    # The server refuses to run as root.
    user: dict[str, Any] = {"user": "nobody"} if os.geteuid() == 0 else {}
    if user:
        shutil.chown(folder, "nobody")
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    data = folder / "data"

    def run(*command: str) -> None:
        done = subprocess.run(
            command,
            check=False,
            capture_output=True,
            text=True,
            cwd=folder,
            env={**os.environ, "LC_ALL": "C"},
            **user,
        )
        if done.returncode:
            pytest.skip(f"PostgreSQL does not start here: {done.stdout[-300:]}{done.stderr[-300:]}")

    run(initdb, "-D", str(data), "-U", "tester", "--auth=trust", "--encoding=UTF8", "--no-sync")
    options = f"-p {port} -k {folder} -c listen_addresses=127.0.0.1 -c fsync=off"
    run(pg_ctl, "-D", str(data), "-o", options, "-l", str(folder / "log"), "-w", "start")
    try:
        yield f"postgresql+psycopg://tester@127.0.0.1:{port}/postgres"
    finally:
        run(pg_ctl, "-D", str(data), "-m", "immediate", "-w", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def close(engine: Any) -> None:
    """Close the connections of an engine, once those of queries that were given up have come back."""
    end = time.monotonic() + 20
    while engine.pool.checkedout() and time.monotonic() < end:
        time.sleep(0.05)
    engine.dispose()
