"""Where the messages to a rank arrive: one post per rank, on its worker.

Messages are calls of a handler from worker to worker; the scheduler sees none of them. A message is entered
by its step and phase, so a call whose connection broke is made again, and changes nothing if the first one
arrived: whether a worker is lost is for the scheduler to say, never for a peer.

Once a peer has answered, calls of it ask for no answer: what it sends next says that it has received them. So
those of the last two steps are kept, and are made again, with an answer, if nothing comes for a while.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import Future as ThreadFuture
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, TypeAlias, TypeVar

import numpy as np
from distributed.protocol import to_serialize
from numpy.typing import NDArray

from farthing.errors import FarthingError

if TYPE_CHECKING:
    from distributed import Worker

_HANDLER: Final = "farthing_bring"

# How often a waiting rank looks whether it is still wanted, in seconds.
_LOOK_EVERY: Final = 1.0
# Between two calls of a post that is not there yet, or whose connection broke: from, to.
_RETRY_AFTER: Final = (0.005, 1.0)
# How long a rank waits for a message before it repeats its own, in seconds.
_REPEAT_AFTER: Final = 1.0
# Messages of more bytes are always answered: that costs nothing beside them, and to repeat one would.
_MOST_UNANSWERED: Final = 2**23
# How long the post of a finished rank answers a peer whose connection broke, in seconds.
_LINGER: Final = 60.0

# The number of an exchange, and that of a message to this rank in it; both ascend.
When: TypeAlias = tuple[int, int]


_T = TypeVar("_T")


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
    addresses : dict
        Addresses of the workers of those ranks that it sends to.
    """

    fit: str
    rank: int
    size: int
    addresses: dict[int, str]


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


def _handle(*, fit: str, to: int, step: int, phase: int, numbers: NDArray[Any]) -> str:
    """Put numbers into the post of a rank."""
    post = _posts.get((fit, to))
    if post is None:
        return "absent"
    post.put((step, phase), numbers)
    return "OK"


