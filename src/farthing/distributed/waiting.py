"""Waiting for tasks of partitions, with a bound that progress renews; errors name worker and partition."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import dask
from dask.utils import parse_timedelta
from distributed import Client, Future, KilledWorker, wait

from farthing.deadline import check_deadline
from farthing.errors import ClusterError

_LOOK_EVERY: Final = 0.2
_TELL_EVERY: Final = 1.0
# A worker that reads or computes takes more of a processor than this, in percent.
IDLE_CPU: Final = 10.0


def stall_seconds() -> float:
    """Return after how many seconds without progress a fit ends: the Dask option farthing.stall-timeout.

    Examples
    --------
    >>> stall_seconds()
    300.0
    """
    return float(parse_timedelta(dask.config.get("farthing.stall-timeout", "300s")))


def alive_workers(client: Client) -> set[str]:
    """Return the addresses of the workers, from the scheduler itself.

    ``client.scheduler_info`` is no source of it: a refresh in the background may leave it without workers
    between the question and the answer.
    """
    return set(client.nthreads())


def partition_of(future: Future) -> str:
    """Return the number of a partition, with which the key of its task ends.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> partition_of(SimpleNamespace(key="farthing-bin-0123-7"))
    '7'
    """
    return str(future.key).rpartition("-")[2]


def finished(
    client: Client, futures: Sequence[Future], tell: Callable[[int], None] = lambda _: None
) -> list[Future]:
    """Wait until the tasks of partitions have ended; raise the error of one that failed.

    Calls ``tell`` every second or so with the number of those that have ended.

    Raises DeadlineReached if the time of the fit is over, and ClusterError if no task ends and no worker
    works, for as long as `stall_seconds`, or if a partition costs one worker after another.
    """
    n_ended, since = -1, time.monotonic()
    while True:
        check_deadline()
        open_ones = [future for future in futures if not future.done()]
        if not open_ones:
            break
        if len(futures) - len(open_ones) != n_ended or _works(client):
            n_ended, since = len(futures) - len(open_ones), time.monotonic()
        if time.monotonic() - since > stall_seconds():
            _raise_stalled(client, open_ones)
        try:
            wait(open_ones, timeout=_TELL_EVERY)
        except TimeoutError:
            tell(len(futures) - len(open_ones))
    for future in futures:
        if future.status == "error":
            _raise_error(future)
    return list(futures)


def gathered(client: Client, futures: Sequence[Future]) -> list[Any]:
    """Return the results of tasks of partitions, see `finished`."""
    results: list[Any] = client.gather(finished(client, futures))
    return results


def held_parts(client: Client, parts: Sequence[Future]) -> dict[str, list[Future]]:
    """Return the parts by the address of a worker that holds them, once all are made."""
    while True:
        finished(client, parts)
        found = client.who_has(list(parts))
        held: dict[str, list[Future]] = {}
        for part in parts:
            for address in found.get(part.key, ())[:1]:
                held.setdefault(address, []).append(part)
        if sum(map(len, held.values())) == len(parts) and held.keys() <= alive_workers(client):
            return dict(sorted(held.items()))
        time.sleep(_LOOK_EVERY)  # a worker was lost since


def _works(client: Client) -> bool:
    workers = client.sync(client.scheduler.identity, n_workers=-1)["workers"].values()
    return any((worker["metrics"] or {}).get("cpu", 0.0) > IDLE_CPU for worker in workers)


def _raise_stalled(client: Client, futures: Sequence[Future]) -> None:
    workers = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    waiting = ", ".join(map(partition_of, futures[:10])) + (" and more" if len(futures) > 10 else "")
    state = "the cluster has no workers"
    if workers:
        state = "; ".join(f"worker {address} is {worker['status']}" for address, worker in workers.items())
    raise ClusterError(
        f"no partition was finished, and no worker worked, for {stall_seconds():.0f} s: {state}; waited for "
        f"partitions {waiting}; a worker that is paused has too little memory for its partitions"
    )


def _raise_error(future: Future) -> None:
    try:
        future.result()
    except KilledWorker as killed:
        raise ClusterError(
            f"partition {partition_of(future)} cost {killed.allowed_failures + 1} workers, the last of them "
            f"{killed.last_worker.address}; they were killed or ran out of memory while they read it"
        ) from killed
