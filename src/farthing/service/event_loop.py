"""The event loop of a serving process, with a bound on the time of a TLS handshake."""

from __future__ import annotations

import asyncio
from typing import Any, Final

try:
    import uvloop

    _Loop: Any = uvloop.Loop
except ImportError:  # on Windows
    _Loop = asyncio.SelectorEventLoop

HANDSHAKE_SECONDS: Final = 5.0
"""Time that a client has for the handshake of TLS; a connection counts as one only after it."""


class ServingLoop(_Loop):  # type: ignore[misc]
    """The loop that uvicorn would choose, except that clients cannot hold a handshake for a minute."""

    async def create_server(self, *arguments: Any, **options: Any) -> Any:
        """Listen, as every event loop does."""
        if options.get("ssl") is not None:
            options.setdefault("ssl_handshake_timeout", HANDSHAKE_SECONDS)
        return await super().create_server(*arguments, **options)
