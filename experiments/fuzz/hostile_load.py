"""How much of their rate good clients keep while a hostile one is at work.

Eight connections send steps to a service of two workers, turn by turn alone and beside one client that sends,
without pause, bodies made to cost the most, of 4 MiB and of 100 KiB. It has two connections, and writes bytes
that were made before, so that it takes little of the machine itself. The rates and the 99th percentiles of
the good ones are compared within one run, since the machine may be busy.

    farthing reproduce hostile_load --turns 5
"""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from benchmarks.service import WORKERS, Caller, Load, Server, make_steps, posts, serving

from experiments.lib.pages import command, markdown, options, parse, write_page

NAME = "hostile_load"
GOOD, HOSTILE_CONNECTIONS = 8, 2
HEADER = ("alone, a second", "p99, ms", "beside, a second", "p99, ms", "hostile bodies answered", "kept")
ONES = b"[" + b"1," * (2 * 2**20 - 100) + b"1]"
HOSTILE = (
    ("next", b'{"refused": ' + ONES + b"}"),
    ("predict", b'{"rows": ' + ONES + b"}"),
    ("next", b"{" + b",".join(b'"%x":1' % i for i in range(350_000)) + b"}"),
    ("next", b"[" * 4_000_000),
    ("next", b'{"refused": [' + b"1," * 50_000 + b"1]}"),
    ("predict", b'{"rows": [' + b'{"x": 1},' * 11_000 + b"{}]}"),
    ("next", b'{"known": {' + b",".join(b'"agf%d":1' % i for i in range(8_000)) + b"}}"),
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


def attack(url: str, first: int, over: threading.Event, sent: list[int]) -> None:
    """Send hostile bodies, one after the other."""
    port = int(url.rpartition(":")[2])
    number = first
    while not over.is_set():
        line = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        with contextlib.closing(line), contextlib.suppress(OSError, http.client.HTTPException):
            while not over.is_set():
                call, body = HOSTILE[number % len(HOSTILE)]
                number += 1
                line.request("POST", f"/v1/models/forest/{call}", body, {"content-type": "application/json"})
                with line.getresponse() as answer:
                    answer.read()
                    sent.append(answer.status)


def turn(
    server: Server, requests: list[bytes], seconds: float, hostile: bool
) -> tuple[float, float, list[int]]:
    """Return the rate and the 99th percentile of the good clients, and the statuses of the hostile one."""
    over, sent = threading.Event(), list[int]()
    threads = [
        threading.Thread(target=attack, args=(server.url, 3 * place, over, sent))
        for place in range(HOSTILE_CONNECTIONS if hostile else 0)
    ]
    for thread in threads:
        thread.start()
    if hostile:
        time.sleep(0.2)
    waits = asyncio.run(good_clients(server.url, requests, seconds))
    over.set()
    for thread in threads:
        thread.join()
    return len(waits) / seconds, statistics.quantiles(waits, n=100)[98], sent


def main(arguments: Sequence[str] | None = None) -> int:
    """Run from the command line; the exit status is 1 if the good clients lose over half of their rate."""
    parser = options(__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3.0)
    given = parse(parser, NAME, arguments)
    turns, seconds, workers = (1, 0.5, 1) if given.tiny else (given.turns, given.seconds, WORKERS)
    shares, rows = [], []
    with tempfile.TemporaryDirectory() as folder:
        requests = posts(b"/v1/models/forest/next", make_steps(Path(folder) / "forest.farthing"))
        with serving("farthing.cli", "serve", folder, workers=workers) as server:
            turn(server, requests, seconds, hostile=False)
            for _ in range(turns):
                alone, alone_p99, _ = turn(server, requests, seconds, hostile=False)
                beside, beside_p99, sent = turn(server, requests, seconds, hostile=True)
                shares.append(beside / alone)
                rows.append(
                    (
                        f"{alone:.0f}",
                        f"{1000 * alone_p99:.1f}",
                        f"{beside:.0f}",
                        f"{1000 * beside_p99:.1f}",
                        f"{len(sent)}",
                        f"{100 * beside / alone:.0f} %",
                    )
                )
                print(
                    f"alone {alone:.0f}/s, p99 {1000 * alone_p99:.1f} ms; beside {len(sent)} hostile bodies "
                    f"{beside:6.0f}/s, p99 {1000 * beside_p99:6.1f} ms; {100 * beside / alone:.0f} % kept"
                )
    kept = statistics.median(shares)
    print(f"median share of the rate kept: {100 * kept:.0f} %")
    if not given.tiny:
        line = command(NAME, "--turns", given.turns, "--seconds", f"{given.seconds:g}")
        write_page(given.out, NAME, text_of(rows, kept), line)
    return 0 if given.tiny or kept >= 0.5 else 1


def text_of(rows: Sequence[Sequence[str]], kept: float) -> str:
    """Return the page."""
    goal = "at least half, the goal" if kept >= 0.5 else "less than half: the goal is missed"
    alone, beside = (statistics.median(float(row[place]) for row in rows) for place in (1, 3))
    said = (
        f"Good clients kept {100 * kept:.0f} % of their rate beside a hostile one (median of {len(rows)} "
        f"turns): {goal}. Their p99 is {beside:.1f} ms in place of {alone:.1f} ms (medians). More than 100 % "
        "is noise: other work on the machine slowed a turn alone."
    )
    intro = (__doc__ or "").split("    farthing reproduce")[0].strip().partition("\n\n")[2]
    return f"# Good clients beside a hostile one\n\n{said}\n\n{intro}\n\n{markdown(HEADER, rows)}\n"


if __name__ == "__main__":
    sys.exit(main())
