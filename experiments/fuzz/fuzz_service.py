"""Try to break a running service: random and hostile requests, slow clients, killed workers.

A service of two workers is started on this machine. Random requests are sent to it, most of them wrong in one
or more ways; the hostile ones are those that once froze a worker. Beside them, slow clients hold heads and
bodies open, and workers are killed. A violation is any answer of 500, or a service that is not ready at the
end.

    farthing reproduce fuzz_service --requests 50000 --seed 0
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from benchmarks.service import WORKERS, Server, make_steps, serving

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


def body(rng: np.random.Generator) -> bytes:
    """Return the body of a request."""
    draw = rng.random()
    if draw < 0.02:
        size = int(rng.integers(1000, 2 * 10**6))
        ones = b"[" + b"1," * size + b"1]"
        field = [b'{"refused": %b}', b'{"rows": %b}', b'{"rows": [{}], "seeds": %b}', b"%b"][
            int(rng.integers(4))
        ]
        return (field % ones)[: 4 * 2**20]
    if draw < 0.05:
        count = int(rng.integers(1000, 200_000))
        return b"{" + b",".join(b'"k%d":1' % i for i in range(count)) + b"}"
    if draw < 0.10:
        monsters = [
            b"[" * 5000,
            b'{"known":NaN}',
            b"\xff\xfe",
            b"",
            b"null",
            b'"',
            b"9" * 10000,
            b'{"a":1,"a":2}',
        ]
        return monsters[int(rng.integers(len(monsters)))]
    plain: dict[str, Any] = {}
    for name, make in (
        ("known", features), ("given", features), ("refused", lambda r: list(features(r))),
        ("budget", value), ("seed", value),
        ("rows", lambda r: [features(r) for _ in range(int(r.integers(5)))]), ("seeds", value),
        ("inputs", lambda r: [{"name": "cp", "shape": [1], "datatype": "FP64", "data": [value(r)]}]),
    ):  # fmt: skip
        if rng.random() < 0.3:
            plain[name] = make(rng)
    return json.dumps(plain).encode()


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


def attack(url: str, seed: int, n_requests: int, outcomes: Counter[int], wrong: list[str]) -> None:
    """Send random requests, one after the other."""
    paths = ["next", "predict"]
    with httpx.Client(base_url=url, trust_env=False, timeout=60) as http:
        for number in range(n_requests):
            rng = np.random.default_rng([seed, number])
            path = f"/v1/models/forest/{paths[int(rng.integers(2))]}"
            if rng.random() < 0.1:
                path = "/v2/models/forest/infer"
            try:
                answer = http.post(path, content=body(rng), headers=headers(rng))
            except httpx.TransportError:
                outcomes[0] += 1  # a worker was killed, or the server hung up on a head
                continue
            outcomes[answer.status_code] += 1
            if answer.status_code >= 500 and answer.status_code != 503:
                wrong.append(f"--seed {seed} request {number}: {answer.status_code}")


def slow_clients(url: str, over: threading.Event) -> None:
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
            over.wait(2.0)


def kill_workers(server: Server, over: threading.Event, every: float) -> None:
    """Kill a worker now and then."""
    while not over.wait(every):
        workers = [child for child in server.process.children() if "spawn_main" in " ".join(child.cmdline())]
        if len(workers) == 2:
            os.kill(workers[0].pid, signal.SIGKILL)


def run(n_requests: int, seed: int, kill_every: float, workers: int) -> tuple[Counter[int], list[str], int]:
    """Attack a service; return the answers by status, what went wrong, and the memory of its workers."""
    outcomes: Counter[int] = Counter()
    wrong: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        make_steps(Path(folder) / "forest.farthing")
        with serving("farthing.cli", "serve", folder, workers=workers) as server:
            over = threading.Event()
            beside = [
                threading.Thread(target=slow_clients, args=(server.url, over)),
                threading.Thread(target=kill_workers, args=(server, over, kill_every)),
            ]
            attackers = [
                threading.Thread(target=attack, args=(server.url, seed + i, n_requests // 2, outcomes, wrong))
                for i in range(2)
            ]
            for thread in (*beside, *attackers):
                thread.start()
            for thread in attackers:
                thread.join()
            over.set()
            for thread in beside:
                thread.join()
            time.sleep(1)
            for _ in range(20):
                if httpx.get(f"{server.url}/readyz", trust_env=False, timeout=30).status_code != 200:
                    wrong.append("the service is not ready after the attack")
            answering = server.process.children() or [server.process]
            memory = sum(psutil.Process(one.pid).memory_info().rss for one in answering)
    return outcomes, wrong, memory


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 if anything went wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tiny", action="store_true", help="some sixty requests to a single process")
    parser.add_argument("--requests", type=int, default=50_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kill-every", type=float, default=20.0, help="seconds between killed workers")
    given = parser.parse_args(arguments)
    start = time.perf_counter()
    n_requests, workers = (60, 1) if given.tiny else (given.requests, WORKERS)
    outcomes, wrong, memory = run(n_requests, given.seed, given.kill_every, workers)
    for status, count in sorted(outcomes.items()):
        print(f"{status or 'no answer':>10} {count:8d}")
    seconds = time.perf_counter() - start
    print(
        f"{sum(outcomes.values())} requests in {seconds:.0f} s, {len(wrong)} violations; "
        f"the workers have {memory / 2**20:.0f} MiB"
    )
    print(*wrong[:20], sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
