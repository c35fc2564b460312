"""What stands before every request: the token, the log line, the counts, a last answer if all else fails."""

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

# Under this key of the scope, those who answer leave what the log line should say besides: never a value.
NOTED: Final = "farthing.noted"
FAILED: Final = "the service failed to answer; its log says where"
# What anyone may read: the page, whether the service is up, and how it is called.
_OPEN: Final = frozenset({"/", "/healthz", "/openapi.json"})


_METHODS: Final = frozenset({"GET", "POST", "HEAD", "OPTIONS"})


class Guard:
    """A layer around an application that checks, counts and logs, and lets no error through.

    Parameters
    ----------
    app : ASGI application
    metrics : Metrics
    token : str, optional
        What clients must send as a bearer token.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics, token: str | None = None) -> None:
        self._app = app
        self._metrics = metrics
        self._notes: list[tuple[float, Scope, int, float]] = []
        self._token = None if token is None else f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._allows(scope):
                await self._app(scope, receive, watched)
            else:
                await _answer(
                    watched, 401, "a valid bearer token is needed", (b"www-authenticate", b"Bearer")
                )
        except Exception as error:
            log(logging.ERROR, "failure", method=scope["method"], route=_route(scope), **trace(error))
            if status == 0:
                await _answer(watched, 500, FAILED)
        finally:
            self._note(scope, status, time.perf_counter() - begin)

    def _allows(self, scope: Scope) -> bool:
        if self._token is None or scope["path"] in _OPEN or scope["method"] == "OPTIONS":
            return True
        sent = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(sent, self._token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        """Remember an answered request, to be counted and logged when nobody waits for it."""
        if not self._notes:
            asyncio.get_running_loop().call_soon(self._write)
        self._notes.append((time.time(), scope, status, seconds))

    def _write(self) -> None:
        """Count and log what was answered since the last time: all at once, in half the time."""
        notes, self._notes = self._notes, []
        for now, scope, status, seconds in notes:
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
                **scope.get(NOTED, {}),
            )


def _route(scope: Scope) -> str:
    """Return the pattern of the path, which has no more forms than the service has routes."""
    return getattr(scope.get("route"), "path", "none")


async def _answer(send: Send, status: int, detail: str, *headers: tuple[bytes, bytes]) -> None:
    body = json.dumps({"detail": detail}).encode()
    sizes: list[Any] = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": status, "headers": [*sizes, *headers]})
    await send({"type": "http.response.body", "body": body})
