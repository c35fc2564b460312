"""The Greedy Miser on a Dask cluster: 2 workers of one thread beside one process of 2 threads, and LightGBM.

1,000,000 x 100 floats, 100 trees of 16 leaves, 255 bins, learning rate 0.1, squared loss, no prices. Ten
partitions of 100,000 rows are in the memory of the workers before the clock starts. The model of the cluster
is compared bit by bit with that of the single process. LightGBM's is its Dask estimator, on the same cluster.

Besides seconds: the bytes that a worker sends and receives per tree; the largest memory of a worker over that
before the fit (goal: twice its bins, plus one partition of floats); and how the time of one fit splits:
reading and binning (three passes of tasks), exchanges (on the first worker, waiting for the other included),
searching (estimated by as many trees of one thread on 5,000 rows, where counting takes no time), and the rest
of the ranks' time, which is counting.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import dask.array as da
import lightgbm
import numpy as np
from distributed import Client, LocalCluster, wait
from numpy.typing import NDArray

from benchmarks.measure import Line, race, seconds
from farthing.boosting import GreedyMiserRegressor

N_ROWS = int(os.environ.get("FARTHING_BENCH_ROWS", "1000000"))
N_COLUMNS, N_PARTITIONS = 100, 10
N_TREES, N_LEAVES, RATE = 100, 16, 0.1
N_WORKERS = 2
TURNS = 2


def partition(number: int) -> NDArray[np.float64]:
    """Return the rows of a partition; the target is in the last column."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(N_ROWS // N_PARTITIONS, N_COLUMNS + 1))
    y = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * (X[:, 4] > 0) * X[:, 5]
    X[:, -1] = y + 0.5 * X[:, -1]
    return X


def collection() -> Any:
    """Return all partitions as a Dask array that is not computed."""
    shape = (N_ROWS // N_PARTITIONS, N_COLUMNS + 1)
    blocks = [
        da.from_delayed(dask.delayed(partition)(number), shape, dtype=np.float64)
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
    """Return the bytes of memory of each worker."""

    def read(dask_worker: Any) -> int:
        return int(dask_worker.monitor.proc.memory_info().rss)

    return dict(client.run(read))


def most_memory(client: Client, before: dict[str, int]) -> float:
    """Return the largest growth of a worker's peak memory over what it had before, in bytes."""
    import resource  # noqa: PLC0415 - there is none on some systems

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return float(max(most - before[address] for address, most in client.run(peak).items()))


def run(threads: int) -> list[Line]:
    """Measure; ``threads`` is that of the single process."""
    whole = np.concatenate([partition(number) for number in range(N_PARTITIONS)])
    X, y = np.ascontiguousarray(whole[:, :-1]), whole[:, -1].copy()
    del whole
    alone = miser(threads).fit(X, y)
    lines = []
    with cluster() as client:
        table = client.persist(collection())
        wait(table)
        rows, target = table[:, :-1], table[:, -1]
        before = resident(client)
        start = time.perf_counter()
        together = miser().fit(rows, target)
        whole_fit = time.perf_counter() - start
        growth = most_memory(client, before)
        if together.forest_ != alone.forest_:
            raise AssertionError("the cluster grew other trees than the single process")
        lines.append(
            race(
                f"{N_WORKERS} workers of one thread",
                f"one process of {threads} threads",
                lambda: miser().fit(rows, target),
                lambda: miser(threads).fit(X, y),
                goal=1.4,
                turns=TURNS,
                warm_up=False,
            )
        )
        few = miser()
        searching = seconds(lambda: few.fit(X[:5000], y[:5000]))
        lines.append(
            race(
                f"{N_WORKERS} workers of one thread",
                "LightGBM's DaskLGBMRegressor",
                lambda: miser().fit(rows, target),
                lambda: light(client).fit(rows, target),
                goal=0.6,
                turns=TURNS,
                warm_up=False,
            )
        )
        report = together.cluster_report_
        own = N_ROWS * N_COLUMNS / N_WORKERS
        allowed = 2 * own + 8 * N_ROWS / N_PARTITIONS * (N_COLUMNS + 1)
        lines += [
            Line("memory of a worker", "goal", growth / 2**20, allowed / 2**20, growth / allowed, 1.0, "MiB"),
            _share(
                "bytes per tree", "bins of a worker", report.n_bytes / N_TREES / 2**20, own / 2**20, "MiB"
            ),
            _share("reading and binning", "whole fit", report.pass_seconds, whole_fit, "s"),
            _share("exchanges", "whole fit", report.exchange_seconds, whole_fit, "s"),
            _share("searching, estimated", "whole fit", searching, whole_fit, "s"),
            _share(
                "counting", "whole fit", report.seconds - report.exchange_seconds - searching, whole_fit, "s"
            ),
            _share(
                "scheduling", "whole fit", whole_fit - report.pass_seconds - report.seconds, whole_fit, "s"
            ),
            _share("exchanges per tree", "leaves", report.n_exchanges / N_TREES, N_LEAVES, ""),
        ]
    return lines


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


def _share(what: str, of: str, ours: float, theirs: float, unit: str) -> Line:
    return Line(what, of, ours, theirs, ours / theirs, None, unit)


if __name__ == "__main__":
    start = time.perf_counter()
    for line in run(2):
        print(line)
    print(f"{time.perf_counter() - start:.0f} s")
