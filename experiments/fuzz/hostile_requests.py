"""Try to break a running service: random and hostile requests, slow clients, killed workers, a full disk.

A service of two workers is started on this machine, on a folder that also holds a pipe, a device, a folder
and spoilt files under the names of models. Random requests are sent to it, most of them wrong in one or more
ways; the hostile ones are those that once froze a worker. Beside them, slow clients hold heads and bodies
open, and workers are killed. A violation is an answer of 500, none in a minute, or a service that is not
ready at the end or then gives another answer than before. `experiments.fuzz.fuzz` counts them.
"""

from __future__ import annotations

import contextlib
import http.client
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

from experiments.fuzz.fuzz_models import model_of, special_models
from farthing.forests import BudgetTreeClassifier

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

OTHER_NAMES = ("x0", "x1", "x3", "x5", "x19999", "pain", "town", "fbs")
"""Features of the other models; unknown to the first."""

MODELS = ("forest", "forest", "forest", "mixed", "edge", "wide")
"""Names of the models that are asked, the first more often."""

ATTACKERS = 4
_TIMEOUT = 60.0
_SMALL = 2**15
"""Bytes of a body that is never refused before it has been read."""


def value(rng: np.random.Generator) -> Any:
    """Return a JSON value, often a wrong one."""
    values: list[Any] = [
        0, 1, 3.5, -1, 1e308, -1e308, 2**53 + 1, 2**63, None, True, "x", "", "\x00", "é", [], {}, [1, 2],
        [[1]], {"a": 1}, "1e5", "9" * 400, 1e-320,
    ]  # fmt: skip
    return values[int(rng.integers(len(values)))]


def features(rng: np.random.Generator) -> dict[str, Any]:
    """Return some features with values, now and then unknown ones."""
    names = [*NAMES, *OTHER_NAMES, "trestbp", "", "a" * 300]
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


def dear(rng: np.random.Generator) -> bytes:
    """Return what is allowed, but costs much: panels, reasons, rounds, many rows of a tensor, a long text."""
    n_rows = int(10 ** rng.uniform(0, 4))
    tensor = {
        "name": str(rng.choice(["x5", "cp"])),
        "shape": [n_rows],
        "datatype": "FP64",
        "data": [1] * n_rows,
    }
    rounds: list[list[str]] = [[]] * int(10 ** rng.uniform(0, 3.5))
    found: tuple[Any, ...] = (
        {"panel": 100, "within": 1e300, "reasons": True},
        {"panel": 3, "rounds": [*rounds, ["cp"]], "known": {"cp": 4}},
        {"rounds": rounds},
        {"inputs": [tensor]},
        {"inputs": [tensor], "outputs": [{"name": "predict"}]},
        {"known": {"cp": "x" * int(10 ** rng.uniform(3, 6.5))}},
    )
    return json.dumps(found[int(rng.integers(len(found)))]).encode()


def steps(rng: np.random.Generator) -> bytes:
    """Return a step that is right."""
    taken = rng.permutation(len(NAMES))[: int(rng.integers(6))]
    return json.dumps({"known": {NAMES[i]: float(rng.integers(5)) for i in taken}}).encode()


