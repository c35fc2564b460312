"""How far the ranks of a fit are: told with the heartbeats of their workers, watched by the client."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from farthing.distributed.exchange import WorkerPeers
from farthing.distributed.waiting import IDLE_CPU

if TYPE_CHECKING:
    from distributed import Client, Worker

_METRIC: Final = "farthing"


@dataclass(frozen=True, slots=True)
class RankProgress:
    """How far a rank was at the last heartbeat of its worker.

    Parameters
    ----------
    n_exchanges : int
        Exchanges that it has begun; -1 before it runs.
    n_rounds : int
        Finished rounds of trees.
    n_bytes : int
        Bytes that it has sent and received.
    cpu : float
        Processor time of the worker, in percent of one core.
    """

    n_exchanges: int = -1
    n_rounds: int = 0
    n_bytes: int = 0
    cpu: float = 0.0


@dataclass(frozen=True, slots=True)
class FitProgress:
    """How far a fit is.

    Parameters
    ----------
    n_rounds : int
        Rounds of trees that are finished.
    n_bytes : int
        Bytes that the workers have sent and received, all of them together.
    seconds : float
        Since the partitions were binned.
    n_workers : int
        Workers that take part.
    """

    n_rounds: int
    n_bytes: int
    seconds: float
    n_workers: int


@dataclass(frozen=True, slots=True)
class ReadProgress:
    """How far a fit is with the reading of its partitions.

    Parameters
    ----------
    n_binned : int
        Partitions that are binned.
    n_parts : int
        All partitions.
    seconds : float
        Since the fit began.
    """

    n_binned: int
    n_parts: int
    seconds: float


Show: TypeAlias = Callable[[FitProgress | ReadProgress], None]

_show: ContextVar[Show | None] = ContextVar("farthing_show", default=None)


@contextmanager
def showing(show: Show) -> Iterator[None]:
    """Call ``show`` with the progress of fits in a ``with`` block, now and then and at the end of each."""
    token = _show.set(show)
    try:
        yield
    finally:
        _show.reset(token)


def show(progress: FitProgress | ReadProgress) -> None:
    """Hand progress to whoever wants to see it."""
    found = _show.get()
    if found is not None:
        found(progress)


# In this process: the ranks that run, by fit and address of their worker.
_running: dict[tuple[str, str], tuple[WorkerPeers, list[Any]]] = {}


@contextmanager
def telling(worker: Worker, fit: str, peers: WorkerPeers, saved: list[Any]) -> Iterator[None]:
    """Tell the progress of a rank with the heartbeats of its worker."""
    worker.metrics.setdefault(_METRIC, _metric)
    place = fit, worker.address
    _running[place] = peers, saved
    try:
        yield
    finally:
        del _running[place]


def _metric(worker: Worker) -> dict[str, list[int]]:
    return {
        fit: [peers.n_exchanges, len(saved), peers.n_bytes]
        for (fit, address), (peers, saved) in list(_running.items())
        if address == worker.address
    }


def progress_of(client: Client, fit: str, addresses: Sequence[str]) -> dict[str, RankProgress]:
    """Return how far the rank on each worker is; workers that are gone are left out."""
    workers = client.sync(client.scheduler.identity, n_workers=-1)["workers"]
    found = {}
    for address in addresses:
        if address in workers:
            metrics: Mapping[str, Any] = workers[address]["metrics"] or {}
            n_exchanges, n_rounds, n_bytes = metrics.get(_METRIC, {}).get(fit, (-1, 0, 0))
            found[address] = RankProgress(n_exchanges, n_rounds, n_bytes, metrics.get("cpu", 0.0))
    return found


@dataclass(slots=True)
class StallWatch:
    """Notices if a fit makes no progress: nobody exchanges, and those that are waited for do not work.

    Parameters
    ----------
    longest : float
        Seconds without progress that are a stall.

    Examples
    --------
    >>> watch = StallWatch(longest=300)
    >>> waiting, late = RankProgress(n_exchanges=8), RankProgress(n_exchanges=7)
    >>> watch.stalled({"a": waiting, "b": late}, now=0)
    []
    >>> watch.stalled({"a": waiting, "b": late}, now=301)
    ['b']
    """

    longest: float
    _since: float | None = None
    _seen: dict[str, int] = field(default_factory=dict)

    def stalled(self, progress: Mapping[str, RankProgress], now: float) -> list[str]:
        """Return the workers that are waited for in vain; empty as long as there is progress."""
        steps = {address: rank.n_exchanges for address, rank in progress.items()}
        last = min(steps.values(), default=0)
        late = [address for address, step in steps.items() if step == last]
        works = any(progress[address].cpu > IDLE_CPU for address in late)
        if self._since is None or works or steps != self._seen:
            self._since, self._seen = now, steps
        return late if now - self._since > self.longest else []
