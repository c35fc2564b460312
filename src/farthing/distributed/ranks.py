"""One task per worker that holds partitions: the ranks of a fit, and what happens if a worker is lost."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Protocol

import numpy as np
from distributed import Client, Future, wait
from numpy.typing import NDArray

from farthing.collective import among
from farthing.distributed.exchange import PeerLost, Post, WorkerPeers
from farthing.errors import ClusterError

# How often a fit begins again after a loss, and how often the client looks for one, in seconds.
_MOST_LOSSES: Final = 10
_LOOK_EVERY: Final = 0.2


class Part(Protocol):
    """What a rank gets of each of its partitions."""

    number: int
    row_numbers: NDArray[np.int64]


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
    n_bytes : int
        Bytes that the rank has sent and received.
    """

    learned: Any
    lost: str | None
    saved: list[Any]
    n_bytes: int


# From the parts of a rank, and what all ranks share, to what it learned; the same on all ranks.
Job = Callable[[Sequence[Any], Any], Any]


def run_ranks(client: Client, parts: Sequence[Future], job: Job, shared: Any = None) -> Outcome:
    """Run a job on every worker that holds parts; all of them together learn one thing.

    Parameters
    ----------
    client : Client
        Of the cluster.
    parts : sequence of Future
        Of `Part`. Those that a lost worker held are made again from their partitions.
    job : callable
        Runs within `farthing.collective.among`.
    shared : Future or object, optional
        Handed to every rank.

    Returns
    -------
    Outcome
        Of rank 0.
    """
    kept: list[Any] = []
    why = ""
    for _ in range(_MOST_LOSSES + 1):
        outcomes = _attempt(client, parts, job, shared, kept)
        if outcomes and all(outcome.lost is None for outcome in outcomes):
            return outcomes[0]
        # Ranks may differ by the last step that one of them still finished.
        kept = max((outcome.saved for outcome in outcomes), key=len, default=kept)
        why = next((outcome.lost for outcome in outcomes if outcome.lost), why) or why
    raise ClusterError(f"the cluster lost a worker {_MOST_LOSSES + 1} times during one fit; the last time: {why}")


def _attempt(
    client: Client, parts: Sequence[Future], job: Job, shared: Any, saved: list[Any]
) -> list[Outcome]:
    held = _held_parts(client, parts)
    addresses = list(held)
    fit = uuid.uuid4().hex
    names = [f"{fit}-{rank}" for rank in range(len(addresses))]
    places = {"allow_other_workers": False, "pure": False}
    actors = [
        client.submit(Post, name, actor=True, workers=[address], **places)
        for name, address in zip(names, addresses, strict=True)
    ]
    ranks: list[Future] = []
    try:
        if not _ready(client, actors, addresses):
            return []
        ranks = [
            client.submit(
                _run_rank,
                job,
                names,
                rank,
                None if rank == 0 else actors[(rank - 1) // 2],
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
    return all(actor.status == "finished" for actor in actors)


def _watch(client: Client, ranks: list[Future], actors: list[Future], addresses: list[str]) -> list[Outcome]:
    """Wait for the ranks; if a worker is lost, wake the others and take what they have saved."""
    gone: set[str] = set()
    told = False
    while True:
        open_ranks = [rank for rank, address in zip(ranks, addresses, strict=True) if address not in gone]
        failed = next((rank for rank in open_ranks if rank.status == "error"), None)
        if (gone or failed is not None) and not told:
            told = True
            why = f"worker {', '.join(sorted(gone))} is lost" if gone else "another rank failed"
            for actor, address in zip(actors, addresses, strict=True):
                if address not in gone and actor.status == "finished":
                    actor.result().leave(why)
        if all(rank.done() for rank in open_ranks):
            if failed is not None:
                failed.result()
            return [rank.result() for rank in open_ranks]
        _pause(open_ranks)
        if lost := _lost(client, addresses) - gone:
            gone |= lost
            told = False


def _pause(ranks: list[Future]) -> None:
    try:
        wait(ranks, timeout=_LOOK_EVERY)
    except TimeoutError:
        return


def _lost(client: Client, addresses: list[str]) -> set[str]:
    return set(addresses) - set(client.scheduler_info(n_workers=-1)["workers"])


def _run_rank(
    job: Job, names: list[str], rank: int, above: Any, parts: list[Part], shared: Any, saved: list[Any]
) -> Outcome:
    """Run the job on one worker, among its peers."""
    ordered = sorted(parts, key=lambda part: part.number)
    numbers = np.concatenate([part.row_numbers for part in ordered])
    peers = WorkerPeers(names, rank, above, numbers)
    kept = list(saved)
    try:
        with among(peers, kept):
            return Outcome(job(ordered, shared), None, [], peers.n_bytes)
    except PeerLost as lost:
        return Outcome(None, str(lost), kept, peers.n_bytes)
