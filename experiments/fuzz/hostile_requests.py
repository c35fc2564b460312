"""Try to break a running service: random and hostile requests, slow clients, killed workers, a full disk.

A service of two workers is started on this machine, on a folder that also holds a pipe, a device, a folder
and spoilt files under the names of models. Random requests are sent to it, most of them wrong in one or more
ways; the hostile ones are those that once froze a worker. Beside them, slow clients hold heads and bodies
open, and workers are killed. A violation is an answer of 500, none in a minute, or a service that is not
ready at the end or then gives another answer than before. `experiments.fuzz.fuzz` counts them.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from benchmarks.service import Server, make_steps, serving

NAMES = (
    "age",
    "sex",
    "cp",
    "trestbps",
    "chol",
    "fbs",
    "restecg",
    "thalach",
    "exang",
    "oldpeak",
    "slope",
    "ca",
    "thal",
)

_STARTING = 60.0
"""Seconds in which a worker comes up, even on a busy machine."""


def value(rng: np.random.Generator) -> Any:
    """Return a JSON value, often a wrong one."""
    values: list[Any] = [
        0, 1, 3.5, -1, 1e308, -1e308, 2**53 + 1, 2**63, None, True, "x", "", "\x00", "é", [], {}, [1, 2],
        [[1]], {"a": 1}, "1e5", "9" * 400, 1e-320,
    ]  # fmt: skip
    return values[int(rng.integers(len(values)))]


def features(rng: np.random.Generator) -> dict[str, Any]:
    """Return some features with values, now and then unknown ones."""
    names = [*NAMES, "trestbp", "", "a" * 300]
    taken = rng.permutation(len(names))[: int(rng.integers(8))]
    return {names[i]: float(rng.normal(100, 50)) if rng.random() < 0.8 else value(rng) for i in taken}


def ones(rng: np.random.Generator) -> bytes:
    """Return a list of up to two million ones, in a field where the service expects something else."""
    size = int(10 ** rng.uniform(3, 6.32))
    fields = (b'{"refused": %b}', b'{"rows": %b}', b'{"rows": [{}], "seeds": %b}', b"%b", b'{"inputs": %b}')
    return (fields[int(rng.integers(len(fields)))] % (b"[" + b"1," * size + b"1]"))[: 4 * 2**20]


def many_names(rng: np.random.Generator) -> bytes:
    """Return an object of up to 200,000 names, or many names that resemble a feature's."""
    count = int(10 ** rng.uniform(3, 5.3))
    if rng.random() < 0.5:
        return b"{" + b",".join(b'"k%d":1' % i for i in range(count)) + b"}"
    return b'{"known": {' + b",".join(b'"trestbp%d":1' % i for i in range(count // 10)) + b"}}"


def monsters(rng: np.random.Generator) -> bytes:
    """Return what is not JSON, or is for some parsers only."""
    found = (
        b"[" * 5000, b'{"known":NaN}', b"\xff\xfe", b"", b"null", b'"', b"9" * 10000, b'{"a":1,"a":2}',
        b'{"known":{"cp":1e999}}', b'{"known":{"cp":"\\ud800"}}', b'{"known":' * 200, b"[" * 4_000_000,
    )  # fmt: skip
    return found[int(rng.integers(len(found)))]


def many_rows(rng: np.random.Generator) -> bytes:
    """Return rows up to and beyond the bound, valid or with one wrong value at the end."""
    rows = b'{"cp": 1},' * int(10 ** rng.uniform(0, 4.2))
    last = (b'{"cp": 2}', b'{"cp": "x"}', b'{"cq": 2}', b"7")[int(rng.integers(4))]
    return b'{"rows": [' + rows + last + b"]}"


def fields(rng: np.random.Generator) -> bytes:
    """Return the fields of requests with values of all kinds."""
    plain: dict[str, Any] = {}
    for name, make in (
        ("known", features), ("given", features), ("refused", lambda r: list(features(r))),
        ("budget", value), ("seed", value), ("reasons", value),
        ("rows", lambda r: [features(r) for _ in range(int(r.integers(5)))]), ("seeds", value),
        ("inputs", lambda r: [{"name": "cp", "shape": [1], "datatype": "FP64", "data": [value(r)]}]),
    ):  # fmt: skip
        if rng.random() < 0.3:
            plain[name] = make(rng)
    return json.dumps(plain).encode()


def steps(rng: np.random.Generator) -> bytes:
    """Return a step that is right."""
    taken = rng.permutation(len(NAMES))[: int(rng.integers(6))]
    return json.dumps({"known": {NAMES[i]: float(rng.integers(5)) for i in taken}}).encode()


BODIES: dict[str, tuple[float, Callable[[np.random.Generator], bytes]]] = {
    "steps": (0.20, steps),
    "fields": (0.60, fields),
    "monsters": (0.05, monsters),
    "ones": (0.02, ones),
    "many_names": (0.03, many_names),
    "many_rows": (0.02, many_rows),
}
"""Kinds of bodies, and their share of all requests; the rest has no body."""


def headers(rng: np.random.Generator) -> dict[str, str]:
    """Return headers, now and then odd ones."""
    found = {"content-type": "application/json" if rng.random() < 0.95 else "text/plain"}
    odd = [
        ("if-match", '"0"'), ("x-request-id", "a" * 100), ("traceparent", "00-zz"), ("host", "evil.example"),
        ("authorization", "Bearer x"), ("x", "y" * 60_000), ("expect", "100-continue"),
    ]  # fmt: skip
    if rng.random() < 0.1:
        found |= dict([odd[int(rng.integers(len(odd)))]])
    return found


def request(rng: np.random.Generator) -> tuple[str, str, str, bytes]:
    """Return the kind of a request, its method, path and body."""
    draw = rng.random()
    for kind, (share, make) in BODIES.items():
        draw -= share
        if draw < 0:
            calls = ["v1/models/forest/predict" if kind == "many_rows" else "v1/models/forest/next"] * 6
            calls += ["v1/models/forest/predict"] * 3 + ["v2/models/forest/infer"]
            return kind, "POST", "/" + calls[int(rng.integers(len(calls)))], make(rng)
    paths = (
        "/", "/livez", "/readyz", "/healthz", "/metrics", "/openapi.json", "/v1/models", "/v1/models/forest",
        "/v1/models/pipe", "/v1/models/%00", "/v1/models/../../etc/passwd", "/v2/health/live",
        "/" + "a" * 4000, "/v2/models/forest", "/v1/models/forest/next?x=" + "y" * 1000,
    )  # fmt: skip
    methods = ("GET", "GET", "HEAD", "OPTIONS", "POST", "DELETE", "BREW")
    method = methods[int(rng.integers(len(methods)))]
    return "no body", method, paths[int(rng.integers(len(paths)))], b""


@dataclass
class Tally:
    """What came of the requests."""

    outcomes: Counter[tuple[str, str]] = field(default_factory=Counter)
    violations: list[str] = field(default_factory=list)
    killed: int = 0
    slow: int = 0
    memory: int = 0


def attack(url: str, seed: int, numbers: range, tally: Tally) -> None:
    """Send random requests, one after the other."""
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
        for number in numbers:
            rng = np.random.default_rng([seed, number])
            kind, method, path, content = request(rng)
            try:
                answer = http.request(method, path, content=content, headers=headers(rng))
            except httpx.TimeoutException:
                tally.outcomes[kind, "VIOLATION"] += 1
                tally.violations.append(f"request {number} of seed {seed} ({kind}): no answer in a minute")
                continue
            except httpx.TransportError:
                tally.outcomes[kind, "hung up"] += 1  # a worker was killed, or a head was refused
                continue
            wrong = answer.status_code >= 500 and answer.status_code != 503
            tally.outcomes[kind, "VIOLATION" if wrong else str(answer.status_code)] += 1
            if wrong:
                tally.violations.append(f"request {number} of seed {seed} ({kind}): {answer.status_code}")


def large_heads(url: str, over: threading.Event, tally: Tally) -> None:
    """Send heads of a megabyte, each of which must be refused or hung up on."""
    port = int(url.rpartition(":")[2])
    while not over.wait(1.0):
        found = b""
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=30) as line:
            line.sendall(b"GET /livez HTTP/1.1\r\nhost: localhost\r\nx: ")
            for _ in range(16):
                line.sendall(b"a" * 2**16)
            found = line.recv(100)
        status = found[9:12].decode() if found else "hung up"
        wrong = status not in ("431", "hung up")
        tally.outcomes["large heads", "VIOLATION" if wrong else status] += 1
        if wrong:
            tally.violations.append(f"a head of a megabyte was answered {found!r}")


def slow_clients(url: str, over: threading.Event, tally: Tally) -> None:
    """Hold heads and bodies open until told otherwise."""
    port = int(url.rpartition(":")[2])
    while not over.is_set():
        with contextlib.ExitStack() as stack:
            lines = []
            for number in range(50):
                with contextlib.suppress(OSError):
                    line = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=5))
                    half = b"POST /v1/models/forest/next HTTP/1.1\r\nhost: localhost\r\n"
                    rest = (
                        b"content-type: application/json\r\ncontent-length: 100\r\n\r\n{"
                        if number % 2
                        else b"x: "
                    )
                    line.sendall(half + rest)
                    lines.append(line)
            tally.slow += len(lines)
            over.wait(2.0)


