"""The Greedy Miser on a Dask cluster: 2 workers of one thread beside one process of 2 threads, and LightGBM.

100 columns of floats, 100 trees of 16 leaves, 255 bins, learning rate 0.1, squared loss, no prices; the lines
name the rows: 1,000,000, unless FARTHING_BENCH_ROWS says otherwise. Ten partitions are in the memory of the
workers before the clock starts. The model of the cluster is compared bit by bit with that of the single
process. LightGBM's is its Dask estimator, on the same cluster. Processor seconds are those of the client and
of all workers together: what is left of a comparison if other programs run on the machine.

Besides: the bytes that a worker sends and receives per tree; the largest memory of a worker over that before
the fit (goal: twice its bins, plus one partition of floats); and how the time of one fit splits: reading and
binning (three passes of tasks), exchanges (on the first worker, waiting for the other included), searching
(estimated by as many trees of one thread on 5,000 rows, where counting takes no time), the rest of the ranks'
time, which is counting, and scheduling, which is what none of them explains. Last, single exchanges between
the two workers: the least time of many, which other programs disturb least, beside the median.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import lightgbm
import numpy as np
from distributed import Client, LocalCluster, wait
from numpy.typing import NDArray

from benchmarks.measure import Line, seconds
from farthing.boosting import GreedyMiserRegressor
from farthing.collective import peers
from farthing.distributed.ranks import RankTask, run_ranks

SIZES = [int(size) for size in os.environ.get("FARTHING_BENCH_ROWS", "1000000").split(",")]
N_COLUMNS, N_PARTITIONS = 100, 10
N_TREES, N_LEAVES, RATE = 100, 16, 0.1
N_WORKERS = 2
TURNS, N_EXCHANGES = 2, 200


def partition(number: int, n_rows: int) -> NDArray[np.float64]:
    """Return the rows of a partition of a table; the target is in the last column."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(n_rows // N_PARTITIONS, N_COLUMNS + 1))
    y = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * (X[:, 4] > 0) * X[:, 5]
    X[:, -1] = y + 0.5 * X[:, -1]
    return X


def collection(n_rows: int) -> Any:
    """Return all partitions as a Dask array that is not computed."""
    shape = (n_rows // N_PARTITIONS, N_COLUMNS + 1)
    blocks = [
        da.from_delayed(dask.delayed(partition)(number, n_rows), shape, dtype=np.float64)
        for number in range(N_PARTITIONS)
    ]
    return da.concatenate(blocks)


def miser(threads: int = 1) -> GreedyMiserRegressor:
    """Return the estimator."""
    return GreedyMiserRegressor(
        n_estimators=N_TREES, max_leaf_nodes=N_LEAVES, max_depth=None, learning_rate=RATE, n_jobs=threads
    )


@contextmanager
def cluster() -> Iterator[Client]:
    """Start local workers of one thread each."""
    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=0
        ) as workers,
        Client(workers) as client,
    ):
        yield client


def resident(client: Client) -> dict[str, int]:
    """Return the bytes of memory of each worker, and let its peak begin anew from there."""

    def read(dask_worker: Any) -> int:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
        return int(dask_worker.monitor.proc.memory_info().rss)

    return dict(client.run(read))


def most_memory(client: Client, before: dict[str, int]) -> float:
    """Return the largest growth of a worker's peak memory over what it had before, in bytes."""

    def peak() -> int:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
        return 1024 * int(next(line for line in lines if line.startswith("VmHWM:")).split()[1])

    return float(max(most - before[address] for address, most in client.run(peak).items()))


def processor_seconds(client: Client) -> float:
    """Return the processor time of all workers and of this process so far."""
    return float(sum(client.run(time.process_time).values()) + time.process_time())


Work = Callable[[], object]


def races(what: str, rival: str, client: Client, work: tuple[Work, Work], goal: float) -> list[Line]:
    """Let both run in alternation; return the ratios of seconds, and of processor seconds."""
    turns: list[list[tuple[float, float]]] = []
    for _ in range(TURNS):
        turn = []
        for one in work:
            before = processor_seconds(client)
            wall = seconds(one)
            turn.append((wall, processor_seconds(client) - before))
        turns.append(turn)
    lines = []
    for clock, name in enumerate(("", ", processor time")):
        ours, theirs = ([turn[side][clock] for turn in turns] for side in (0, 1))
        ratio = statistics.median(a / b for a, b in zip(ours, theirs, strict=True))
        means = statistics.median(ours), statistics.median(theirs)
        lines.append(Line(what + name, rival, *means, ratio, None if name else goal))
    return lines


