"""Middleware around every request: the token, the log line, the metrics, and a 500 if all else fails."""

from __future__ import annotations

import asyncio
import hmac
import json
import logging
import time
from typing import Any, Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from farthing.service.logs import log, trace
from farthing.service.metrics import Metrics

# Handlers leave fields for the log line under this key of the scope; never the value of a feature.
LOG_FIELDS: Final = "farthing.log_fields"
INTERNAL_ERROR: Final = "the service failed to answer; its log says where"
# Paths that need no token: the page, the health check, and the description of the API.
_PUBLIC: Final = frozenset({"/", "/healthz", "/openapi.json"})
_METHODS: Final = frozenset({"GET", "POST", "HEAD", "OPTIONS"})


class GuardMiddleware:
    """Checks the token, counts and logs every request, and lets no exception through.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    token : str, optional
        The bearer token that clients must send.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, token: str | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._pending: list[tuple[float, Scope, int, float]] = []
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        start, status = time.perf_counter(), 0

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._allows(scope):
                await self._app(scope, receive, send_and_note)
            else:
                await _answer(
                    send_and_note, 401, "a valid bearer token is needed", (b"www-authenticate", b"Bearer")
                )
        except Exception as error:
            log(logging.ERROR, "failure", method=scope["method"], route=_route(scope), **trace(error))
            # Once the head is sent, the status cannot change: the server then breaks the connection.
            if status == 0:
                await _answer(send_and_note, 500, INTERNAL_ERROR)
        finally:
            self._enqueue(scope, status, time.perf_counter() - start)

    def _allows(self, scope: Scope) -> bool:
        # A browser sends no token with a CORS preflight, which is an OPTIONS request.
        if self._token is None or scope["path"] in _PUBLIC or scope["method"] == "OPTIONS":
            return True
        sent = dict(scope["headers"]).get(b"authorization", b"")
        # Constant time: the time of a plain comparison would reveal the token byte by byte.
        return hmac.compare_digest(sent, self._token)

    def _enqueue(self, scope: Scope, status: int, seconds: float) -> None:
        """Queue a request to be counted and logged after its answer has been sent."""
        if not self._pending:
            asyncio.get_running_loop().call_soon(self._write)
        self._pending.append((time.time(), scope, status, seconds))

    def _write(self) -> None:
        """Count and log the queued requests; doing so in one batch takes half the time."""
        pending, self._pending = self._pending, []
        for now, scope, status, seconds in pending:
            # Clients may send any method; as a label each would be a new time series.
            method = scope["method"] if scope["method"] in _METHODS else "other"
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
                **scope.get(LOG_FIELDS, {}),
            )


def _route(scope: Scope) -> str:
    """Return the pattern of the path: as a metric label it has few values, unlike the path itself."""
    return getattr(scope.get("route"), "path", "none")


async def _answer(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"detail": detail}).encode()
    sizes: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*sizes, *headers]})
    await send({"type": "http.response.body", "body": body})
