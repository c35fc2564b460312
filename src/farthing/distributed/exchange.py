"""Sums over the workers of a fit: each rank exchanges numbers with a few others, in pairs.

Ranks are paired by recursive doubling: in phase k with the rank whose number differs in bit k, and both add
what the other one brings. After log2(size) phases all have the total. Long arrays are halved in each phase
instead: one rank of a pair adds up the lower half, the other one the upper half, and the phases are run
through again backwards to bring the halves together, so that a rank sends each number twice at most, whatever
the number of ranks. Ranks beyond the last power of two bring their numbers to another one first, and get the
total from it at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from farthing.distributed.post import Post, Seat

_OPERATIONS: Final[dict[str, Callable[..., NDArray[Any]]]] = {"sum": np.add, "largest": np.maximum}

# So many numbers or more are halved, among so many ranks or more: two would send as much in two phases.
_LONG: Final = 8192
_MANY: Final = 4


def partners(rank: int, size: int) -> list[int]:
    """Return the ranks that a rank exchanges numbers with.

    Examples
    --------
    >>> partners(1, 4), partners(5, 6), partners(1, 6)
    ([0, 3], [1], [0, 3, 5])
    """
    n_paired = _n_paired(size)
    if rank >= n_paired:
        return [rank - n_paired]
    pairs = [rank ^ (1 << bit) for bit in range(n_paired.bit_length() - 1)]
    return pairs + [rank + n_paired] * (rank + n_paired < size)


def _n_paired(size: int) -> int:
    return 1 << (size.bit_length() - 1)


async def combine(post: Post, seat: Seat, step: int, operation: str, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the sums, or the maxima, of the numbers of all ranks, entry by entry.

    Parameters
    ----------
    post : Post
        Of this rank.
    seat : Seat
        Of this rank.
    step : int
        Number of the exchange, from 1.
    operation : {"sum", "largest"}
        What is done.
    numbers : ndarray, shape (n,)
        Those of this rank.
    """
    # A copy: the owner's memory may be gone before the last message is sent.
    copy = await post.begin(step, numbers)
    return await _Exchange(post, seat, step, _OPERATIONS[operation]).combine(copy)


class _Exchange:
    """The phases of one exchange on one rank. Both ranks of a pair give a message the same phase."""

    def __init__(self, post: Post, seat: Seat, step: int, operation: Callable[..., NDArray[Any]]) -> None:
        self._post = post
        self._rank = seat.rank
        self._step = step
        self._operation = operation
        self._n_paired = _n_paired(seat.size)
        self._n_bits = self._n_paired.bit_length() - 1
        self._has_guest = self._rank + self._n_paired < seat.size

    async def combine(self, numbers: NDArray[Any]) -> NDArray[Any]:
        last = 2 * self._n_bits + 1
        if self._rank >= self._n_paired:
            self._send(self._rank - self._n_paired, 0, numbers)
            return await self._take(last)
        if self._has_guest:
            numbers = self._added(numbers, await self._take(0))
        if self._n_paired >= _MANY and len(numbers) >= _LONG:
            numbers = await self._halve(numbers)
        else:
            for bit in range(self._n_bits):
                self._send(self._rank ^ (1 << bit), 1 + bit, numbers)
                numbers = self._added(numbers, await self._take(1 + bit))
        if self._has_guest:
            self._send(self._rank + self._n_paired, last, numbers)
        # The caller may change what it gets, while it is sent or where nothing came to be added to.
        return numbers.copy() if self._has_guest or not self._n_bits else numbers

    def _added(self, numbers: NDArray[Any], taken: NDArray[Any]) -> NDArray[Any]:
        # Into what was taken, which nobody else has: new memory costs as much as the sum.
        return self._operation(numbers, taken, out=taken if taken.flags.writeable else None)

    async def _halve(self, numbers: NDArray[Any]) -> NDArray[Any]:
        """Add up an ever smaller part of the numbers, then bring the parts together."""
        begin, end = 0, len(numbers)
        halves = []
        for bit in range(self._n_bits):
            middle = (begin + end) // 2
            lower, upper = slice(begin, middle), slice(middle, end)
            mine, other = (upper, lower) if self._rank & (1 << bit) else (lower, upper)
            self._send(self._rank ^ (1 << bit), 1 + bit, numbers[other])
            self._operation(numbers[mine], await self._take(1 + bit), out=numbers[mine])
            halves.append((mine, other))
            begin, end = mine.start, mine.stop
        # What comes now replaces what was sent to the same rank, which has received it: this is its answer.
        for bit in reversed(range(self._n_bits)):
            mine, other = halves[bit]
            phase = 2 * self._n_bits - bit
            self._send(self._rank ^ (1 << bit), phase, numbers[mine])
            numbers[other] = await self._take(phase)
        return numbers.copy()  # the caller may change what it gets

    def _send(self, to: int, phase: int, numbers: NDArray[Any]) -> None:
        self._post.send(to, (self._step, phase), numbers)

    async def _take(self, phase: int) -> NDArray[Any]:
        return await self._post.take((self._step, phase))


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
        self._seat = seat

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
        total = self._post.run(combine(self._post, self._seat, self.n_exchanges, operation, numbers))
        self.exchange_seconds += time.perf_counter() - start
        return total
