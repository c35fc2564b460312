"""The short way to a step: past the router, whose many layers take longer than a step does."""

from __future__ import annotations

from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from farthing.service.asking import Asking
from farthing.service.body import BadRequestError
from farthing.service.steps import TooLongError

NEXT: Final = "/v1/models/{name}/next"
_BEFORE, _AFTER = NEXT.split("{name}")
_JSON: Final = (b"content-type", b"application/json")

# What a request can do wrong, or time can; anything else is our fault.
FAILURES: Final = (HTTPException, BadRequestError, TooLongError, TimeoutError, ClientDisconnect)


class Shortcut:
    """A layer that answers steps, with the words of the routes behind it, and hands on everything else.

    Parameters
    ----------
    app : ASGI application
        Answers everything else.
    asking : Asking
    route : object
        What the log and the counts call the way of a step; its ``path`` is `NEXT`.
    """

    def __init__(self, app: ASGIApp, asking: Asking, route: object) -> None:
        self._app = app
        self._asking = asking
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = _model_of_step(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        scope["route"] = self._route
        try:
            body = await self._asking.step(name, scope, receive)
        except FAILURES as error:
            await failure(error)(scope, receive, send)
            return
        length = (b"content-length", b"%d" % len(body))
        await send({"type": "http.response.start", "status": 200, "headers": [_JSON, length]})
        await send({"type": "http.response.body", "body": body})


def failure(error: Exception) -> Response:
    """Return the answer to a request that could not be answered.

    Examples
    --------
    >>> failure(HTTPException(404, "there is no such model")).body
    b'{"detail":"there is no such model"}'
    """
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # nobody is left to read it
    status, headers = 503, None
    detail: Any = "the request took too long; send fewer rows"
    if isinstance(error, BadRequestError):
        status, detail = error.status, [item.plain() for item in error.problems]
    elif isinstance(error, HTTPException):
        status, detail, headers = error.status_code, error.detail, error.headers
    return JSONResponse({"detail": detail}, status_code=status, headers=headers)


def _model_of_step(scope: Scope) -> str | None:
    """Return the model whose next step is asked for; None if the request is another."""
    if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
        return None
    path: str = scope["path"]
    if not (path.startswith(_BEFORE) and path.endswith(_AFTER)):
        return None
    name = path[len(_BEFORE) : -len(_AFTER)]
    return name if name and "/" not in name else None