def kill_workers(server: Server, over: threading.Event, every: float, tally: Tally) -> None:
    """Kill a worker now and then, but never the only one that has come up."""
    while not over.wait(every):
        workers = worker_pids(server.process.pid)
        if len(workers) == 2:
            oldest, youngest = sorted(workers, key=lambda one: psutil.Process(one).create_time())
            has_come_up = time.time() - psutil.Process(youngest).create_time() > _STARTING
            os.kill(oldest if has_come_up else youngest, signal.SIGKILL)
            tally.killed += 1


def worker_pids(root: int) -> list[int]:
    """Return the processes that answer; there may be a shell above the one that starts them."""
    found = []
    for child in psutil.Process(root).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may just have ended
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


def models_folder(folder: Path) -> bytes:
    """Fill a folder with a model and with what only looks like one; return the body of a step."""
    steps_ = make_steps(folder / "forest.farthing")
    os.mkfifo(folder / "pipe.farthing")
    (folder / "folder.farthing").mkdir()
    (folder / "device.farthing").symlink_to("/dev/zero")
    (folder / "empty.farthing").write_bytes(b"")
    (folder / "half.farthing").write_bytes((folder / "forest.farthing").read_bytes()[:5000])
    return steps_[0]


def run(seed: int, numbers: range, kill_every: float, workers: int, small_disk: bool) -> Tally:
    """Attack a service.

    Parameters
    ----------
    seed, numbers : int, range
        A request is a pure function of the seed and its number.
    kill_every : float
        Seconds between killed workers.
    workers : int
        Processes of the service.
    small_disk : bool
        Whether its temporary folder has 100 KiB: less than the counts of one worker.
    """
    tally = Tally()
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        step = models_folder(Path(name))
        disk = Path(stack.enter_context(tempfile.TemporaryDirectory())) if small_disk else None
        server = stack.enter_context(serving("farthing.cli", "serve", name, workers=workers, disk=disk))
        right = _answer(server.url, step)
        over = threading.Event()
        beside = [
            threading.Thread(target=slow_clients, args=(server.url, over, tally)),
            threading.Thread(target=large_heads, args=(server.url, over, tally)),
            threading.Thread(target=kill_workers, args=(server, over, kill_every, tally)),
        ]
        attackers = [
            threading.Thread(target=attack, args=(server.url, seed, numbers[i::2], tally)) for i in range(2)
        ]
        for thread in (*beside, *attackers):
            thread.start()
        for thread in attackers:
            thread.join()
        over.set()
        for thread in beside:
            thread.join()
        for _ in range(20):
            if not _is_ready(server.url):
                tally.violations.append("the service is not ready after the attack")
                break
        if _answer(server.url, step) != right:
            tally.violations.append("the service answers otherwise after the attack")
        processes = worker_pids(server.process.pid) or [server.process.pid]
        tally.memory = max(psutil.Process(one).memory_info().rss for one in processes)
    return tally


def _answer(url: str, step: bytes) -> Any:
    path = f"{url}/v1/models/forest/next"
    about = {"content-type": "application/json"}
    return httpx.post(path, content=step, headers=about, trust_env=False, timeout=60).json()


def _is_ready(url: str) -> bool:
    """Ask whether the service is ready, for as long as a killed worker may take to be replaced."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        with contextlib.suppress(httpx.TransportError):
            if httpx.get(f"{url}/readyz", trust_env=False, timeout=30).status_code == 200:
                return True
        time.sleep(0.5)
    return False
