"""One task per worker that holds partitions: the ranks of a fit, and what happens if a worker is lost."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

from distributed import Client, Future, get_worker, secede, wait

from farthing.collective import among
from farthing.deadline import check_deadline
from farthing.distributed.exchange import WorkerPeers, partners
from farthing.distributed.memory import kept_memory
from farthing.distributed.post import PeerLost, Post, Seat, leave, open_to_peers
from farthing.distributed.progress import FitProgress, StallWatch, progress_of, show, telling
from farthing.distributed.waiting import alive_workers, held_parts, partition_of, stall_seconds
from farthing.errors import ClusterError

# How often a fit begins again after a loss, and how often the client looks for one, in seconds.
_MOST_LOSSES: Final = 10
_LOOK_EVERY: Final = 0.2
# How often the client looks how far the ranks are.
_LOOK_CLOSELY_EVERY: Final = 2.0
# How long the client waits at first for the outcome of a finished rank, which never comes from a lost worker.
_FIRST_GATHER: Final = 2.0
# How many ranks hand over what was learned.
_N_ANSWERS: Final = 2


class Part(Protocol):
    """What a rank gets of each of its partitions."""

    number: int

    @property
    def row_numbers(self) -> range:
        """Places of its rows among all."""


@dataclass(frozen=True, slots=True)
class ClusterReport:
    """What a fit on a cluster took.

    Parameters
    ----------
    n_workers : int
        Workers that learned, in the last attempt.
    n_bytes : int
        Bytes that the first of them has sent and received.
    n_exchanges : int
        How often the workers added up.
    exchange_seconds : float
        What the first of them waited for that.
    seconds : float
        Of the last attempt, after the partitions were binned.
    n_losses : int
        How often the fit continued after the loss of a worker.
    pass_seconds : float
        Until the partitions were binned.
    n_rounds : int
        Rounds of trees, or other steps that a loss would not have cost.
    """

    n_workers: int
    n_bytes: int
    n_exchanges: int
    exchange_seconds: float
    seconds: float
    n_losses: int = 0
    pass_seconds: float = 0.0
    n_rounds: int = 0


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a rank returns.

    Parameters
    ----------
    learned : object
        What the job returned; None if the rank lost a peer.
    lost : str or None
        Why it lost one.
    saved : list
        What the job had saved until then.
    report : ClusterReport
        What the fit took.
    """

    learned: Any
    lost: str | None
    saved: list[Any]
    report: ClusterReport


# From the parts of a rank, and what all ranks share, to what it learned; the same on all ranks.
Job = Callable[[Sequence[Any], Any], Any]


@dataclass(frozen=True, slots=True)
class RankTask:
    """What every rank does.

    Parameters
    ----------
    job : callable
        Runs within `farthing.collective.among`.
    n_rows : int
        Rows of all ranks.
    """

    job: Job
    n_rows: int


def run_ranks(client: Client, parts: Sequence[Future], task: RankTask, shared: Any = None) -> Outcome:
    """Run a job on every worker that holds parts; all of them together learn one thing.

    Parameters
    ----------
    client : Client
        Of the cluster.
    parts : sequence of Future
        Of `Part`. Those that a lost worker held are made again from their partitions.
    task : RankTask
        What they do.
    shared : Future or object, optional
        Handed to every rank.

    Returns
    -------
    Outcome
        Of rank 0.
    """
    kept: list[Any] = []
    why = ""
    for n_losses in range(_MOST_LOSSES + 1):
        attempt = _Attempt(client, held_parts(client, parts))
        outcomes = attempt.run(task, shared, kept)
        learned = next((outcome for outcome in outcomes if outcome.learned is not None), None)
        if learned is not None and all(outcome.lost is None for outcome in outcomes):
            attempt.show_end(outcomes)
            return replace(learned, report=replace(learned.report, n_losses=n_losses))
        # Ranks may differ by the last step that one of them still finished.
        kept = max((outcome.saved for outcome in outcomes), key=len, default=kept)
        why = next((outcome.lost for outcome in outcomes if outcome.lost), why) or why
    raise ClusterError(
        f"the cluster lost a worker {_MOST_LOSSES + 1} times during one fit; the last time: {why}"
    )


