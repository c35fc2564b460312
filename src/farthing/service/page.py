"""The page at ``/``: one file with its own style and script, which can connect to this service only."""

from __future__ import annotations

import base64
import hashlib
import re
from functools import cache
from importlib.resources import files

from starlette.responses import Response


@cache
def _page() -> tuple[bytes, dict[str, str]]:
    """Return the page and its headers; by their policy only its own script and style run."""
    data = (files(__package__) / "page.html").read_bytes()
    # Hashes instead of 'unsafe-inline': the page is one file, yet an injected script does not run.
    hashes = {
        tag: f"'sha256-{base64.b64encode(hashlib.sha256(_content(data, tag)).digest()).decode()}'"
        for tag in ("script", "style")
    }
    policy = (
        f"default-src 'none'; script-src {hashes['script']}; style-src {hashes['style']}; "
        "connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    headers = {
        "content-security-policy": policy,
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        # A cached page of another version might not fit the API.
        "cache-control": "no-cache",
    }
    return data, headers


def page() -> Response:
    """Return the response with the page."""
    data, headers = _page()
    return Response(data, media_type="text/html; charset=utf-8", headers=headers)


def _content(data: bytes, tag: str) -> bytes:
    """Return the content of the only element with a tag."""
    found = re.findall(rf"<{tag}>(.*?)</{tag}>".encode(), data, re.DOTALL)
    if len(found) != 1:
        raise ValueError(f"the page must have one <{tag}>; it has {len(found)}")
    return bytes(found[0])
