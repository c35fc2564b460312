"""The layers around the router: the fast path of a step, late bodies, coalesced writes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from farthing.service import Settings, create_app
from farthing.service.coalesced_writes import CoalescingTransport
from farthing.service.eager_coroutine import EagerCoroutine


async def call(app: Any, path: str, body: bytes, chunks: int = 1, **more: Any) -> tuple[int, Any, list[Any]]:
    """Send a request to an application, its body in pieces; return status, answer and headers."""
    size = -(-len(body) // chunks) or 1
    pieces = [body[at : at + size] for at in range(0, len(body), size)] or [b""]
    said: list[Any] = []

    async def receive() -> dict[str, Any]:
        if chunks > 1:
            await asyncio.sleep(0)
        piece = pieces.pop(0)
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(message: Any) -> None:
        said.append(message)

    scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "headers": [(b"content-type", b"application/json")],
        "query_string": b"",
        "root_path": "",
        **more,
    }
    await app(scope, receive, send)
    # Each request has an id of its own.
    headers = sorted(pair for pair in said[0]["headers"] if pair[0] != b"x-request-id")
    return said[0]["status"], json.loads(said[1]["body"]), headers


@pytest.mark.parametrize(
    "body",
    [
        b"{}",
        b'{"known": {"cp": 4}}',
        b'{"known": {"cp": 4}, "budget": 2}',
        b'{"known": {"co": 4}}',
        b"{",
        b"[]",
    ],
)
def test_the_fast_path_answers_as_the_router_does(models: Path, body: bytes) -> None:
    app = create_app(Settings(sources=(str(models),)))

    async def both() -> list[Any]:
        fast = [await call(app, "/v1/models/heart/next", body, chunks) for chunks in (1, 3)]
        routed = await call(app, "/there/v1/models/heart/next", body, root_path="/there")
        return [*fast, routed]

    fast, in_pieces, routed = asyncio.run(both())
    assert fast == in_pieces == routed


@pytest.mark.parametrize("path", ["/v1/models//next", "/v1/models/a/b/next", "/v1/models/liver/next"])
def test_what_is_no_model_is_not_found(models: Path, path: str) -> None:
    app = create_app(Settings(sources=(str(models),)))
    assert asyncio.run(call(app, path, b"{}"))[0] == 404


def test_work_that_need_not_wait_is_done_at_once() -> None:
    async def quick() -> int:
        return 7

    async def slow(event: asyncio.Event) -> int:
        try:
            await event.wait()
        except asyncio.CancelledError:
            return -1
        await asyncio.sleep(0)
        return 8

    async def main() -> None:
        assert EagerCoroutine(quick()).result == 7
        event = asyncio.Event()
        eager = EagerCoroutine(slow(event))
        assert not eager.done
        asyncio.get_running_loop().call_soon(event.set)
        assert await eager == 8
        late = asyncio.ensure_future(_await(EagerCoroutine(slow(asyncio.Event()))))
        await asyncio.sleep(0)
        late.cancel()
        assert await late == -1

    async def _await(eager: EagerCoroutine[int]) -> int:
        return await eager

    asyncio.run(main())


class Pieces:
    """A transport that remembers."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []

    def write(self, data: bytes) -> None:
        self.sent.append(bytes(data))

    def close(self) -> None:
        self.sent.append(b"closed")


def test_an_answer_goes_out_in_one_piece_and_in_order() -> None:
    async def main() -> None:
        pieces = Pieces()
        coalescing = CoalescingTransport(pieces, asyncio.get_running_loop())
        coalescing.write(b"a")
        coalescing.write(b"b")
        assert pieces.sent == []
        await asyncio.sleep(0)
        coalescing.write(b"c" * 100_000)  # too much to hold
        coalescing.write(b"d")
        coalescing.close()
        await asyncio.sleep(0)
        assert pieces.sent == [b"ab", b"c" * 100_000, b"d", b"closed"]

    asyncio.run(main())
