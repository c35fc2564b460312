"""Send the head and the body of a response in one write, so that the client wakes up once."""

from __future__ import annotations

import asyncio
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# Largest number of bytes that are held back.
_MAX_HELD: Final = 2**16


class CoalescingProtocol(HttpToolsProtocol):
    """uvicorn's HTTP protocol, which writes head and body separately, on a coalescing transport."""

    def connection_made(self, transport: Any) -> None:
        """Start a connection."""
        super().connection_made(CoalescingTransport(transport, self.loop))  # type: ignore[arg-type]


class CoalescingTransport:
    """A transport that sends all writes of one iteration of the event loop together.

    Parameters
    ----------
    transport : asyncio.Transport
        The transport that sends; all other calls go to it.
    loop : event loop

    Examples
    --------
    >>> class Pieces:
    ...     def write(self, data):
    ...         print(bytes(data))
    >>> async def answer():
    ...     coalescing = CoalescingTransport(Pieces(), asyncio.get_running_loop())
    ...     coalescing.write(b"head ")
    ...     coalescing.write(b"and body")
    ...     await asyncio.sleep(0)
    >>> asyncio.run(answer())
    b'head and body'
    """

    def __init__(self, transport: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._held = bytearray()
        #: Asked several times for each request, so not looked up each time.
        self.is_closing = getattr(transport, "is_closing", None)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        """Send data at the end of this iteration of the event loop."""
        if not self._held:
            # Runs after the current callback, which is when uvicorn has written head and body.
            self._loop.call_soon(self._flush)
        self._held += data
        # Bounds the memory that a large answer is copied into.
        if len(self._held) > _MAX_HELD:
            self._flush()

    def close(self) -> None:
        """Send what is held back, and close."""
        self._flush()
        self._transport.close()

    def _flush(self) -> None:
        if self._held:
            held, self._held = self._held, bytearray()
            self._transport.write(held)
