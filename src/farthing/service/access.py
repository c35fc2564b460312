"""Who may call: the names by which the service may be addressed, and the bearer tokens."""

from __future__ import annotations

import hmac
import logging
import os
import time
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from farthing.service.http_protocol import HEALTH_PATHS
from farthing.service.logs import log
from farthing.service.middleware import HEADERS, answer

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
"""Names of this machine, for a service that only it can reach."""

# Paths that need no token: the page, the health checks, and the description of the API.
_HEALTH: Final = frozenset(path.decode() for path in HEALTH_PATHS)
_PUBLIC: Final = _HEALTH | {"/", "/openapi.json"}
_CHECK_SECONDS: Final = 1.0


class Tokens:
    """The bearer tokens of a service; those of a file are read again when it changes.

    Parameters
    ----------
    token : str, optional
        One token.
    file : str, optional
        A file with a token in each line; empty lines and those that begin with # are skipped.

    Raises
    ------
    ValueError
        If the file holds no token, or one that is not ASCII.

    Examples
    --------
    >>> tokens = Tokens("secret")
    >>> tokens.allow(b"bearer secret"), tokens.allow(b"Bearer guess"), Tokens().allow(b"")
    (True, False, True)
    """

    def __init__(self, token: str | None = None, file: str | None = None) -> None:
        self._own = () if token is None else (token.encode(),)
        self._file = None if file is None else Path(file)
        self._stamp: tuple[int, int, int] | None = None
        self._checked = 0.0
        self._of_file: tuple[bytes, ...] = ()
        if self._file is not None:
            self._stamp = _stamp(self._file)
            self._of_file = _read_tokens(self._file)

    @property
    def needed(self) -> bool:
        """Whether a client must send a token."""
        return bool(self._own) or self._file is not None

    def allow(self, authorization: bytes) -> bool:
        """Return whether a header ``authorization`` holds one of the tokens, if there are any."""
        if not self.needed:
            return True
        self._refresh()
        scheme, _, sent = authorization.strip().partition(b" ")
        # Every token is compared, in constant time: the time of a plain comparison would reveal a token byte
        # by byte.
        equal = [hmac.compare_digest(sent.strip(), token) for token in (*self._own, *self._of_file)]
        return scheme.lower() == b"bearer" and any(equal)

    def _refresh(self) -> None:
        now = time.monotonic()
        if self._file is None or now - self._checked < _CHECK_SECONDS:
            return
        self._checked = now
        stamp = _stamp(self._file)
        if stamp == self._stamp:
            return
        self._stamp = stamp
        try:
            self._of_file = _read_tokens(self._file)
            log(logging.INFO, "tokens read", tokens=len(self._of_file))
        except (OSError, ValueError) as error:
            # The old ones stay: a file that is being written must not lock everybody out, nor let anybody in.
            log(logging.WARNING, "faulty token file", error=type(error).__name__)


class AccessMiddleware:
    """Refuses requests under another name, or without a token.

    Parameters
    ----------
    app : ASGI application
    tokens : Tokens
    hosts : sequence of str
        Names that the header ``host`` may have; none means any. A page of another site whose name is made to
        point to this machine (DNS rebinding) cannot call a service that knows its own names.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens, hosts: Sequence[str] = ()) -> None:
        self._app = app
        self._tokens = tokens
        self._hosts = frozenset(host.strip("[]").lower().encode() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = scope[HEADERS]
        if not self._knows(scope, headers):
            await answer(send, 421, "the service does not go by this name; see --allowed-host")
        elif not self._allows(scope, headers):
            needed = (b"www-authenticate", b"Bearer")
            await answer(send, 401, "a valid bearer token is needed", needed)
        else:
            await self._app(scope, receive, send)

    def _knows(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        # Probes of an orchestrator address a worker by any name.
        if not self._hosts or scope["path"] in _HEALTH:
            return True
        return host_name(headers.get(b"host", b"")) in self._hosts

    def _allows(self, scope: Scope, headers: dict[bytes, bytes]) -> bool:
        # A browser sends no token with a CORS preflight, which is an OPTIONS request.
        if scope["path"] in _PUBLIC or scope["method"] == "OPTIONS":
            return True
        return self._tokens.allow(headers.get(b"authorization", b""))


@lru_cache(maxsize=64)
def host_name(header: bytes) -> bytes:
    """Return the name in a header ``host``, without its port.

    Examples
    --------
    >>> host_name(b"Localhost:8000"), host_name(b"[::1]:8000"), host_name(b"ward.example")
    (b'localhost', b'::1', b'ward.example')
    """
    name = header.strip().lower()
    if name.startswith(b"["):
        return name[1:].partition(b"]")[0]
    return name.partition(b":")[0]


def is_loopback(host: str) -> bool:
    """Return whether a service bound to a host can be reached from this machine only.

    Examples
    --------
    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    return host in LOOPBACK or host.startswith("127.")


def _stamp(path: Path) -> tuple[int, int, int] | None:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size, found.st_ino


def _read_tokens(path: Path) -> tuple[bytes, ...]:
    lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    tokens = [line for line in lines if line and not line.startswith("#")]
    if not tokens or not all(token.isascii() for token in tokens):
        raise ValueError(f"{path.name} must hold tokens of ASCII text, one in each line")
    return tuple(token.encode() for token in tokens)
