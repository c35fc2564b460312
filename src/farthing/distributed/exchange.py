"""Sums over the workers of a fit: along a binary tree of ranks, up as partial sums and down as the total.

Every rank has a post, a Dask actor on its worker. The post waits for the numbers of its rank and of the two
ranks below it, brings their sum to the post of the rank above, and hands the total that comes back to all of
them. Messages go from worker to worker; the scheduler sees none of them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from farthing.errors import FarthingError

# Posts of this process by name: the rank finds its own without a message.
_posts: WeakValueDictionary[str, Post] = WeakValueDictionary()

_OPERATIONS: Final[dict[str, Callable[..., NDArray[Any]]]] = {"sum": np.add, "largest": np.maximum}


# How often a waiting rank looks whether it is still wanted, in seconds.
_LOOK_EVERY: Final = 1.0
_MOST_LOOKS: Final = 100


class PeerLost(FarthingError):  # noqa: N818 - what happened, and not an error of the user
    """A peer cannot take part any longer; the fit begins its current tree again without it."""


class Post:
    """Where a rank and the ranks below it bring their numbers.

    Parameters
    ----------
    name : str
        Unique among all posts.
    n_below : int
        How many ranks bring numbers here, besides the own one.
    above : actor or None
        The post of the rank above; None at rank 0.
    """

    def __init__(self, name: str, n_below: int, above: Any) -> None:
        self.n_bytes = 0
        self._n_expected = n_below + 1
        self._above = above
        self._meetings: dict[int, _Meeting] = {}
        self._lost: str | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        _posts[name] = self

    # Coroutines run on the event loop of the worker, one at a time, so that nothing has to be locked and a
    # worker of one thread is not blocked. Whoever comes last adds up and goes on.

    async def bring(self, step: int, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        """Leave numbers for a step; return the total of all ranks, once it is known."""
        if self._lost is not None:
            raise PeerLost(self._lost)
        meeting = self._meetings.setdefault(step, _Meeting())
        meeting.brought.append(numbers)
        if len(meeting.brought) == self._n_expected:
            await self._conclude(step, operation, meeting)
        return await meeting.total

    async def open(self) -> None:
        """Enter the event loop, from which the own rank is served, too."""
        self._loop = asyncio.get_running_loop()

    async def leave(self, why: str) -> None:
        """Wake whoever waits here: a rank is lost."""
        self._lost = why
        for meeting in self._meetings.values():
            meeting.fail(PeerLost(why))
        self._meetings.clear()

    async def _conclude(self, step: int, operation: str, meeting: _Meeting) -> None:
        total = meeting.brought[0].copy()  # the owner's memory may be gone before the message is sent
        for numbers in meeting.brought[1:]:
            _OPERATIONS[operation](total, numbers, out=total)
        try:
            if self._above is not None:
                bring = await self._way_up()
                total = await bring(step, operation, total)
        except PeerLost as lost:
            meeting.fail(lost)
        except Exception as error:
            meeting.fail(PeerLost(f"the rank above is lost: {error}"))
        else:
            self.n_bytes += 2 * total.nbytes * (self._n_expected - (self._above is None))
            meeting.succeed(total)
        self._meetings.pop(step, None)

    async def _way_up(self) -> Any:
        """Return the call that brings numbers to the rank above.

        Dask refuses it while its news of the actor are out of date. Numbers must not be brought twice, so
        only this look-up is repeated; if the worker is lost, the client says so.
        """
        for _ in range(_MOST_LOOKS):
            try:
                return self._above.bring
            except RuntimeError:
                await asyncio.sleep(_LOOK_EVERY / 10)
        return self._above.bring

    def exchange(
        self, step: int, operation: str, numbers: NDArray[Any], is_wanted: Callable[[], bool]
    ) -> NDArray[Any]:
        """Bring the numbers of the own rank, from its thread; return the total.

        Raises PeerLost if a rank is lost, or if nobody wants the result any longer.
        """
        if self._loop is None:
            raise PeerLost("the post is not open")
        coming = asyncio.run_coroutine_threadsafe(self.bring(step, operation, numbers), self._loop)
        while True:
            if not is_wanted():
                coming.cancel()
                raise PeerLost("the client is gone, or has cancelled the fit")
            try:
                return coming.result(timeout=_LOOK_EVERY)
            except TimeoutError:
                continue


class _Meeting:
    """What was brought for one step, and the total to come."""

    def __init__(self) -> None:
        self.brought: list[NDArray[Any]] = []
        self.total: asyncio.Future[NDArray[Any]] = asyncio.get_running_loop().create_future()

    def succeed(self, total: NDArray[Any]) -> None:
        if not self.total.done():
            self.total.set_result(total)

    def fail(self, error: PeerLost) -> None:
        if not self.total.done():
            self.total.set_exception(error)


class WorkerPeers:
    """The peers of a rank: `farthing.collective.Peers` over the workers of a cluster.

    Parameters
    ----------
    name : str
        Name of the post of this rank.
    size : int
        Number of ranks.
    n_rows : int
        Rows of all ranks.
    row_numbers : ndarray of int64, shape (n_here,)
        The place of each row of this worker among all rows.
    is_wanted : callable
        Whether the fit is still wanted.

    Attributes
    ----------
    n_exchanges : int
        Exchanges so far.
    exchange_seconds : float
        Seconds that this rank spent in them, waiting included.
    """

    def __init__(
        self,
        name: str,
        size: int,
        n_rows: int,
        row_numbers: NDArray[np.int64],
        is_wanted: Callable[[], bool],
    ) -> None:
        self.size = size
        self.n_rows = n_rows
        self.row_numbers = row_numbers
        self.n_exchanges = 0
        self.exchange_seconds = 0.0
        self._post = _posts[name]
        self._is_wanted = is_wanted

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
        total = self._post.exchange(self.n_exchanges, operation, numbers, self._is_wanted)
        self.exchange_seconds += time.perf_counter() - start
        return total