class Post:
    """Where the messages to a rank arrive, and from where it sends its own.

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
        self._arrived: dict[When, NDArray[Any]] = {}
        self._taken: When = (0, 0)
        self._awaited: asyncio.Future[None] | None = None
        self._sending: set[asyncio.Task[None]] = set()
        # The peers that have answered, and what may not have arrived: to whom, when, what.
        self._reached: set[int] = set()
        self._unanswered: list[tuple[int, When, NDArray[Any]]] = []
        self._outboxes = [np.empty(0, dtype=np.uint8)] * 2
        self._lost: str | None = None
        _posts[seat.fit, seat.rank] = self

    # These run on the event loop of the worker, one at a time, so that nothing has to be locked and a worker
    # of one thread is not blocked.

    def put(self, when: When, numbers: NDArray[Any]) -> None:
        """Enter what a peer sends; it may be early, or come twice."""
        if when > self._taken and when not in self._arrived:
            self._arrived[when] = numbers
            if self._awaited is not None and not self._awaited.done():
                self._awaited.set_result(None)

    async def take(self, when: When) -> NDArray[Any]:
        """Wait for a message; raise PeerLost if it will not come."""
        timer = self._loop.call_later(_REPEAT_AFTER, self._repeat)
        try:
            while when not in self._arrived:
                if self._lost is not None:
                    raise PeerLost(self._lost)
                self._awaited = self._loop.create_future()
                await self._awaited
        finally:
            timer.cancel()
        self._taken = when
        numbers = self._arrived.pop(when)
        self.n_bytes += numbers.nbytes
        return numbers

    async def begin(self, step: int, numbers: NDArray[Any]) -> NDArray[Any]:
        """Begin an exchange; return a copy of the numbers that lasts until the next but one.

        A rank that is there has finished the last exchange but one with all that it sends to, so they have
        received what it sent then.
        """
        await self._sent()
        self._unanswered = [message for message in self._unanswered if message[1][0] >= step - 1]
        place = step % len(self._outboxes)
        if numbers.nbytes > self._outboxes[place].nbytes:
            self._outboxes[place] = np.empty(numbers.nbytes, dtype=np.uint8)
        copy = self._outboxes[place][: numbers.nbytes].view(numbers.dtype)
        copy[:] = numbers
        return copy

    def send(self, to: int, when: When, numbers: NDArray[Any]) -> None:
        """Send a message, without waiting for its arrival."""
        self.n_bytes += numbers.nbytes
        quietly = to in self._reached and numbers.nbytes <= _MOST_UNANSWERED
        if quietly:
            self._unanswered.append((to, when, numbers))
        self._start(self._tell(to, when, numbers) if quietly else self._send(to, when, numbers))

    async def arrived(self) -> None:
        """Wait until all messages have arrived; raise PeerLost if one will not."""
        self._repeat()
        await self._sent()

    async def _sent(self) -> None:
        """Wait until all messages are on their way; raise PeerLost if a peer is lost."""
        if sending := [task for task in self._sending if not task.done()]:
            await asyncio.wait(sending)
        self._sending.clear()
        if self._lost is not None:
            raise PeerLost(self._lost)

    def _repeat(self) -> None:
        for message in self._unanswered:
            self._start(self._send(*message))
        self._unanswered.clear()

    def _start(self, sending: Coroutine[Any, Any, None]) -> None:
        self._sending.add(self._loop.create_task(sending))

    def leave(self, why: str) -> None:
        """Wake whoever waits here: a rank is lost."""
        self._lost = why
        if self._awaited is not None and not self._awaited.done():
            self._awaited.set_result(None)
        for task in self._sending:
            task.cancel()

    def _call(
        self, to: int, when: When, numbers: NDArray[Any], *, reply: bool
    ) -> Coroutine[Any, Any, str | None]:
        address = self._seat.addresses[to]
        if address.startswith("inproc://"):  # the peer would add into this very memory
            numbers = numbers.copy()
        call: Coroutine[Any, Any, str | None] = self._worker.rpc(address).farthing_bring(
            fit=self._seat.fit,
            to=to,
            step=when[0],
            phase=when[1],
            numbers=to_serialize(numbers),
            reply=reply,
        )
        return call

    async def _tell(self, to: int, when: When, numbers: NDArray[Any]) -> None:
        """Call a rank without an answer; it is repeated if the rank has not received it."""
        if self._lost is None and self._is_wanted():
            try:
                await self._call(to, when, numbers, reply=False)
            except OSError:
                return
            except Exception as error:
                self._refused(to, error)

    async def _send(self, to: int, when: When, numbers: NDArray[Any]) -> None:
        """Call a rank that may not have begun, or be out of reach for a while, until it answers."""
        pause, longest = _RETRY_AFTER
        while self._lost is None and self._is_wanted():
            try:
                answer = await self._call(to, when, numbers, reply=True)
            except OSError:  # the scheduler knows whether that worker is lost, and the client says so
                answer = None
            except Exception as error:
                return self._refused(to, error)
            if answer == "OK":
                self._reached.add(to)
                return
            if answer == "absent" and to in self._reached:  # it has ended, and not without this message
                return
            await asyncio.sleep(pause)
            pause = min(2 * pause, longest)

    def _refused(self, to: int, error: Exception) -> None:
        """Let the rank know, which does not wait for its messages."""
        self.leave(f"worker {self._seat.addresses[to]} did not take a message: {error!r}")

    # These are called from the thread of the rank.

    def run(self, exchange: Coroutine[Any, Any, _T]) -> _T:
        """Run an exchange on the event loop.

        Raises PeerLost if a rank is lost, or if nobody wants the result any longer.
        """
        coming: ThreadFuture[_T] = asyncio.run_coroutine_threadsafe(exchange, self._loop)
        while True:
            try:
                return coming.result(timeout=_LOOK_EVERY)
            except TimeoutError:
                if not self._is_wanted():
                    coming.cancel()
                    raise PeerLost("the client is gone, or has cancelled the fit") from None

    def close(self, *, lost: bool) -> None:
        """End with the rank; a peer may still repeat a message that has arrived, unless the fit is lost."""
        self.is_closed = True
        place = self._seat.fit, self._seat.rank
        if lost:
            _posts.pop(place, None)
        else:
            self._loop.call_soon_threadsafe(self._loop.call_later, _LINGER, _posts.pop, place, None)
