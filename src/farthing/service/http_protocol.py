"""uvicorn's HTTP protocol with the bounds that it lacks: size and time of a head, number of connections."""

from __future__ import annotations

import asyncio
import json
import math
from typing import Any, ClassVar, Final

from starlette.types import Receive, Scope, Send

from farthing.service.coalesced_writes import CoalescingProtocol

HEALTH_PATHS: Final = frozenset({b"/healthz", b"/livez", b"/readyz", b"/v2/health/live", b"/v2/health/ready"})
"""Paths that are answered on the connections kept free for them."""

MAX_HEAD: Final = 2**16
"""Bytes that a request may have besides its body: the head, and the frame of a body in chunks."""

HEAD_SECONDS: Final = 5.0
"""Time from the first byte of a head to its end; also from the start of a connection to its first byte."""

_CLOSE_SECONDS: Final = 5.0
_SWEEP_SECONDS: Final = 0.25
_SPARE: Final = 16
_REASONS: Final = {408: "Request Timeout", 431: "Request Header Fields Too Large"}
_DETAILS: Final = {
    408: "the head of the request took too long to arrive",
    431: f"the head of the request has more than {MAX_HEAD} bytes",
}


class BoundedProtocol(CoalescingProtocol):
    """One connection, whose heads are bounded in size and time.

    Above ``limit_concurrency`` of the server, a new connection takes the place of the oldest one that waits
    for a request. If all of them have one, a few more are accepted for health checks alone.
    """

    # The time by which each must have sent a head. In order of age; shared by all connections of the process.
    _waiting: ClassVar[dict[BoundedProtocol, float]] = {}
    # The event loop whose timer looks through them a few times a second; a timer for each would cost more.
    _swept: ClassVar[asyncio.AbstractEventLoop | None] = None

    _in_head = True  # from the end of a message to the end of the next head
    _begun = False  # whether a byte of that head has arrived
    _chunk = 0  # bytes that arrived last
    _beside = 0  # bytes of the message that are not its body
    _in_body = 0
    _health_only = False

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        # uvicorn would refuse health checks as well, and count requests in the place of connections.
        self._max_connections = self.limit_concurrency or math.inf
        self.limit_concurrency = None

    def connection_made(self, transport: Any) -> None:
        """Start a connection, if there is room."""
        super().connection_made(transport)
        excess = len(self.connections) - self._max_connections
        if excess > 0 and (oldest := next(iter(self._waiting), None)) is not None:
            oldest.evict()
        elif excess > _SPARE:
            self.transport.abort()
            return
        self._health_only = excess > 0 and oldest is None
        self._await_head(HEAD_SECONDS)

    def evict(self) -> None:
        """Close this connection, which waits for a request, in favour of another one."""
        self._stop_waiting()
        self.connections.discard(self)
        self.transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End the connection."""
        self._stop_waiting()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take bytes, and count those that are not part of a body."""
        if self.transport.is_closing():
            return
        if self._in_head and not self._begun:
            self._begun = True
            self._await_head(HEAD_SECONDS)
        self._chunk = len(data)
        self._beside += self._chunk
        super().data_received(data)
        # A body in chunks may have as much framing as content, but no endless trailers.
        if self._beside > MAX_HEAD + self._in_body and not self.transport.is_closing():
            self._refuse(431)

    def on_headers_complete(self) -> None:
        """Start to answer a request."""
        self._in_head = False
        self._stop_waiting()
        app = self.app
        # The head is within the bytes since the last message, or within those that arrived last.
        if max(self._beside, self._chunk) > MAX_HEAD and self._head_size() > MAX_HEAD:
            self.app = _head_too_large
        elif self._health_only and self.url.partition(b"?")[0] not in HEALTH_PATHS:
            self.app = _no_room
        super().on_headers_complete()
        self.app = app

    def _head_size(self) -> int:
        return len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)

    def on_body(self, body: bytes) -> None:
        """Take a part of a body."""
        self._beside -= len(body)
        self._in_body += len(body)
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Take note of the end of a request."""
        super().on_message_complete()
        self._in_head, self._begun, self._beside, self._in_body = True, False, 0, 0
        if self.cycle.response_complete:
            self._await_head(self.timeout_keep_alive)

    def on_response_complete(self) -> None:
        """Wait for the next request, or for the rest of one that was answered early."""
        if self.pipeline or self.transport.is_closing():
            super().on_response_complete()
            # uvicorn's own timer ends at the next byte, whatever follows; this one ends with a head.
            self._unset_keepalive_if_required()
        else:  # as uvicorn does it, without a timer that would be cancelled at once
            self.server_state.total_requests += 1
            self.flow.resume_reading()
        if not self.transport.is_closing() and not self.pipeline:
            self._await_head(self.timeout_keep_alive if self._in_head else HEAD_SECONDS)

    def _await_head(self, seconds: float) -> None:
        self._waiting.pop(self, None)  # to become the youngest
        self._waiting[self] = self.loop.time() + seconds
        if BoundedProtocol._swept is not self.loop:
            BoundedProtocol._swept = self.loop
            self.loop.call_later(_SWEEP_SECONDS, self.end_late, self.loop)

    def _stop_waiting(self) -> None:
        self._waiting.pop(self, None)

    @classmethod
    def end_late(cls, loop: asyncio.AbstractEventLoop) -> None:
        """End the connections that have waited too long for a head."""
        now = loop.time()
        for late in [one for one, until in cls._waiting.items() if until <= now]:
            late.end_wait()
        if cls._waiting:
            loop.call_later(_SWEEP_SECONDS, cls.end_late, loop)
        else:
            BoundedProtocol._swept = None

    def end_wait(self) -> None:
        """End this connection, whose head is late."""
        if self._begun and self._in_head:
            self._refuse(408)
        else:
            self._close()

    def _refuse(self, status: int) -> None:
        """Answer instead of the application, and close."""
        # Within an answer, or before an earlier one has been sent, another would be taken for a part of it.
        if self.cycle is None or self.cycle.response_complete:
            body = json.dumps({"detail": _DETAILS[status]})
            head = (
                f"HTTP/1.1 {status} {_REASONS[status]}",
                "content-type: application/json",
                f"content-length: {len(body)}",
                "x-content-type-options: nosniff",
                "connection: close",
            )
            self.transport.write("\r\n".join((*head, "", body)).encode())
        self._close()

    def _close(self) -> None:
        self._stop_waiting()
        self.transport.close()
        # A client that does not read would keep a closing connection open for good.
        self.loop.call_later(_CLOSE_SECONDS, self.transport.abort)


async def _head_too_large(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    await _answer(send, 431, _DETAILS[431])


async def _no_room(scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG001
    await _answer(send, 503, "the service has too many connections; try again", (b"retry-after", b"1"))


async def _answer(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"detail": detail}).encode()
    about = [
        (b"content-type", b"application/json"),
        (b"content-length", b"%d" % len(body)),
        (b"x-content-type-options", b"nosniff"),
        (b"connection", b"close"),
        *headers,
    ]
    await send({"type": "http.response.start", "status": status, "headers": about})
    await send({"type": "http.response.body", "body": body})