BODIES: dict[str, tuple[float, Callable[[np.random.Generator], bytes]]] = {
    "steps": (0.20, steps),
    "fields": (0.55, fields),
    "monsters": (0.05, monsters),
    "ones": (0.02, ones),
    "many_names": (0.03, many_names),
    "many_rows": (0.02, many_rows),
    "dear": (0.05, dear),
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
            name = MODELS[int(rng.integers(len(MODELS)))]
            calls = [f"v1/models/{name}/predict" if kind == "many_rows" else f"v1/models/{name}/next"] * 6
            calls += [f"v1/models/{name}/predict"] * 3 + [f"v2/models/{name}/infer"]
            if kind == "dear":
                calls = [f"v1/models/{name}/next"] * 3 + [f"v2/models/{name}/infer"] * 2
            return kind, "POST", "/" + calls[int(rng.integers(len(calls)))], make(rng)
    paths = (
        "/", "/livez", "/readyz", "/healthz", "/metrics", "/openapi.json", "/v1/models", "/v1/models/forest",
        "/v1/models/wide", "/v1/models/edge", "/v1/models/pipe", "/v1/models/%00",
        "/v1/models/../../etc/passwd", "/v2/health/live",
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
    kills: list[float] = field(default_factory=list)
    slow: int = 0
    memory: int = 0

    def killed_since(self, begin: float) -> bool:
        """Return whether a worker has been killed since a moment, or shortly before: a second."""
        return any(moment > begin - 1 for moment in self.kills)


def attack(url: str, seed: int, numbers: range, tally: Tally) -> None:
    """Send random requests, one after the other, on one connection for as long as it lasts."""
    line = http.client.HTTPConnection("127.0.0.1", int(url.rpartition(":")[2]), timeout=_TIMEOUT)
    for number in numbers:
        rng = np.random.default_rng([seed, number])
        kind, method, path, content = request(rng)
        about = {"content-length": str(len(content)), **headers(rng)}
        begin = time.monotonic()
        try:
            outcome = str(_send(line, method, path, content, about))
            problem = outcome if outcome.startswith("5") and outcome != "503" else ""
        except TimeoutError:
            line.close()
            outcome = problem = "no answer in a minute"
        except (OSError, http.client.HTTPException):
            line.close()
            # A worker was killed, or a large body was refused before its end.
            outcome = "hung up"
            problem = "" if len(content) > _SMALL or tally.killed_since(begin) else "hung up for no reason"
        tally.outcomes[kind, "VIOLATION" if problem else outcome] += 1
        if problem:
            tally.violations.append(f"request {number} of seed {seed} ({kind}): {problem}")
    line.close()


def _send(
    line: http.client.HTTPConnection, method: str, path: str, content: bytes, about: dict[str, str]
) -> int:
    """Send one request and return the status of its answer."""
    line.putrequest(method, path, skip_host="host" in about, skip_accept_encoding=True)
    for name, given in about.items():
        line.putheader(name, given)
    # What is refused by its beginning is answered before it has been read: the answer is there all the same.
    with contextlib.suppress(BrokenPipeError, ConnectionResetError):
        line.endheaders(content)
    with line.getresponse() as answer:
        answer.read()
        return answer.status


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
        up = [worker for worker in workers if _has_connections(worker)]
        if len(workers) == 2 and up:
            (chosen,) = up[:1] if len(up) == 2 else set(workers) - set(up)
            with contextlib.suppress(ProcessLookupError):
                tally.kills.append(time.monotonic())
                os.kill(chosen, signal.SIGKILL)


def _has_connections(worker: int) -> bool:
    """Return whether a worker has come up: somebody is always connected to those that have."""
    with contextlib.suppress(psutil.Error):
        lines = psutil.Process(worker).net_connections("tcp")
        return any(line.status == psutil.CONN_ESTABLISHED for line in lines)
    return False


def worker_pids(root: int) -> list[int]:
    """Return the processes that answer; there may be a shell above the one that starts them."""
    found = []
    for child in psutil.Process(root).children(recursive=True):
        with contextlib.suppress(psutil.Error):  # it may just have ended
            if "spawn_main" in " ".join(child.cmdline()):
                found.append(child.pid)
    return found


def models_folder(folder: Path) -> bytes:
    """Fill a folder with models and with what only looks like one; return the body of a step."""
    steps_ = make_steps(folder / "forest.farthing")
    special_models()[0].save(folder / "mixed.farthing")
    model_of("EdgeClassifier").save(folder / "edge.farthing")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 20_000)).astype(np.float32)
    tree = BudgetTreeClassifier(max_depth=3).fit(X, (X[:, 5] > 0).astype(int))
    tree.save(folder / "wide.farthing")
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
            threading.Thread(target=attack, args=(server.url, seed, numbers[i::ATTACKERS], tally))
            for i in range(ATTACKERS)
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
