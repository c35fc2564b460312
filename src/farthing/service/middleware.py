"""Middleware around every request: its id, log line, metrics, safe headers, and a 500 if all else fails."""

from __future__ import annotations

import asyncio
import json
import logging
import re
import secrets
import time
from functools import lru_cache
from itertools import count
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farthing.service.logs import log, trace
from farthing.service.metrics import Metrics
from farthing.service.tracing import Tracer, trace_id

# Handlers leave fields for the log line under this key of the scope; never the value of a feature.
LOG_FIELDS: Final = "farthing.log_fields"
# The headers of the request by name; of those that are given twice, the last.
HEADERS: Final = "farthing.headers"
INTERNAL_ERROR: Final = "the service failed to answer; its log says where"
_METHODS: Final = frozenset({"GET", "POST", "HEAD", "OPTIONS"})
_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
# What a browser may do with an answer; the page has a policy of its own.
_POLICY: Final = b"content-security-policy"
_SAFE: Final = (
    (b"x-content-type-options", b"nosniff"),
    (_POLICY, b"default-src 'none'; frame-ancestors 'none'"),
)


class GuardMiddleware:
    """Counts, logs and traces every request, and lets no exception through.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    tracer : Tracer
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, tracer: Tracer) -> None:
        self._app = app
        self._metrics = metrics
        self._tracer = tracer
        self._pending: list[tuple[float, Scope, str, int, float]] = []

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status, method = time.perf_counter(), 0, scope["method"]
        if method == "HEAD":  # as GET; the server leaves out the body
            scope = {**scope, "method": "GET"}
        headers = scope[HEADERS] = dict(scope["headers"])
        name = request_id(headers)
        scope[LOG_FIELDS] = {"request": name.decode(), **trace_id(headers)}

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_safe_headers(message["headers"], name)
            await send(message)

        with self._tracer.request(method, headers) as span:
            try:
                await self._app(scope, receive, send_and_note)
            except Exception as error:
                log(
                    logging.ERROR,
                    "failure",
                    method=method,
                    route=_route(scope),
                    **scope[LOG_FIELDS],
                    **trace(error),
                )
                # Once the head is sent, the status cannot change: the server then breaks the connection.
                if status == 0:
                    await answer(send_and_note, 500, INTERNAL_ERROR)
            finally:
                span.end(_route(scope), status, scope[LOG_FIELDS])
                self._enqueue(scope, method, status, time.perf_counter() - start)

    def _enqueue(self, scope: Scope, method: str, status: int, seconds: float) -> None:
        """Queue a request to be counted and logged after its answer has been sent."""
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._write)
        self._pending.append((time.time(), scope, method, status, seconds))

    def _write(self) -> None:
        """Count and log the queued requests; doing so in one batch takes half the time."""
        pending, self._pending = self._pending, []
        for now, scope, sent_method, status, seconds in pending:
            # Clients may send any method; as a label each would be a new time series.
            method = sent_method if sent_method in _METHODS else "other"
            route = _route(scope)
            self._metrics.request(method, route, status, seconds)
            log(
                logging.INFO,
                "request",
                now,
                method=method,
                route=route,
                status=status,
                ms=round(1000 * seconds, 3),
                **scope[LOG_FIELDS],
            )


def request_id(headers: dict[bytes, bytes]) -> bytes:
    """Return the id that a client gave its request, if it is a plain one, or a new one.

    Examples
    --------
    >>> request_id({b"x-request-id": b"ward-7.12"})
    b'ward-7.12'
    >>> len(request_id({b"x-request-id": b"<script>"}))
    16
    """
    given = headers.get(b"x-request-id")
    return (
        given
        if given is not None and _REQUEST_ID.fullmatch(given)
        else b"%s%08x" % (_process(), next(_count))
    )


@lru_cache(maxsize=1)
def _process() -> bytes:
    """Return random digits that tell this process from all others; made after the fork of a worker."""
    return secrets.token_hex(4).encode()


# Random digits for each request would cost a call of the system.
_count: Final = count()


async def answer(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    """Send a ``Failure``."""
    body = json.dumps({"detail": detail}).encode()
    sizes: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*sizes, *headers]})
    await send({"type": "http.response.body", "body": body})


def _with_safe_headers(headers: Any, name: bytes) -> list[tuple[bytes, bytes]]:
    for key, _ in headers:
        if key == _POLICY:  # the page has both of its own
            return [*headers, (b"x-request-id", name)]
    return [*headers, *_SAFE, (b"x-request-id", name)]


def _route(scope: Scope) -> str:
    """Return the pattern of the path: as a metric label it has few values, unlike the path itself."""
    return getattr(scope.get("route"), "path", "none")
