"""One task per worker that holds partitions: the ranks of a fit, and what happens if a worker is lost."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import numpy as np
from distributed import Client, Future, get_worker, wait
from numpy.typing import NDArray

from farthing.collective import among
from farthing.distributed.exchange import PeerLost, Post, WorkerPeers
from farthing.errors import ClusterError

# How often a fit begins again after a loss, and how often the client looks for one, in seconds.
_MOST_LOSSES: Final = 10
_LOOK_EVERY: Final = 0.2
# How long a post may take to answer the client, in seconds.
_LONGEST_CALL: Final = 60.0
# A lost one never answers, and the client may not know yet that it is lost.
_LONGEST_WAKE: Final = 3.0


class Part(Protocol):
    """What a rank gets of each of its partitions."""

    number: int
    row_numbers: NDArray[np.int64]


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
    """

    n_workers: int
    n_bytes: int
    n_exchanges: int
    exchange_seconds: float
    seconds: float
    n_losses: int = 0


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
        outcomes = _attempt(client, parts, task, shared, kept)
        if outcomes and all(outcome.lost is None for outcome in outcomes):
            return replace(outcomes[0], report=replace(outcomes[0].report, n_losses=n_losses))
        # Ranks may differ by the last step that one of them still finished.
        kept = max((outcome.saved for outcome in outcomes), key=len, default=kept)
        why = next((outcome.lost for outcome in outcomes if outcome.lost), why) or why
    raise ClusterError(
        f"the cluster lost a worker {_MOST_LOSSES + 1} times during one fit; the last time: {why}"
    )


def _attempt(
    client: Client, parts: Sequence[Future], task: RankTask, shared: Any, saved: list[Any]
) -> list[Outcome]:
    held = _held_parts(client, parts)
    addresses = list(held)
    fit = uuid.uuid4().hex
    names = [f"{fit}-{rank}" for rank in range(len(addresses))]
    places = {"allow_other_workers": False, "pure": False}
    actors: list[Future] = []
    for rank, (name, address) in enumerate(zip(names, addresses, strict=True)):
        n_below = sum(below < len(names) for below in (2 * rank + 1, 2 * rank + 2))
        above = actors[(rank - 1) // 2] if rank else None
        actors.append(client.submit(Post, name, n_below, above, actor=True, workers=[address], **places))
    ranks: list[Future] = []
    try:
        if not _ready(client, actors, addresses):
            return []
        ranks = [
            client.submit(
                _run_rank,
                task,
                (names[rank], len(names)),
                held[address],
                shared,
                saved,
                workers=[address],
                key=f"farthing-rank-{fit}-{rank}",
                **places,
            )
            for rank, address in enumerate(addresses)
        ]
        return _watch(client, ranks, actors, addresses)
    finally:
        client.cancel([*ranks, *actors], force=True)


def _held_parts(client: Client, parts: Sequence[Future]) -> dict[str, list[Future]]:
    """Return the parts by the address of a worker that holds them, once all are made."""
    while True:
        wait(list(parts))
        for part in parts:
            if part.status == "error":
                part.result()
        found = client.who_has(list(parts))
        held: dict[str, list[Future]] = {}
        for part in parts:
            for address in found.get(part.key, ())[:1]:
                held.setdefault(address, []).append(part)
        if sum(map(len, held.values())) == len(parts):
            return dict(sorted(held.items()))
        time.sleep(_LOOK_EVERY)  # a worker was lost since


def _ready(client: Client, actors: list[Future], addresses: list[str]) -> bool:
    while not all(actor.done() for actor in actors):
        if _lost(client, addresses):
            return False
        time.sleep(0.01)
    if not all(actor.status == "finished" for actor in actors):
        return False
    try:
        for opening in [actor.result().open() for actor in actors]:
            opening.result(timeout=_LONGEST_CALL)
    except (OSError, RuntimeError, TimeoutError):  # lost since
        return False
    return True


def _watch(client: Client, ranks: list[Future], actors: list[Future], addresses: list[str]) -> list[Outcome]:
    """Wait for the ranks; if a worker is lost, wake the others and take what they have saved."""
    gone: set[str] = set()
    told = False
    while True:
        open_ranks = [rank for rank, address in zip(ranks, addresses, strict=True) if address not in gone]
        failed = next((rank for rank in open_ranks if rank.status in ("error", "cancelled", "lost")), None)
        # A rank that lost a peer ends, and those that wait for it have to be woken.
        ended = any(rank.status == "finished" and rank.result().lost for rank in open_ranks)
        if (gone or ended or failed is not None) and not told:
            told = True
            why = f"worker {', '.join(sorted(gone))} is lost" if gone else "another rank failed"
            _wake([a for a, address in zip(actors, addresses, strict=True) if address not in gone], why)
        if all(rank.done() for rank in open_ranks):
            if failed is not None:
                failed.result()
            return [rank.result() for rank in open_ranks]
        _pause(open_ranks)
        if lost := _lost(client, addresses) - gone:
            gone |= lost
            told = False


def _wake(actors: list[Future], why: str) -> None:
    """Tell posts that a rank is lost, and wait until they know; those that are gone do not answer."""
    for told in [actor.result().leave(why) for actor in actors if actor.status == "finished"]:
        try:
            told.result(timeout=_LONGEST_WAKE)
        except (OSError, RuntimeError, TimeoutError):
            continue


def _pause(ranks: list[Future]) -> None:
    try:
        wait(ranks, timeout=_LOOK_EVERY)
    except TimeoutError:
        return


def _lost(client: Client, addresses: list[str]) -> set[str]:
    return set(addresses) - set(client.scheduler_info(n_workers=-1)["workers"])


def _run_rank(
    task: RankTask, place: tuple[str, int], parts: list[Part], shared: Any, saved: list[Any]
) -> Outcome:
    """Run the job on one worker, among its peers; ``place`` names its post, and says how many there are."""
    name, size = place
    ordered = sorted(parts, key=lambda part: part.number)
    numbers = np.concatenate([part.row_numbers for part in ordered])
    worker = get_worker()
    key = worker.get_current_task()

    def is_wanted() -> bool:
        # A client that dies or cancels leaves the thread of a task running; it has to end by itself.
        running = worker.state.tasks.get(key)
        return running is not None and running.state == "executing"

    peers = WorkerPeers(name, size, task.n_rows, numbers, is_wanted)
    kept = list(saved)
    learned, why = None, None
    start = time.perf_counter()
    try:
        with among(peers, kept):
            learned = task.job(ordered, shared)
    except PeerLost as lost:
        why = str(lost)
    seconds = time.perf_counter() - start
    report = ClusterReport(size, peers.n_bytes, peers.n_exchanges, peers.exchange_seconds, seconds)
    return Outcome(learned, why, kept if why else [], report)
