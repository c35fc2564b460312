"""The service: steps a second on loopback, 2 workers, a forest of 100 trees, beside empty FastAPI.

Both run under uvicorn with as many workers; a generator of load on the same machine keeps 16 connections
busy, first those of one, then those of the other, with the same bodies. A step is a replay of half of a
patient's answers by `farthing serve` at its defaults: strict JSON, checks, counts and a log line for each
request. The rival is `async def empty(): return {}` behind a POST, which reads no body and has no log. The
share of the model is the processor time of checks, walk and decision alone, over that of a whole request. The
generator takes its part of the same cores, which brings the ratio of throughputs nearer to one; that of
processor times does not know it.

The service of before is that of another version: FARTHING_BEFORE names the folder in which it is installed,
and FARTHING_BEFORE_COMMIT its commit. It runs under the same interpreter, and takes turns with the others.
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import json
import math
import os
import re
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import psutil

from benchmarks.measure import Line
from farthing.base import load
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetForestClassifier
from farthing.service.request_body import parse
from farthing.service.request_limits import Limits
from farthing.service.schemas import NextRequest
from farthing.service.walk_steps import next_step

WORKERS, CONNECTIONS, SECONDS, TURNS = 2, 16, 2.0, 9
# A worker that is slow to start on a busy machine is not a dead one; the service has this from itself.
PATIENT = ("--timeout-worker-healthcheck", "30")
# A process that may mount a disk of its own.
NAMESPACE = ("unshare", "--user", "--map-root-user", "--mount")
RIVAL = """
from fastapi import FastAPI

app = FastAPI()


@app.post("/")
async def empty():
    return {}
"""


def save_forest(path: str) -> None:
    """Fit and save the forest; another version of the library runs this text too."""
    data = load_heart_disease()
    model = BudgetForestClassifier(
        costs=data.costs, cost_rule="penalty", tradeoff=0.0, n_estimators=100, random_state=0
    )
    model.fit(data.X, data.y).save(path)


FOREST = f"""
import sys
from farthing.datasets import load_heart_disease
from farthing.forests import BudgetForestClassifier

{inspect.getsource(save_forest)}

save_forest(sys.argv[1])
"""


def make_steps(path: Path) -> list[bytes]:
    """Fit and save the forest; return the bodies of one step of each patient."""
    save_forest(str(path))
    data, model = load_heart_disease(), load(path)
    assert model.forest_.n_trees == 100
    bodies = []
    for _, patient in data.X.iloc[:100].iterrows():
        walk = model.walk()
        walk.replay(dict(patient))
        answers: list[tuple[str, Any]] = list(walk.answers.items())
        half = answers[: len(answers) // 2]
        known = {name: None if math.isnan(float(value)) else value for name, value in half}
        bodies.append(json.dumps({"known": known}).encode())
    return bodies


@dataclass
class Server:
    """A server of several processes."""

    url: str
    process: psutil.Process

    def seconds(self) -> float:
        """Return the processor time of the workers so far."""
        times = [child.cpu_times() for child in self.process.children()]
        return float(sum(spent.user + spent.system for spent in times))

    def busy(self) -> bool:
        """Watch the workers for a second."""
        before = self.seconds()
        time.sleep(1)
        return self.seconds() > before + 0.1


@contextlib.contextmanager
def serving(
    *command: str, workers: int = WORKERS, disk: Path | None = None, site: Path | None = None
) -> Iterator[Server]:
    """Run a server of several workers, or of one process, on a free port.

    Parameters
    ----------
    *command : str
        The module and its arguments.
    workers : int
        Number of processes.
    disk : Path, optional
        An empty folder that becomes the server's temporary folder, on a disk of 100 KiB.
    site : Path, optional
        A folder with another version of the library, which is served in place of this one.
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    whole = [sys.executable, "-m", *command, "--port", port, "--workers", str(workers)]
    environment = None
    if site is not None:
        # Without the site module, which would put this checkout before all others.
        whole.insert(1, "-S")
        environment = _environment(site)
    if disk is not None:
        mount = f'mount -t tmpfs -o size=100k tmpfs "{disk}" && exec "$@"'
        whole = [*NAMESPACE, "sh", "-c", mount, "sh", *whole]
        environment = {**os.environ, "TMPDIR": str(disk)}
    process = subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment)
    try:
        url = f"http://127.0.0.1:{port}"
        while process.poll() is None:
            with contextlib.suppress(httpx.TransportError):
                httpx.get(f"{url}/healthz", trust_env=False)
                break
            time.sleep(0.1)
        server = Server(url, psutil.Process(process.pid))
        while workers > 1 and server.busy():  # one worker answers, the other is still starting
            pass
        yield server
    finally:
        process.terminate()
        process.wait()


def _environment(site: Path) -> dict[str, str]:
    packages = [path for path in sys.path if path.endswith("site-packages")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), *packages])}


@dataclass
class Load:
    """What a generator of load saw."""

    end: float
    waits: list[float] = field(default_factory=list)


