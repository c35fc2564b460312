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

FARTHING_PIECES names the pieces to run, separated by semicolons; without it all are: "fit", the turns
"alone 1", "alone 2", "LightGBM 1" and "LightGBM 2", "searching" and "exchanges". FARTHING_KEPT names a folder
that keeps what was measured, so that a page may be made in several runs. What was not measured is "nan", and
missed.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

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
Turn: TypeAlias = list[list[float]]


class Pieces:
    """What is measured piece by piece, and what earlier runs have measured.

    Parameters
    ----------
    n_rows : int
        Rows of the table.
    """

    def __init__(self, n_rows: int) -> None:
        asked = os.environ.get("FARTHING_PIECES")
        folder = os.environ.get("FARTHING_KEPT")
        self._asked = None if asked is None else asked.split(";")
        self._file = None if folder is None else Path(folder) / f"distributed {n_rows}.json"
        exists = self._file is not None and self._file.exists()
        self._found: dict[str, Any] = json.loads(self._file.read_text()) if exists and self._file else {}

    def wanted(self, *names: str) -> bool:
        """Return whether one of these pieces is still to be run."""
        return any(name not in self._found and (self._asked is None or name in self._asked) for name in names)

    def get(self, name: str, measure: Callable[[], Any], unknown: Any) -> Any:
        """Return what a piece gives: measured now, or kept; what is unknown if neither."""
        if self.wanted(name):
            self._found[name] = measure()
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                self._file.write_text(json.dumps(self._found))
        return self._found.get(name, unknown)


def turn(client: Client, work: tuple[Work, Work]) -> Turn:
    """Let both run once; return the seconds and the processor seconds of each."""
    taken = []
    for one in work:
        before = processor_seconds(client)
        wall = seconds(one)
        taken.append([wall, processor_seconds(client) - before])
    return taken


def races(what: str, rival: str, turns: list[Turn], goal: float) -> list[Line]:
    """Return the ratios of seconds, and of processor seconds, over turns in alternation."""
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


def whole_table(n_rows: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the rows and the target of all partitions, for the single process."""
    X, y = np.empty((n_rows, N_COLUMNS)), np.empty(n_rows)
    for number in range(N_PARTITIONS):
        part = partition(number, n_rows)
        place = slice(number * len(part), (number + 1) * len(part))
        X[place], y[place] = part[:, :-1], part[:, -1]
    return X, y


def first_fit(client: Client, rows: Any, target: Any, alone: GreedyMiserRegressor) -> dict[str, float]:
    """Fit once on the cluster; return what it took. Raise if the model is not that of the single process."""
    before = resident(client)
    start = time.perf_counter()
    together = miser().fit(rows, target)
    whole_fit = time.perf_counter() - start
    growth = most_memory(client, before)
    if together.forest_ != alone.forest_:
        raise AssertionError("the cluster grew other trees than the single process")
    report = together.cluster_report_
    return {
        "whole fit": whole_fit,
        "growth": growth,
        "bytes": report.n_bytes,
        "exchanges": report.n_exchanges,
        "exchange seconds": report.exchange_seconds,
        "pass seconds": report.pass_seconds,
        "rank seconds": report.seconds,
    }


def measured(n_rows: int, threads: int) -> list[Line]:
    """Measure a table of so many rows."""
    pieces = Pieces(n_rows)
    names = [f"{rival} {number + 1}" for rival in ("alone", "LightGBM") for number in range(TURNS)]
    X, y = np.empty((0, N_COLUMNS)), np.empty(0)
    if pieces.wanted("fit", "searching", *names[:TURNS]):
        X, y = whole_table(n_rows)
    with cluster() as client:
        rows = target = None
        if pieces.wanted("fit", *names):
            table = client.persist(collection(n_rows))
            wait(table)
            rows, target = table[:, :-1], table[:, -1]
        one = miser(threads)
        fit = pieces.get("fit", lambda: first_fit(client, rows, target, one.fit(X, y)), {})
        ours = partial(miser().fit, rows, target)
        against = {"alone": partial(one.fit, X, y), "LightGBM": partial(light(client).fit, rows, target)}
        turns: dict[str, list[Turn]] = {"alone": [], "LightGBM": []}
        for name in names:
            rival = name.split()[0]
            race = partial(turn, client, (ours, against[rival]))
            turns[rival].append(pieces.get(name, race, [[np.nan, np.nan]] * 2))
        searching = pieces.get("searching", lambda: seconds(lambda: miser().fit(X[:5000], y[:5000])), np.nan)
        latencies = pieces.get("exchanges", lambda: exchanges(client), [])
    return lines_of(n_rows, threads, turns, {**fit, "searching": searching}, latencies)


def lines_of(
    n_rows: int, threads: int, turns: dict[str, list[Turn]], fit: dict[str, float], latencies: list[Any]
) -> list[Line]:
    """Return the lines of a page on what was measured."""
    of = f"{n_rows:,} rows"
    what = f"{of}: {N_WORKERS} workers of one thread"
    fit = defaultdict(lambda: np.nan, fit)
    whole_fit = fit["whole fit"]
    own = n_rows * N_COLUMNS / N_WORKERS
    allowed = 2 * own + 8 * n_rows / N_PARTITIONS * (N_COLUMNS + 1)
    mib = 2**20
    counting = fit["rank seconds"] - fit["exchange seconds"] - fit["searching"]
    share = partial(_share, of)
    return [
        *races(what, f"one process of {threads} threads", turns["alone"], 1.4),
        *races(what, "LightGBM's DaskLGBMRegressor", turns["LightGBM"], 0.6),
        Line(
            f"{of}: memory of a worker",
            "goal",
            fit["growth"] / mib,
            allowed / mib,
            fit["growth"] / allowed,
            1.0,
            "MiB",
        ),
        share("bytes per tree", "bins of a worker", fit["bytes"] / N_TREES / mib, own / mib, "MiB"),
        share("reading and binning", "whole fit", fit["pass seconds"], whole_fit),
        share("exchanges", "whole fit", fit["exchange seconds"], whole_fit),
        share("searching, estimated", "whole fit", fit["searching"], whole_fit),
        share("counting", "whole fit", counting, whole_fit),
        share("scheduling", "whole fit", whole_fit - fit["pass seconds"] - fit["rank seconds"], whole_fit),
        share("exchanges per tree", "leaves", fit["exchanges"] / N_TREES, N_LEAVES, ""),
        *(
            Line(
                f"an exchange of {length:,} bytes, least", "median", least, median, least / median, None, "ms"
            )
            for length, least, median in latencies
        ),
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


def exchanges(client: Client) -> list[tuple[int, float, float]]:
    """Measure single exchanges: of one number, of a histogram, and of four at once.

    Returns
    -------
    list of tuple
        Bytes, least and median milliseconds.
    """
    addresses = sorted(client.scheduler_info(n_workers=-1)["workers"])
    parts = [client.submit(Empty, i, workers=[address]) for i, address in enumerate(addresses)]
    wait(parts)
    histogram = N_COLUMNS * 256 * 2
    lengths = [1, histogram, 4 * histogram]
    taken = run_ranks(client, parts, RankTask(time_exchanges, 0), lengths).learned
    return [
        (8 * length, min(times), statistics.median(times))
        for length, times in zip(lengths, taken, strict=True)
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
