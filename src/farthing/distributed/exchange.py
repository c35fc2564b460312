"""Sums over the workers of a fit: along a binary tree of ranks, up as partial sums and down as the total.

Every rank has a post on its worker. The post waits for the numbers of its rank and of the two ranks below it,
brings their sum to the post of the rank above, and hands the total that comes back to all of them. Messages
are calls of a handler from worker to worker; the scheduler sees none of them.

A post belongs to the task of its rank, and numbers are entered by rank and step. So a call whose connection
broke is made again, and changes nothing if the first one arrived: whether a worker is lost is for the
scheduler to say, never for a peer.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
from distributed.protocol import to_serialize
from numpy.typing import NDArray

from farthing.errors import FarthingError

if TYPE_CHECKING:
    from distributed import Worker

_HANDLER: Final = "farthing_bring"

_OPERATIONS: Final[dict[str, Callable[..., NDArray[Any]]]] = {"sum": np.add, "largest": np.maximum}

# How often a waiting rank looks whether it is still wanted, in seconds.
_LOOK_EVERY: Final = 1.0
# Between two calls of a post that is not there yet, or whose connection broke: from, to.
_RETRY_AFTER: Final = (0.005, 1.0)
# How long the last total stays for a rank below whose connection broke, in seconds.
_LINGER: Final = 60.0


class PeerLost(FarthingError):  # noqa: N818 - what happened, and not an error of the user
    """A peer cannot take part any longer; the fit begins its current tree again without it."""


@dataclass(frozen=True, slots=True)
class Seat:
    """The place of a rank among its peers.

    Parameters
    ----------
    fit : str
        Unique among all attempts of all fits.
    rank : int
        From zero.
    size : int
        Number of ranks.
    above : str or None
        Address of the worker of the rank above; None for rank 0.
    """

    fit: str
    rank: int
    size: int
    above: str | None

    @property
    def n_below(self) -> int:
        """Ranks that bring their numbers here.

        Examples
        --------
        >>> [Seat("fit", rank, 4, None).n_below for rank in range(4)]
        [2, 1, 0, 0]
        """
        return sum(below < self.size for below in (2 * self.rank + 1, 2 * self.rank + 2))


# Posts of this process by fit and rank.
_posts: dict[tuple[str, int], Post] = {}


def open_to_peers(worker: Worker) -> None:
    """Let a worker answer the calls of others."""
    worker.handlers.setdefault(_HANDLER, _handle)


def leave(fit: str, why: str) -> None:
    """Wake the ranks of a fit on this worker: a peer is lost. Runs on the event loop."""
    for (name, _), post in list(_posts.items()):
        if name == fit:
            post.leave(why)


def open_posts() -> int:
    """Return how many posts of this process are in use."""
    return sum(not post.is_closed for post in _posts.values())


async def _handle(
    *, fit: str, above: int, below: int, step: int, operation: str, numbers: NDArray[Any]
) -> dict[str, Any]:
    """Bring the numbers of the rank ``below`` to the post of the rank ``above``."""
    post = _posts.get((fit, above))
    if post is None:
        return {"status": "absent"}
    try:
        total = await post.bring(below, step, operation, numbers)
    except PeerLost as lost:
        return {"status": "lost", "why": str(lost)}
    return {"status": "OK", "total": to_serialize(total)}


class Post:
    """Where a rank and the ranks below it bring their numbers.

    Parameters
    ----------
    seat : Seat
        Of its rank.
    worker : Worker
        Where it is.
    is_wanted : callable
        Whether the fit is still wanted.

    Attributes
    ----------
    n_bytes : int
        Bytes that were sent to other ranks and received from them.
    is_closed : bool
        Whether its rank has left.
    """

    def __init__(self, seat: Seat, worker: Worker, is_wanted: Callable[[], bool]) -> None:
        self.n_bytes = 0
        self.is_closed = False
        self._seat = seat
        self._worker = worker
        self._is_wanted = is_wanted
        self._loop = worker.loop.asyncio_loop
        self._meetings: dict[int, _Meeting] = {}
        self._last: tuple[int, NDArray[Any] | None] = (0, None)
        self._lost: str | None = None
        self._concluding: asyncio.Task[None] | None = None
        _posts[seat.fit, seat.rank] = self

    def close(self, *, lost: bool) -> None:
        """End with the rank; others may still need the last total, unless the fit is lost."""
        self.is_closed = True
        place = self._seat.fit, self._seat.rank
        if lost or not self._seat.n_below:
            _posts.pop(place, None)
        else:
            self._loop.call_soon_threadsafe(self._loop.call_later, _LINGER, _posts.pop, place, None)

    # Coroutines run on the event loop of the worker, one at a time, so that nothing has to be locked and a
    # worker of one thread is not blocked. Whoever comes last adds up and goes on.

    async def bring(self, rank: int, step: int, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """Leave the numbers of a rank for a step; return the total of all ranks, once it is known."""
        done, total = self._last
        if step == done and total is not None:
            return total
        if self._lost is not None:
            raise PeerLost(self._lost)
        meeting = self._meetings.setdefault(step, _Meeting())
        is_new = rank not in meeting.brought
        meeting.brought[rank] = numbers
        if is_new and len(meeting.brought) == self._seat.n_below + 1:
            # A task of its own, since `leave` has to wake the rank that came last, too.
            self._concluding = asyncio.create_task(self._conclude(step, operation, meeting))
        return await asyncio.shield(meeting.total)

    def leave(self, why: str) -> None:
        """Wake whoever waits here: a rank is lost."""
        self._lost = why
        for meeting in self._meetings.values():
            meeting.fail(PeerLost(why))
        self._meetings.clear()
        if self._concluding is not None:
            self._concluding.cancel()

    async def _conclude(self, step: int, operation: str, meeting: _Meeting) -> None:
        try:
            brought = list(meeting.brought.values())
            total = brought[0].copy()  # the owner's memory may be gone before the message is sent
            for numbers in brought[1:]:
                _OPERATIONS[operation](total, numbers, out=total)
            if self._seat.above is not None:
                total = await self._bring_up(step, operation, total)
        except Exception as error:  # for all who wait
            meeting.fail(error)
        else:
            self.n_bytes += 2 * total.nbytes * (len(brought) - (self._seat.above is None))
            self._last = step, total
            meeting.succeed(total)
        self._meetings.pop(step, None)

    async def _bring_up(self, step: int, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """Bring numbers to the rank above, which may not have begun, or be out of reach for a while."""
        seat = self._seat
        pause, longest = _RETRY_AFTER
        while self._lost is None and self._is_wanted():
            try:
                answer = await self._worker.rpc(seat.above).farthing_bring(
                    fit=seat.fit,
                    above=(seat.rank - 1) // 2,
                    below=seat.rank,
                    step=step,
                    operation=operation,
                    numbers=to_serialize(numbers),
                )
            except OSError:  # the scheduler knows whether that worker is lost, and the client says so
                answer = None
            if answer is not None and answer["status"] == "OK":
                total: NDArray[Any] = answer["total"]
                return total
            if answer is not None and answer["status"] == "lost":
                raise PeerLost(answer["why"])
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)
        raise PeerLost(self._lost or f"worker {seat.above} was not reached before the fit was cancelled")

    def exchange(self, step: int, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """Bring the numbers of the own rank, from its thread; return the total.

        Raises PeerLost if a rank is lost, or if nobody wants the result any longer.
        """
        coming = asyncio.run_coroutine_threadsafe(
            self.bring(self._seat.rank, step, operation, numbers), self._loop
        )
        while True:
            try:
                return coming.result(timeout=_LOOK_EVERY)
            except TimeoutError:
                if not self._is_wanted():
                    coming.cancel()
                    raise PeerLost("the client is gone, or has cancelled the fit") from None


class _Meeting:
    """What was brought for one step, and the total to come."""

    def __init__(self) -> None:
        self.brought: dict[int, NDArray[Any]] = {}
        self.total: asyncio.Future[NDArray[Any]] = asyncio.get_running_loop().create_future()

    def succeed(self, total: NDArray[Any]) -> None:
        if not self.total.done():
            self.total.set_result(total)

    def fail(self, error: Exception) -> None:
        if not self.total.done():
            self.total.set_exception(error)
            self.total.exception()  # somebody may have left already


class WorkerPeers:
    """The peers of a rank: `farthing.collective.Peers` over the workers of a cluster.

    Parameters
    ----------
    seat : Seat
        Of this rank.
    post : Post
        Of this rank.
    n_rows : int
        Rows of all ranks.
    row_ranges : sequence of range
        The places of the rows of this worker among all rows.

    Attributes
    ----------
    n_exchanges : int
        Exchanges so far.
    exchange_seconds : float
        Seconds that this rank spent in them, waiting included.
    """

    def __init__(self, seat: Seat, post: Post, n_rows: int, row_ranges: Sequence[range]) -> None:
        self.size = seat.size
        self.n_rows = n_rows
        self._row_ranges = row_ranges
        self.n_exchanges = 0
        self.exchange_seconds = 0.0
        self._post = post

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """The place of each row of this worker among all rows, made on demand."""
        return np.concatenate([np.arange(part.start, part.stop) for part in self._row_ranges])

    @property
    def n_bytes(self) -> int:
        """Bytes that this rank has sent and received."""
        return self._post.n_bytes

    def sum(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over all ranks, entry by entry."""
        return self._exchange("sum", numbers)

    def largest(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the maxima over all ranks, entry by entry."""
        return self._exchange("largest", numbers)

    def _exchange(self, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        self.n_exchanges += 1
        start = time.perf_counter()
        total = self._post.exchange(self.n_exchanges, operation, numbers)
        self.exchange_seconds += time.perf_counter() - start
        return total
