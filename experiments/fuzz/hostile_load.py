"""How much of their rate good clients keep while a hostile one is at work.

Eight connections send steps to a service of two workers, turn by turn alone and beside one client that sends,
without pause, bodies of 4 MiB made to cost the most. The rates and the 99th percentiles of the good ones are
compared within one run, since the machine may be busy.

    farthing reproduce hostile_load --turns 5
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import httpx
from benchmarks.service import WORKERS, Caller, Load, Server, make_steps, posts, serving

GOOD = 8
ONES = b"[" + b"1," * (2 * 2**20 - 100) + b"1]"
HOSTILE = (
    ("next", b'{"refused": ' + ONES + b"}"),
    ("predict", b'{"rows": ' + ONES + b"}"),
    ("next", b"{" + b",".join(b'"%x":1' % i for i in range(350_000)) + b"}"),
    ("next", b"[" * 4_000_000),
)


async def good_clients(url: str, requests: list[bytes], seconds: float) -> list[float]:
    """Keep eight connections busy; return how long each answer took."""
    load = Load(time.perf_counter() + seconds)
    port = int(url.rpartition(":")[2])
    loop = asyncio.get_running_loop()
    callers = [
        (await loop.create_connection(partial(Caller, requests, 7 * i, load), "127.0.0.1", port))[1]
        for i in range(GOOD)
    ]
    await asyncio.gather(*(caller.over for caller in callers))
    return load.waits


def attack(url: str, over: threading.Event, sent: list[int]) -> None:
    """Send hostile bodies, one after the other."""
    number = 0
    with httpx.Client(base_url=url, trust_env=False, timeout=300) as http:
        while not over.is_set():
            call, body = HOSTILE[number % len(HOSTILE)]
            number += 1
            try:
                answer = http.post(
                    f"/v1/models/forest/{call}", content=body, headers={"content-type": "application/json"}
                )
                sent.append(answer.status_code)
            except httpx.TransportError:
                sent.append(0)


def turn(
    server: Server, requests: list[bytes], seconds: float, hostile: bool
) -> tuple[float, float, list[int]]:
    """Return the rate and the 99th percentile of the good clients, and the statuses of the hostile one."""
    over, sent = threading.Event(), list[int]()
    thread = threading.Thread(target=attack, args=(server.url, over, sent))
    if hostile:
        thread.start()
        time.sleep(0.2)
    waits = asyncio.run(good_clients(server.url, requests, seconds))
    over.set()
    if hostile:
        thread.join()
    return len(waits) / seconds, statistics.quantiles(waits, n=100)[98], sent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 if the good clients lose over half of their rate."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--tiny", action="store_true", help="one short turn with a single process")
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parser.parse_args(arguments)
    turns, seconds, workers = (1, 0.2, 1) if given.tiny else (given.turns, given.seconds, WORKERS)
    shares = []
    with tempfile.TemporaryDirectory() as folder:
        requests = posts(b"/v1/models/forest/next", make_steps(Path(folder) / "forest.farthing"))
        with serving("farthing.cli", "serve", folder, workers=workers) as server:
            turn(server, requests, seconds, hostile=False)
            for _ in range(turns):
                alone, alone_p99, _ = turn(server, requests, seconds, hostile=False)
                beside, beside_p99, sent = turn(server, requests, seconds, hostile=True)
                shares.append(beside / alone)
                print(
                    f"alone {alone:.0f}/s, p99 {1000 * alone_p99:.1f} ms; beside {len(sent)} hostile bodies "
                    f"{beside:6.0f}/s, p99 {1000 * beside_p99:6.1f} ms; {100 * beside / alone:.0f} % kept"
                )
    kept = statistics.median(shares)
    print(f"median share of the rate kept: {100 * kept:.0f} %")
    return 0 if given.tiny or kept >= 0.5 else 1


if __name__ == "__main__":
    sys.exit(main())