class _Attempt:
    """One rank on each worker that holds parts, until all have learned or a worker is lost.

    Parameters
    ----------
    client : Client
        Of the cluster.
    held : dict
        The parts by the address of the worker that holds them.
    """

    def __init__(self, client: Client, held: dict[str, list[Future]]) -> None:
        self._client = client
        self._held = held
        self._addresses = list(held)
        self._fit = uuid.uuid4().hex
        self._ranks: dict[str, Future] = {}
        self._outcomes: dict[str, Outcome] = {}
        self._stalls = StallWatch(stall_seconds())
        self._patience = _FIRST_GATHER
        self._looked = self._start = time.monotonic()
        self._shown = (0, 0)

    def run(self, task: RankTask, shared: Any, saved: list[Any]) -> list[Outcome]:
        """Return what the ranks return; those of lost workers are missing."""
        try:
            for rank, address in enumerate(self._addresses):
                n_ranks = len(self._addresses)
                others = {other: self._addresses[other] for other in partners(rank, n_ranks)}
                self._ranks[address] = self._client.submit(
                    _run_rank,
                    task,
                    Seat(self._fit, rank, n_ranks, others),
                    self._held[address],
                    shared,
                    saved,
                    workers=[address],
                    allow_other_workers=False,
                    pure=False,
                    key=f"farthing-rank-{self._fit}-{rank}",
                )
            return self._watch()
        finally:
            self._client.cancel(list(self._ranks.values()), force=True)

    def show_end(self, outcomes: Sequence[Outcome]) -> None:
        """Show what the ranks did, all of which have learned."""
        reports = [outcome.report for outcome in outcomes]
        self._show(max(one.n_rounds for one in reports), sum(one.n_bytes for one in reports))

    def _show(self, n_rounds: int, n_bytes: int) -> None:
        # Reports of workers arrive late, and end with their ranks: what was shown does not fall.
        self._shown = max(self._shown[0], n_rounds), max(self._shown[1], n_bytes)
        show(FitProgress(*self._shown, time.monotonic() - self._start, len(self._addresses)))

    def _watch(self) -> list[Outcome]:
        """Wait for the ranks; if a worker is lost, wake the others and take what they have saved."""
        gone: set[str] = set()
        is_told = False
        while True:
            check_deadline()  # the ranks, which nobody wants then, end by themselves
            running = [address for address in self._addresses if address not in gone | self._outcomes.keys()]
            if not running:
                return [self._outcomes[address] for address in self._addresses if address in self._outcomes]
            failed = [address for address in running if self._collect(address)]
            # A rank that lost a peer ends, and those that wait for it have to be woken.
            ended = any(outcome.lost for outcome in self._outcomes.values())
            if (gone or ended or failed) and not is_told:
                is_told = True
                why = f"{_named(gone)} is lost" if gone else "another rank failed"
                alive = [address for address in running if address not in failed]
                self._client.run(leave, self._fit, why, workers=alive, on_error="ignore")
            if failed and len(failed) == len(running):
                self._ranks[failed[0]].result()
            _pause([self._ranks[address] for address in running])
            if lost := set(self._addresses) - gone - alive_workers(self._client):
                gone |= lost
                is_told = False
            self._look()

    def _collect(self, address: str) -> bool:
        """Take the outcome of a rank that has ended; return whether it failed instead."""
        rank = self._ranks[address]
        if rank.status == "finished":
            try:
                self._outcomes[address] = rank.result(timeout=self._patience)
            except (TimeoutError, OSError, CancelledError):  # lost since, or large
                self._patience *= 2
                return False
        return rank.status in ("error", "cancelled", "lost")

    def _look(self) -> None:
        """Show how far the fit is, and end it if it makes no progress."""
        now = time.monotonic()
        if now - self._looked < _LOOK_CLOSELY_EVERY:
            return
        self._looked = now
        progress = progress_of(self._client, self._fit, self._addresses)
        if not progress:
            return
        ranks = progress.values()
        self._show(max(rank.n_rounds for rank in ranks), sum(rank.n_bytes for rank in ranks))
        if late := self._stalls.stalled(progress, now):
            step = progress[late[0]].n_exchanges
            where = "; ".join(f"worker {address} with {self._partitions(address)}" for address in late)
            raise ClusterError(
                f"the fit has made no progress for {self._stalls.longest:.0f} s, at exchange {max(step, 0)}: "
                f"waited for {where}; look at the logs of that worker, or set the Dask option "
                "farthing.stall-timeout if this is no stall"
            )

    def _partitions(self, address: str) -> str:
        return "partitions " + ", ".join(map(partition_of, self._held[address]))


def _named(addresses: set[str]) -> str:
    return "worker " + ", ".join(sorted(addresses))


def _pause(ranks: list[Future]) -> None:
    try:
        wait(ranks, timeout=_LOOK_EVERY, return_when="FIRST_COMPLETED")
    except TimeoutError:
        return


def _run_rank(task: RankTask, seat: Seat, parts: list[Part], shared: Any, saved: list[Any]) -> Outcome:
    """Run the job on one worker, among its peers."""
    ordered = sorted(parts, key=lambda part: part.number)
    numbers = [part.row_numbers for part in ordered]
    worker = get_worker()
    key = worker.get_current_task()
    # Ranks wait for each other: with the places of their workers taken, two fits at once would wait for ever.
    secede()

    def is_wanted() -> bool:
        # A client that dies or cancels leaves the thread of a task running; it has to end by itself.
        running = worker.state.tasks.get(key)
        return running is not None and running.state in ("executing", "long-running")

    open_to_peers(worker)
    post = Post(seat, worker, is_wanted)
    peers = WorkerPeers(seat, post, task.n_rows, numbers)
    kept = list(saved)
    learned, why = None, None
    start = time.perf_counter()
    try:
        with telling(worker, seat.fit, peers, kept), among(peers, kept), kept_memory():
            learned = task.job(ordered, shared)
            post.run(post.arrived())
    except PeerLost as lost:
        learned, why = None, str(lost)
    finally:
        post.close(lost=why is not None)
    seconds = time.perf_counter() - start
    report = ClusterReport(
        seat.size, peers.n_bytes, peers.n_exchanges, peers.exchange_seconds, seconds, n_rounds=len(kept)
    )
    # All ranks learn the same. A second one hands it over, too, in case that the first is lost before it has.
    return Outcome(learned if seat.rank < _N_ANSWERS else None, why, kept if why else [], report)
