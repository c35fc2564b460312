"""How answers go over the wire: head and body in one piece, so that a client wakes up once."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# More than this is not held back.
_MOST: Final = 2**16


class JoinedProtocol(HttpToolsProtocol):
    """HTTP as uvicorn has it, which writes an answer's head and then its body, on a joined transport."""

    def connection_made(self, transport: Any) -> None:
        """Begin a connection."""
        super().connection_made(JoinedTransport(transport, self.loop))  # type: ignore[arg-type]


class JoinedTransport:
    """A transport that sends what is written within one turn of the loop in one piece.

    Parameters
    ----------
    transport : asyncio.Transport
        It does everything else.
    loop : event loop

    Examples
    --------
    >>> class Pieces:
    ...     def write(self, data):
    ...         print(bytes(data))
    >>> async def answer():
    ...     joined = JoinedTransport(Pieces(), asyncio.get_running_loop())
    ...     joined.write(b"head ")
    ...     joined.write(b"and body")
    ...     await asyncio.sleep(0)
    >>> asyncio.run(answer())
    b'head and body'
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this turn of the loop."""
        if not self._held:
            self._loop.call_soon(self._flush)
        self._held += data
        if len(self._held) > _MOST:
            self._flush()

    def close(self) -> None:
        """Send what is held and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, bytearray()
            self._transport.write(held)
