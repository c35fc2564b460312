"""The command ``farthing serve`` as a process: workers, killed workers, counts, logs, memory under attack."""

from __future__ import annotations

import os
import signal
import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.serving import DIRECT, command, lines, worker_pids

import farthing
from farthing.service import Client
from farthing.service.supervisor import HANG_SECONDS

psutil = pytest.importorskip("psutil", reason="pip install psutil")


@pytest.fixture(scope="module")
def service(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, int, Path]]:
    """Return the address, the process and the log of a service of two workers."""
    log = tmp_path_factory.mktemp("service") / "log"
    arguments = (str(models / "heart.farthing"), "--workers", "2", "--max-body", "1000000")
    with command(*arguments, log=log) as (url, process):
        yield url, process.pid, log


def test_the_counts_of_all_workers_add_up(service: tuple[str, int, Path]) -> None:
    url, _, _ = service
    n_requests = 40
    for _ in range(n_requests):  # a connection each, so that both workers get some
        answer = httpx.post(f"{url}/v1/models/heart/next", json={"known": {"cp": 4}}, **DIRECT)
        assert answer.json()["ask"]["feature"] == "ca"
    text = httpx.get(f"{url}/metrics", **DIRECT).text
    assert f'farthing_features_asked_total{{feature="ca",model="heart"}} {n_requests}.0' in text


def test_workers_killed_under_load_cost_no_answer(service: tuple[str, int, Path], models: Path) -> None:
    url, parent, _ = service
    model = farthing.load(models / "heart.farthing")
    source = {"cp": 4, "ca": 3, "trestbps": 160}
    expected = farthing.consult(model, source)
    over, wrong, done = threading.Event(), [], []

    def consult() -> None:
        with Client(url, "heart", retries=12, timeout=120) as client:
            while not over.is_set():
                try:
                    done.append(farthing.consult(client, source) == expected)
                except Exception as error:
                    wrong.append(error)

    threads = [threading.Thread(target=consult) for _ in range(3)]
    for thread in threads:
        thread.start()
    killed = set()
    for _ in range(2):
        pids = [pid for pid in worker_pids(parent) if pid not in killed]
        os.kill(pids[0], signal.SIGKILL)
        killed.add(pids[0])
        already = len(done)
        await_that(lambda already=already: len(done) > already + 5)
    await_that(lambda: len(set(worker_pids(parent)) - killed) == 2)
    over.set()
    for thread in threads:
        thread.join()
    assert wrong == []
    assert all(done)


def test_a_body_of_100_megabytes_takes_no_memory(service: tuple[str, int, Path]) -> None:
    url, parent, _ = service
    for told in (True, False):
        before = memory(parent)
        assert flood(url, told) == b"HTTP/1.1 413"
        assert memory(parent) < before + 30 * 2**20
    assert httpx.get(f"{url}/healthz", **DIRECT).status_code == 200


def flood(url: str, told: bool) -> bytes:
    """Send 100 MB, with or without saying how much is to come; return the beginning of the answer."""
    size = 100 * 2**20
    there = (urlsplit(url).hostname, urlsplit(url).port)
    with socket.create_connection(there, timeout=20) as line:
        length = f"content-length: {size}" if told else "transfer-encoding: chunked"
        head = (
            "POST /v1/models/heart/next HTTP/1.1",
            "host: localhost",
            "content-type: application/json",
            length,
        )
        line.sendall("\r\n".join((*head, "", "")).encode())
        block = b" " * 2**16
        try:
            for _ in range(size // len(block)):
                line.sendall(block if told else b"10000\r\n" + block + b"\r\n")
        except OSError:
            pass  # the server hung up, as it should
        try:
            return line.recv(12)
        except OSError:
            return b"HTTP/1.1 413"  # reset before the answer was read: it is in the log


def memory(parent: int) -> int:
    return sum(psutil.Process(pid).memory_info().rss for pid in worker_pids(parent))


def test_the_log_is_json_without_values(service: tuple[str, int, Path]) -> None:
    url, _, log = service
    httpx.post(f"{url}/v1/models/heart/next?secret=987654", json={"known": {"chol": 987654}}, **DIRECT)
    await_that(lambda: any(line["event"] == "request" for line in lines(log)))
    time.sleep(0.1)
    assert "987654" not in log.read_text()
    answered = [line for line in lines(log) if line["event"] == "request"]
    assert {"time", "level", "method", "route", "status", "ms", "model"} <= set(answered[-1])


def test_it_listens_on_this_machine_only(service: tuple[str, int, Path]) -> None:
    _, parent, _ = service
    bound = {line.laddr.ip for line in psutil.Process(parent).net_connections() if line.status == "LISTEN"}
    assert bound == {"127.0.0.1"}


# The last one, since a worker may still be starting after it.
def test_a_dead_worker_is_replaced_while_another_one_starts(service: tuple[str, int, Path]) -> None:
    """uvicorn's own parent waits for the one that starts for as long as it may hang."""
    url, parent, log = service
    before = len(replacements(log))
    first, second = new_workers(parent, 2)
    os.kill(first, signal.SIGKILL)
    (starting,) = new_workers(parent, 1, first, second)
    os.kill(starting, signal.SIGSTOP)  # it starts as slowly as can be
    try:
        os.kill(second, signal.SIGKILL)
        new_workers(parent, 1, first, second, starting)
        assert psutil.Process(starting).status() == psutil.STATUS_STOPPED
        assert httpx.get(f"{url}/livez", **DIRECT, timeout=120).status_code == 200
    finally:
        os.kill(starting, signal.SIGKILL)
    assert replacements(log)[before:][:2] == ["it died", "it died"]


def replacements(log: Path) -> list[object]:
    """Return why workers were replaced."""
    return [line["reason"] for line in lines(log) if line["event"] == "worker replaced"]


def new_workers(parent: int, count: int, *old: int) -> list[int]:
    """Wait for so many workers besides the old ones, for less time than a worker may hang."""
    end = time.monotonic() + 0.8 * HANG_SECONDS
    while time.monotonic() < end:
        found = [one for one in worker_pids(parent) if one not in old]
        if len(found) == count:
            return found
        time.sleep(0.05)
    raise AssertionError(f"there are not {count} new workers")


def await_that(what: Any, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < end, "it did not happen"
        time.sleep(0.02)
