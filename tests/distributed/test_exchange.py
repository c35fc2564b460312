"""Sums over ranks by messages between pairs, over connections that break."""

from __future__ import annotations

import asyncio
import random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from farthing.distributed import exchange, post
from farthing.distributed.exchange import combine, partners
from farthing.distributed.post import PeerLost, Post, Seat


class Connections:
    """A worker as far as a post knows one; its calls fail at random, before or after they arrive.

    A call that asks for no answer may be lost without an error.
    """

    def __init__(self, loop: asyncio.AbstractEventLoop, seed: int, share_broken: float) -> None:
        self.loop = SimpleNamespace(asyncio_loop=loop)
        self._random = random.Random(seed)
        self._share_broken = share_broken
        self.n_answered = 0

    def rpc(self, address: str) -> Any:
        return SimpleNamespace(farthing_bring=self._bring)

    async def _bring(self, *, numbers: Any, reply: bool, **message: Any) -> str | None:
        await asyncio.sleep(self._random.choice([0, 0.0005]))
        self.n_answered += reply
        if self._random.random() < self._share_broken:
            if not reply and self._random.random() < 0.5:
                return None
            raise OSError("before it arrived")
        answer = post._handle(numbers=numbers.data.copy(), **message)
        if self._random.random() < self._share_broken:
            raise OSError("after it arrived")
        return answer if reply else None


def make_posts(size: int, loop: asyncio.AbstractEventLoop, share_broken: float = 0.0) -> list[Post]:
    posts = []
    for rank in range(size):
        seat = Seat("test", rank, size, {other: str(other) for other in partners(rank, size)})
        posts.append(Post(seat, Connections(loop, rank, share_broken), lambda: True))  # type: ignore[arg-type]
    return posts


@given(
    size=st.integers(1, 11),
    length=st.integers(1, 40),
    seed=st.integers(0, 2**20),
    share_broken=st.sampled_from([0.0, 0.3]),
)
@settings(max_examples=40, deadline=None)
def test_all_ranks_get_the_total(size: int, length: int, seed: int, share_broken: float) -> None:
    rng = np.random.default_rng(seed)
    brought = rng.integers(-(2**62) // size, 2**62 // size, size=(3, size, length))

    async def run() -> list[list[Any]]:
        posts = make_posts(size, asyncio.get_running_loop(), share_broken)

        async def rank(mine: Post) -> list[Any]:
            totals = []
            for step, operation in enumerate(("sum", "largest", "sum")):
                numbers = brought[step, mine._seat.rank].copy()
                total = await combine(mine, mine._seat, step + 1, operation, numbers)
                totals.append(total.copy())
                numbers[:] = total[:] = 0  # the owner may do so while messages are under way
            await mine.arrived()
            return totals

        return await asyncio.gather(*map(rank, posts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "_LONG", 8)
        patch.setattr(post, "_RETRY_AFTER", (0.0001, 0.001))
        patch.setattr(post, "_REPEAT_AFTER", 0.002)
        found = asyncio.run(run())
    for totals in found:
        np.testing.assert_array_equal(totals[0], brought[0].sum(axis=0))
        np.testing.assert_array_equal(totals[1], brought[1].max(axis=0))
        np.testing.assert_array_equal(totals[2], brought[2].sum(axis=0))


@pytest.mark.parametrize("size", [2, 4, 8, 64])
def test_long_arrays_are_sent_twice_at_most(size: int) -> None:
    async def run() -> list[int]:
        posts = make_posts(size, asyncio.get_running_loop())
        numbers = np.arange(exchange._LONG)
        await asyncio.gather(*(combine(one, one._seat, 1, "sum", numbers) for one in posts))
        return [one.n_bytes for one in posts]

    for n_bytes in asyncio.run(run()):  # sent and received
        assert n_bytes == 4 * 8 * exchange._LONG * (size - 1) // size


def test_only_the_first_call_and_large_ones_are_answered() -> None:
    async def run() -> list[int]:
        posts = make_posts(2, asyncio.get_running_loop())

        async def rank(mine: Post) -> int:
            for step, length in enumerate((3, 3, 3, 1000)):
                await combine(mine, mine._seat, step + 1, "sum", np.ones(length))
            return mine._worker.n_answered  # type: ignore[attr-defined,no-any-return]

        return await asyncio.gather(*map(rank, posts))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(post, "_MOST_UNANSWERED", 100)
        assert asyncio.run(run()) == [2, 2]


def test_those_who_wait_are_woken() -> None:
    async def run() -> list[Any]:
        posts = make_posts(4, asyncio.get_running_loop())
        waiting = [
            asyncio.create_task(combine(one, one._seat, 1, "sum", np.ones(3))) for one in posts[:3]
        ]  # the last one never comes
        await asyncio.sleep(0.05)
        assert not any(task.done() for task in waiting)
        post.leave("test", "worker 3 is lost")
        return await asyncio.gather(*waiting, return_exceptions=True)

    for error in asyncio.run(run()):
        assert isinstance(error, PeerLost)
        assert "worker 3 is lost" in str(error)