class Caller(asyncio.Protocol):
    """One connection that sends the next request when the last one is answered."""

    def __init__(self, requests: list[bytes], place: int, load: Load) -> None:
        self.requests, self.place, self.load = requests, place, load
        self.buffer = b""
        self.sent = 0.0
        self.over: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: Any) -> None:
        """Begin."""
        self.transport = transport
        self.send()

    def send(self) -> None:
        """Send the next request."""
        self.sent = time.perf_counter()
        self.transport.write(self.requests[self.place % len(self.requests)])
        self.place += 1

    def data_received(self, data: bytes) -> None:
        """Take a part of an answer."""
        self.buffer += data
        head = self.buffer.find(b"\r\n\r\n")
        if head < 0:
            return
        length = re.search(rb"content-length: (\d+)", self.buffer[:head])
        assert length is not None
        if len(self.buffer) < head + 4 + int(length[1]):
            return
        assert self.buffer.startswith(b"HTTP/1.1 200"), self.buffer[:200]
        self.buffer = b""
        now = time.perf_counter()
        self.load.waits.append(now - self.sent)
        if now < self.load.end:
            self.send()
        else:
            self.transport.close()

    def connection_lost(self, error: Exception | None) -> None:
        """End."""
        if error is None:
            self.over.set_result(None)
        else:
            self.over.set_exception(error)


async def call(url: str, requests: list[bytes]) -> Load:
    """Keep all connections busy for a while."""
    loop = asyncio.get_running_loop()
    load = Load(time.perf_counter() + SECONDS)
    port = int(url.rpartition(":")[2])
    callers = [
        (await loop.create_connection(partial(Caller, requests, 7 * i, load), "127.0.0.1", port))[1]
        for i in range(CONNECTIONS)
    ]
    await asyncio.gather(*(caller.over for caller in callers))
    return load


@dataclass
class Turn:
    """One turn of one side."""

    rate: float
    p99: float
    seconds: float  # of processor time, a request


def turn(server: Server, requests: list[bytes]) -> Turn:
    """Load a server once."""
    before = server.seconds()
    load = asyncio.run(call(server.url, requests))
    spent = (server.seconds() - before) / len(load.waits)
    return Turn(len(load.waits) / SECONDS, statistics.quantiles(load.waits, n=100)[98], spent)


def posts(path: bytes, bodies: list[bytes]) -> list[bytes]:
    """Return whole requests."""
    return [
        b"POST %b HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n"
        b"content-length: %d\r\n\r\n%b" % (path, len(body), body)
        for body in bodies
    ]


def model_seconds(path: Path, bodies: list[bytes]) -> float:
    """Return the processor time of a step alone, here, without HTTP: checks, walk and decision."""
    model, limits = load(path), Limits()
    steps = [NextRequest.model_validate(parse(body)) for body in bodies]
    times = []
    for _ in range(TURNS):
        begin = time.process_time()
        for step in steps:
            next_step(model, step, limits)
        times.append((time.process_time() - begin) / len(steps))
    return statistics.median(times)


def run(threads: int) -> list[Line]:  # noqa: ARG001 - the workers are processes
    """Measure throughput, latency and processor time, turn by turn."""
    with tempfile.TemporaryDirectory() as folder:
        bodies = make_steps(Path(folder) / "forest.farthing")
        steps, nothing = posts(b"/v1/models/forest/next", bodies), posts(b"/", bodies)
        (Path(folder) / "rival.py").write_text(RIVAL)
        rival = ("uvicorn", "rival:app", "--app-dir", folder, "--no-access-log", *PATIENT)
        with contextlib.ExitStack() as stack:
            ours = stack.enter_context(serving("farthing.cli", "serve", folder))
            theirs = stack.enter_context(serving(*rival))
            sides = [(ours, steps), (theirs, nothing)]
            if before := os.environ.get("FARTHING_BEFORE"):
                # It may not read the file of a later version, so it fits the same forest itself.
                earlier = Path(folder) / "before"
                earlier.mkdir()
                fit = [sys.executable, "-S", "-c", FOREST, str(earlier / "forest.farthing")]
                subprocess.run(fit, env=_environment(Path(before)), check=True)
                old = serving("farthing.cli", "serve", str(earlier), site=Path(before))
                sides.append((stack.enter_context(old), steps))
            for side in sides:
                turn(*side)
            turns = [[turn(*side) for side in sides] for _ in range(TURNS)]
            in_model = model_seconds(Path(folder) / "forest.farthing", bodies)
    pairs = [(mine, other) for mine, other, *_ in turns]
    whole = statistics.median(mine.seconds for mine, _ in pairs)
    lines = [
        line("steps a second", pairs, "rate", unit="/s", goal=0.5, higher=True),
        line("p99 of the answer's time", pairs, "p99"),
        line("processor time a request", pairs, "seconds"),
        Line("of it, in the model", "our whole request", in_model, whole, in_model / whole, None),
    ]
    if before:
        name = f"service at {os.environ.get('FARTHING_BEFORE_COMMIT', 'an earlier commit')}"
        since = [(mine, earlier) for mine, _, earlier in turns]
        lines += [
            line("steps a second", since, "rate", rival=name, unit="/s", higher=True),
            line("p99 of the answer's time", since, "p99", rival=name),
            line("processor time a request", since, "seconds", rival=name),
        ]
    return lines


def line(
    what: str,
    pairs: list[tuple[Turn, Turn]],
    name: str,
    *,
    rival: str = "empty FastAPI endpoint",
    unit: str = "s",
    goal: float | None = None,
    higher: bool = False,
) -> Line:
    """Compare one figure of both sides."""
    values = [(getattr(mine, name), getattr(other, name)) for mine, other in pairs]
    return Line(
        what,
        rival,
        statistics.median(mine for mine, _ in values),
        statistics.median(other for _, other in values),
        statistics.median(mine / other for mine, other in values),
        goal,
        unit=unit,
        higher=higher,
    )
