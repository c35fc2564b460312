"""Waiting for tasks of partitions, with a bound that progress renews; errors name worker and partition."""

from __future__ import annotations

import re
import time
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Final, NoReturn

import dask
from dask.utils import parse_timedelta
from distributed import Client, Future, KilledWorker, wait

from farthing.deadline import check_deadline
from farthing.errors import ClusterError, TableError

_LOOK_EVERY: Final = 0.2
_TELL_EVERY: Final = 1.0
# Keys of tasks of partitions begin with it, and end with the number of their partition.
_TASKS: Final = "farthing"
_MOST_NAMED: Final = 10
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


def task_names(what: str) -> Callable[[int], str]:
    """Return names of tasks that end with the number of their partition, by which errors name it.

    Examples
    --------
    >>> task_names("bin")(7).rpartition("-")[2]
    '7'
    """
    unique = uuid.uuid4().hex
    return lambda number: f"{_TASKS}-{what}-{unique}-{number}"


def partition_of(future: Future) -> str:
    """Return the number of a partition, with which the key of its task ends.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> partition_of(SimpleNamespace(key="farthing-bin-0123-7"))
    '7'
    """
    return _number(future.key)


def _number(key: Any) -> str:
    return str(key).rpartition("-")[2]


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
            _raise_error(client, future)
    return list(futures)


def gathered(
    client: Client, futures: Sequence[Future], tell: Callable[[int], None] = lambda _: None
) -> list[Any]:
    """Return the results of tasks of partitions, see `finished`."""
    with dropped_at_end(client, futures):
        results: list[Any] = client.gather(finished(client, futures, tell))
    return results


@contextmanager
def dropped_at_end(client: Client, futures: Sequence[Future]) -> Iterator[None]:
    """Let the workers drop the results of tasks at the end of a ``with`` block, also at that by an error.

    Otherwise they stay as long as somebody keeps the error, whose traceback has the frames of the block.
    """
    try:
        yield
    finally:
        client.cancel(list(futures), force=True)


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
    waiting = _listed([partition_of(future) for future in futures])
    state = "the cluster has no workers"
    if workers:
        state = "; ".join(f"worker {address} is {worker['status']}" for address, worker in workers.items())
    raise ClusterError(
        f"no partition was finished, and no worker worked, for {stall_seconds():.0f} s: {state}; waited for "
        f"partitions {waiting}; a worker that is paused has too little memory for its partitions"
    )


def _listed(numbers: Sequence[str]) -> str:
    return ", ".join(numbers[:_MOST_NAMED]) + (" and more" if len(numbers) > _MOST_NAMED else "")


def _raise_error(client: Client, future: Future) -> NoReturn:
    """Raise the error of a task that failed, with its partition and worker."""
    error = future.exception()
    if isinstance(error, KilledWorker):
        partitions, _ = _where_it_failed(client, future)
        raise ClusterError(
            f"{partitions} cost {error.allowed_failures + 1} workers, the last of them "
            f"{error.last_worker.address}; they were killed or ran out of memory while they read it"
        ) from error
    if isinstance(error, ValueError | TableError) and re.match(r"partition \d+, ", str(error)):
        # Another one of the same kind: the future would keep this one with its frames, and these the future.
        raise type(error)(str(error)) from error
    # Not an error of ours, but of what reads the partition, such as a file that is broken.
    partitions, workers = _where_it_failed(client, future)
    read = f", read by worker {', '.join(workers)}" if workers else ""
    raise ClusterError(f"{partitions}{read}: {type(error).__name__}: {error}") from error


def _where_it_failed(client: Client, future: Future) -> tuple[str, list[str]]:
    """Return the partitions that need the task that failed, and its worker, as far as the scheduler tells."""
    key, ours = future.key, f"{_TASKS}-"

    # By value: the scheduler may be without this package.
    def look(dask_scheduler: Any) -> tuple[list[Any], list[str]]:
        task = dask_scheduler.tasks.get(key)
        if task is None or task.exception_blame is None:
            return [], []
        keys, seen, waiting = [], {task.exception_blame}, [task.exception_blame]
        while waiting:
            found = waiting.pop()
            if str(found.key).startswith(ours):
                keys.append(found.key)
            else:
                waiting += found.dependents - seen
                seen |= found.dependents
        return keys, sorted(task.exception_blame.erred_on or ())

    try:
        keys, workers = client.run_on_scheduler(look)
    except ValueError:  # it may refuse to run functions
        keys, workers = [], []
    numbers = sorted(set(map(_number, keys or [key])), key=int)
    return f"partition{'s' if len(numbers) > 1 else ''} {_listed(numbers)}", workers