def run(threads: int) -> list[Line]:
    """Measure; ``threads`` is that of the single process."""
    return [line for n_rows in SIZES for line in measured(n_rows, threads)]


def measured(n_rows: int, threads: int) -> list[Line]:
    """Measure a table of so many rows."""
    whole = np.concatenate([partition(number, n_rows) for number in range(N_PARTITIONS)])
    X, y = np.ascontiguousarray(whole[:, :-1]), whole[:, -1].copy()
    del whole
    alone = miser(threads).fit(X, y)
    of = f"{n_rows:,} rows"
    share = partial(_share, of)
    with cluster() as client:
        table = client.persist(collection(n_rows))
        wait(table)
        rows, target = table[:, :-1], table[:, -1]
        before = resident(client)
        start = time.perf_counter()
        together = miser().fit(rows, target)
        whole_fit = time.perf_counter() - start
        growth = most_memory(client, before)
        if together.forest_ != alone.forest_:
            raise AssertionError("the cluster grew other trees than the single process")
        what = f"{of}: {N_WORKERS} workers of one thread"
        ours = partial(miser().fit, rows, target)
        rival = f"one process of {threads} threads"
        lines = races(what, rival, client, (ours, partial(miser(threads).fit, X, y)), 1.4)
        searching = seconds(lambda: miser().fit(X[:5000], y[:5000]))
        theirs = partial(light(client).fit, rows, target)
        lines += races(what, "LightGBM's DaskLGBMRegressor", client, (ours, theirs), 0.6)
        latencies = exchanges(client)
    report = together.cluster_report_
    own = n_rows * N_COLUMNS / N_WORKERS
    allowed = 2 * own + 8 * n_rows / N_PARTITIONS * (N_COLUMNS + 1)
    mib = 2**20
    memory = growth / mib, allowed / mib
    return [
        *lines,
        Line(f"{of}: memory of a worker", "goal", *memory, growth / allowed, 1.0, "MiB"),
        share("bytes per tree", "bins of a worker", report.n_bytes / N_TREES / mib, own / mib, "MiB"),
        share("reading and binning", "whole fit", report.pass_seconds, whole_fit),
        share("exchanges", "whole fit", report.exchange_seconds, whole_fit),
        share("searching, estimated", "whole fit", searching, whole_fit),
        share("counting", "whole fit", report.seconds - report.exchange_seconds - searching, whole_fit),
        share("scheduling", "whole fit", whole_fit - report.pass_seconds - report.seconds, whole_fit),
        share("exchanges per tree", "leaves", report.n_exchanges / N_TREES, N_LEAVES, ""),
        *latencies,
    ]


@dataclass(frozen=True)
class Empty:
    """A part without rows, for ranks that only exchange numbers."""

    number: int
    row_numbers: range = range(0)


def time_exchanges(parts: Sequence[Any], lengths: Sequence[int]) -> list[list[float]]:  # noqa: ARG001
    """Return the milliseconds of many exchanges of each length, on one rank."""
    group = peers()
    assert group is not None
    taken = []
    for length in lengths:
        numbers = np.ones(length, dtype=np.int64)
        taken.append([1000 * seconds(partial(group.sum, numbers)) for _ in range(N_EXCHANGES)])
    return taken


def exchanges(client: Client) -> list[Line]:
    """Measure single exchanges: of one number, of a histogram, and of four at once."""
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    parts = [client.submit(Empty, i, workers=[address]) for i, address in enumerate(addresses)]
    wait(parts)
    histogram = N_COLUMNS * 256 * 2
    lengths = [1, histogram, 4 * histogram]
    taken = run_ranks(client, parts, RankTask(time_exchanges, 0), lengths).learned
    return [
        Line(
            f"an exchange of {8 * length:,} bytes, least", "median", least, median, least / median, None, "ms"
        )
        for length, least, median in zip(lengths, map(min, taken), map(statistics.median, taken), strict=True)
    ]


def light(client: Client) -> Any:
    """Return LightGBM's estimator with the same limits."""
    return lightgbm.DaskLGBMRegressor(
        client=client,
        n_estimators=N_TREES,
        num_leaves=N_LEAVES,
        learning_rate=RATE,
        max_bin=255,
        min_child_samples=1,
        min_child_weight=0.0,
        n_jobs=1,
        verbose=-1,
        tree_learner="data",
    )


def _share(rows: str, what: str, of: str, ours: float, theirs: float, unit: str = "s") -> Line:  # noqa: PLR0917
    return Line(f"{rows}: {what}", of, ours, theirs, ours / theirs, None, unit)


if __name__ == "__main__":
    start = time.perf_counter()
    for line in run(2):
        print(line)
    print(f"{time.perf_counter() - start:.0f} s")
