"""A fast path for steps of a walk, past the router, which takes longer than the step itself."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.responses import JSONResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from farthing.service.request_body import BadRequestError
from farthing.service.request_handler import RequestHandler
from farthing.service.request_limits import RequestTimeoutError
from farthing.service.work_queue import RETRY_SECONDS, BusyError

NEXT_PATH: Final = "/v1/models/{name}/next"
_BEFORE, _AFTER = NEXT_PATH.split("{name}")
_JSON: Final = (b"content-type", b"application/json")

# Errors of the client, timeouts, and too much work; any other error is a fault of the service.
REQUEST_ERRORS: Final = (
    HTTPException,
    BadRequestError,
    BusyError,
    RequestTimeoutError,
    TimeoutError,
    ClientDisconnect,
)


class FastPath:
    """Answers requests for a step exactly as the route does, and passes on all others.

    Parameters
    ----------
    app : ASGI application
        Answers all other requests.
    handler : RequestHandler
    route : object
        The route of a step, for the log and the metrics; its ``path`` is `NEXT_PATH`.
    """

    def __init__(self, app: ASGIApp, handler: RequestHandler, route: object) -> None:
        self._app = app
        self._handler = handler
        self._route = route

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        name = _model_of_step(scope)
        if name is None:
            await self._app(scope, receive, send)
            return
        # Otherwise set by the router; log and metrics group requests by it.
        scope["route"] = self._route
        try:
            body, version = await self._handler.next_step(name, scope, receive)
        except REQUEST_ERRORS as error:
            await error_response(error)(scope, receive, send)
            return
        length = (b"content-length", b"%d" % len(body))
        about = [_JSON, length, (b"etag", b'"%s"' % version.encode())]
        await send({"type": "http.response.start", "status": 200, "headers": about})
        await send({"type": "http.response.body", "body": body})


def error_response(error: Exception) -> Response:
    """Return the response for a request that failed.

    Examples
    --------
    >>> error_response(HTTPException(404, "there is no such model")).body
    b'{"detail":"there is no such model"}'
    """
    if isinstance(error, ClientDisconnect):
        return Response(status_code=400)  # the client is gone and will not read it
    status: int = 503
    headers: Mapping[str, str] | None = None
    detail: Any = "the request took too long; send fewer rows"
    if isinstance(error, BusyError):
        detail = "the service has more work than it may queue; try again"
        headers = {"retry-after": str(RETRY_SECONDS)}
    if isinstance(error, BadRequestError):
        status, detail = error.status, [item.to_json() for item in error.problems]
    elif isinstance(error, HTTPException):
        status, detail, headers = error.status_code, error.detail, error.headers
    return JSONResponse({"detail": detail}, status_code=status, headers=headers)


def _model_of_step(scope: Scope) -> str | None:
    """Return the name of the model if the request is for a step, else None."""
    # Behind a root path, or with an unusual path, the router decides: this must only be a shortcut.
    if scope["type"] != "http" or scope["method"] != "POST" or scope.get("root_path"):
        return None
    path: str = scope["path"]
    if not (path.startswith(_BEFORE) and path.endswith(_AFTER)):
        return None
    name = path[len(_BEFORE) : -len(_AFTER)]
    return name if name and "/" not in name else None
