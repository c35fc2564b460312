"""Sums over the workers of a fit: along a binary tree of ranks, up as partial sums and down as the total.

Every rank has a post, a Dask actor on its worker. A rank waits at its own post for the numbers of the two
ranks below it, adds its own, brings the sum to the post of the rank above, and hands the total that comes
back to those below. Messages go from worker to worker; the scheduler sees none of them.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from farthing.errors import FarthingError

# Posts of this process by name: the rank finds its own without a message.
_posts: WeakValueDictionary[str, Post] = WeakValueDictionary()

_OPERATIONS: Final[dict[str, Callable[..., NDArray[Any]]]] = {"sum": np.add, "largest": np.maximum}


class PeerLost(FarthingError):  # noqa: N818 - what happened, and not an error of the user
    """A peer cannot take part any longer; the fit begins its current tree again without it."""


class Post:
    """Where the ranks below one rank bring their numbers.

    Parameters
    ----------
    name : str
        Unique among all posts.
    """

    def __init__(self, name: str) -> None:
        self._changed = threading.Condition()
        self._arrived: dict[int, list[tuple[NDArray[Any], Future[NDArray[Any]]]]] = {}
        self._lost: str | None = None
        _posts[name] = self

    # From other workers: coroutines run on the event loop, so a worker of one thread is not blocked.

    async def bring(self, step: int, numbers: NDArray[Any]) -> NDArray[Any]:
        """Leave numbers for a step; return the total of all ranks, once it is known."""
        answer: Future[NDArray[Any]] = Future()
        with self._changed:
            if self._lost is not None:
                raise PeerLost(self._lost)
            self._arrived.setdefault(step, []).append((numbers, answer))
            self._changed.notify_all()
        return await asyncio.wrap_future(answer)

    async def leave(self, why: str) -> None:
        """Wake whoever waits here: a rank is lost."""
        with self._changed:
            self._lost = why
            waiting = [answer for arrived in self._arrived.values() for _, answer in arrived]
            self._changed.notify_all()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(PeerLost(why))

    # From the rank's own thread.

    def collect(self, step: int, n_below: int) -> list[NDArray[Any]]:
        """Wait for the numbers of the ranks below."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._lost is not None or len(self._arrived.get(step, ())) == n_below
            )
            if self._lost is not None:
                raise PeerLost(self._lost)
            return [numbers for numbers, _ in self._arrived.get(step, ())]

    def answer(self, step: int, total: NDArray[Any]) -> None:
        """Hand the total to the ranks below."""
        with self._changed:
            arrived = self._arrived.pop(step, [])
        for _, answer in arrived:
            if not answer.done():
                answer.set_result(total)


class WorkerPeers:
    """The peers of a rank: `farthing.collective.Peers` over the workers of a cluster.

    Parameters
    ----------
    names : list of str
        Names of the posts, by rank.
    rank : int
        The own rank.
    above : actor or None
        The post of the rank above; None at rank 0.
    row_numbers : ndarray of int64, shape (n_rows,)
        The place of each row of this worker among all rows.

    Attributes
    ----------
    n_bytes : int
        Bytes that this rank has sent and received.
    """

    def __init__(self, names: list[str], rank: int, above: Any, row_numbers: NDArray[np.int64]) -> None:
        self.size = len(names)
        self.rank = rank
        self.row_numbers = row_numbers
        self.n_bytes = 0
        self._post = _posts[names[rank]]
        self._above = above
        self._n_below = sum(below < self.size for below in (2 * rank + 1, 2 * rank + 2))
        self._step = 0

    def sum(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over all ranks, entry by entry."""
        return self._exchange("sum", numbers)

    def largest(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the maxima over all ranks, entry by entry."""
        return self._exchange("largest", numbers)

    def _exchange(self, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
        self._step += 1
        combine = _OPERATIONS[operation]
        total = numbers.copy()  # the caller's memory may be gone before the message is sent
        for arrived in self._post.collect(self._step, self._n_below):
            combine(total, arrived, out=total)
        if self._above is not None:
            try:
                total = self._above.bring(self._step, total).result()
            except PeerLost:
                raise
            except (OSError, RuntimeError) as error:
                raise PeerLost(f"the rank above is lost: {error}") from error
        self.n_bytes += 2 * total.nbytes * (self._n_below + (self._above is not None))
        self._post.answer(self._step, total)
        return total
