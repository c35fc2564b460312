"""What stands before every request: the token, the log line, the counts, a last answer if all else fails."""

from __future__ import annotations

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
# What anyone may read: the page, whether the service is up, and how it is called.
_OPEN: Final = frozenset({"/", "/healthz", "/openapi.json"})


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
                await _answer(watched, 500, "the service failed to answer; its log says where")
        finally:
            self._note(scope, status, time.perf_counter() - begin)

    def _allows(self, scope: Scope) -> bool:
        if self._token is None or scope["path"] in _OPEN or scope["method"] == "OPTIONS":
            return True
        sent = dict(scope["headers"]).get(b"authorization", b"")
        return hmac.compare_digest(sent, self._token)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in ("GET", "POST", "HEAD", "OPTIONS") else "other"
        route = _route(scope)
        self._metrics.request(method, route, status, seconds)
        log(
            logging.INFO,
            "request",
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
