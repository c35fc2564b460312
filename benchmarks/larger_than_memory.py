"""A table that fits neither the memory of a worker nor that of all workers: 20,000,000 x 40 floats.

4 local workers of one thread, each limited to 1 GiB: Dask restarts a worker that passes 95 % of its limit,
and the fit would begin that worker's part again. The 200 partitions of 100,000 rows are computed when they
are read, and are not kept: 6.1 GiB of floats become 0.75 GiB of bins. 20 trees of 16 leaves, squared loss, a
price of 1 for each column. The largest memory of a worker is that of its process, with the interpreter and
the libraries. The fit of the same settings on the first 100,000 rows in one process stands beside: its error
on a partition that neither has read, in units of the variance.
"""

from __future__ import annotations

import os
import time
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster
from numpy.typing import NDArray

from benchmarks.measure import Line
from farthing.boosting import GreedyMiserRegressor

N_ROWS = int(os.environ.get("FARTHING_BENCH_ROWS", "20000000"))
N_COLUMNS, PARTITION_ROWS = 40, 100_000
N_TREES, N_LEAVES, RATE = 20, 16, 0.3
N_WORKERS, LIMIT = 4, 2**30
HOW = "Memory depends little on the machine, seconds do. One run."


def partition(number: int) -> NDArray[np.float64]:
    """Return the rows of a partition; the target is in the last column."""
    rng = np.random.default_rng(number)
    X = rng.normal(size=(PARTITION_ROWS, N_COLUMNS + 1))
    y = X[:, 0] * (X[:, 1] > 0) + np.sin(2 * X[:, 2]) + X[:, 3] + 0.5 * (X[:, 4] > 0) * X[:, 5]
    X[:, -1] = y + 0.5 * X[:, -1]
    return X


def collection() -> Any:
    """Return all partitions as a Dask array that is not computed."""
    blocks = [
        da.from_delayed(dask.delayed(partition)(number), (PARTITION_ROWS, N_COLUMNS + 1), dtype=np.float64)
        for number in range(N_ROWS // PARTITION_ROWS)
    ]
    return da.concatenate(blocks)


def miser() -> GreedyMiserRegressor:
    """Return the estimator."""
    return GreedyMiserRegressor(
        n_estimators=N_TREES,
        max_leaf_nodes=N_LEAVES,
        max_depth=None,
        learning_rate=RATE,
        tradeoff=1e-5,
        relative=True,
    )


def peaks(client: Client) -> list[float]:
    """Return the largest memory that each worker has had, in bytes."""
    import resource  # noqa: PLC0415 - there is none on some systems

    def peak() -> int:
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024

    return [float(most) for most in client.run(peak).values()]


def run(threads: int) -> list[Line]:  # noqa: ARG001 - workers have one thread each
    """Measure."""
    with (
        LocalCluster(
            n_workers=N_WORKERS, threads_per_worker=1, dashboard_address=":0", memory_limit=LIMIT
        ) as workers,
        Client(workers) as client,
    ):
        before = max(peaks(client))
        table = collection()
        start = time.perf_counter()
        together = miser().fit(table[:, :-1], table[:, -1])
        whole_fit = time.perf_counter() - start
        most = max(peaks(client))
    report = together.cluster_report_
    first, unseen = partition(0), partition(N_ROWS)
    small = miser().fit(first[:, :-1], first[:, -1])
    errors = [
        float(np.mean((model.predict(unseen[:, :-1]) - unseen[:, -1]) ** 2) / unseen[:, -1].var())
        for model in (together, small)
    ]
    floats, gib = 8 * N_ROWS * (N_COLUMNS + 1), 2**30
    bins = N_ROWS * N_COLUMNS / N_WORKERS
    return [
        Line("largest memory of a worker", "its limit", most / gib, LIMIT / gib, most / LIMIT, 1.0, "GiB"),
        _share("the same without that before the fit", "bins of a worker", (most - before) / gib, bins / gib),
        _share("floats of the table", "memory of all workers", floats / gib, N_WORKERS * LIMIT / gib),
        _share("workers that were lost", "workers", report.n_losses, N_WORKERS, ""),
        _share("reading and binning", "whole fit", report.pass_seconds, whole_fit, "s"),
        _share(f"{N_TREES} trees", "whole fit", report.seconds, whole_fit, "s"),
        _share("exchanges", "whole fit", report.exchange_seconds, whole_fit, "s"),
        Line("error on unseen rows", "100,000 rows, one process", *errors, errors[0] / errors[1], None, ""),
    ]


def _share(what: str, of: str, ours: float, theirs: float, unit: str = "GiB") -> Line:
    return Line(what, of, ours, theirs, ours / theirs, None, unit)


if __name__ == "__main__":
    for line in run(1):
        print(line)
