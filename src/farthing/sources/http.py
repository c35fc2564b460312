"""Features from an HTTP service that answers in JSON, through httpx."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

from farthing.errors import SourceError
from farthing.sources.source import Source
from farthing.walks import REFUSED

if TYPE_CHECKING:
    import httpx

_MAX_BYTES: Final = 2**20
_NOT_THERE: Final = (404, 410)
# Parts of a path that clients drop, even if they are quoted.
_ELSEWHERE: Final = ("", ".", "..")
# Worth another attempt: time-outs, too many requests, and faults of the server.
_PASSING: Final = (408, 425, 429)


def http_source(
    url: str,
    features: str | Iterable[str],
    *,
    fields: Mapping[str, str] | None = None,
    method: str = "GET",
    body: Callable[[Any], Any] | None = None,
    headers: Mapping[str, str] | None = None,
    client: httpx.Client | None = None,
    async_client: httpx.AsyncClient | None = None,
    max_bytes: int = _MAX_BYTES,
    **rules: Any,
) -> Source:
    """Return a source that asks an HTTP service.

    The answer is a JSON object. The statuses 404 and 410 mean that the row is not available; 408, 425, 429
    and 5xx are failures that are worth another attempt; any other status but 2xx is a failure.

    Parameters
    ----------
    url : str
        With fields of the row in braces, which are quoted: ``"https://lab/patients/{id}"``; ``{row}`` if the
        row is not a mapping. A part of the path that is empty, ``.`` or ``..`` for a row is a failure.
    features : str or iterable of str
        What the source gives.
    fields : mapping of str to str, optional
        Where a feature is in the answer, as names joined by dots, ``"labs.cholesterol"``; by default its own
        name at the top.
    method : str
        The HTTP method.
    body : callable, optional
        From a row to the JSON of the request.
    headers : mapping of str to str, optional
        Further headers.
    client : httpx.Client, optional
        By default one of the source.
    async_client : httpx.AsyncClient, optional
        What `farthing.aconsult` uses; by default one for each call, as a client belongs to an event loop.
    max_bytes : int
        A longer answer is a failure.
    **rules
        Price, time limit and failure rules; see `Source`.

    Returns
    -------
    Source

    Examples
    --------
    >>> import httpx
    >>> lab = httpx.Client(transport=httpx.MockTransport(
    ...     lambda request: httpx.Response(200, json={"labs": {"cholesterol": 233}})))
    >>> source = http_source(
    ...     "https://lab/patients/{id}", "chol", fields={"chol": "labs.cholesterol"}, client=lab)
    >>> source.read({"id": 63})
    {'chol': 233}
    """
    library = _httpx()
    names = (features,) if isinstance(features, str) else tuple(features)
    paths = {name: (fields or {}).get(name, name).split(".") for name in names}
    timeout = rules.get("timeout", 10.0)
    options = {"timeout": timeout, "headers": dict(headers or {})}
    shared = client or library.Client()

    def request(row: Any) -> dict[str, Any]:
        content = {} if body is None else {"json": body(row)}
        return {"method": method, "url": filled(url, row), **options, **content}

    def fetch(row: Any) -> Any:
        with shared.stream(**request(row)) as response:
            received = bytearray()
            if _has_answer(response.status_code):
                for chunk in response.iter_bytes():
                    received += chunk
                    _check_size(received, max_bytes)
                return _picked(bytes(received), paths)
        return REFUSED

    async def fetch_async(row: Any) -> Any:
        if async_client is None:
            async with library.AsyncClient() as own:
                return await _fetched(own, row)
        return await _fetched(async_client, row)

    async def _fetched(sender: httpx.AsyncClient, row: Any) -> Any:
        async with sender.stream(**request(row)) as response:
            received = bytearray()
            if _has_answer(response.status_code):
                async for chunk in response.aiter_bytes():
                    received += chunk
                    _check_size(received, max_bytes)
                return _picked(bytes(received), paths)
        return REFUSED

    return Source(fetch, names, fetch_async=fetch_async, **rules)


def filled(url: str, row: Any) -> str:
    """Return a URL with the fields of a row, quoted.

    Examples
    --------
    >>> filled("https://lab/{id}/{day}", {"id": "a/b", "day": 7})
    'https://lab/a%2Fb/7'
    """
    given = row if isinstance(row, Mapping) else {"row": row}
    try:
        made = url.format_map({name: quote(str(value), safe="") for name, value in given.items()})
    except KeyError as error:
        raise SourceError(f"the row has no {error.args[0]!r}, which {url!r} needs") from None
    for part, pattern in zip(_path(made), _path(url), strict=True):
        if "{" in pattern and part in _ELSEWHERE:
            raise SourceError(f"{part!r} cannot be a part of the path of {url!r}: it leads elsewhere")
    return made


def _path(url: str) -> list[str]:
    """Return the parts between the slashes of a URL before its query; quoted values have no slash."""
    return url.partition("?")[0].split("/")


def _has_answer(status: int) -> bool:
    """Return whether there is an answer to read, False if the row is not there; raise for failures."""
    if status in _NOT_THERE:
        return False
    if status in _PASSING or status >= 500:
        raise ConnectionError(f"HTTP status {status}")
    if not 200 <= status < 300:
        raise SourceError(f"HTTP status {status}")
    return True


def _check_size(received: bytearray, max_bytes: int) -> None:
    if len(received) > max_bytes:
        raise SourceError(f"the answer has more than {max_bytes} bytes")


def _picked(data: bytes, paths: Mapping[str, list[str]]) -> dict[str, Any]:
    """Return the features that a JSON object has."""
    try:
        document = json.loads(data)
    except ValueError as error:
        raise SourceError(f"the answer is not JSON: {error}") from None
    if not isinstance(document, dict):
        raise SourceError(f"the answer is a JSON {type(document).__name__}; expected an object")
    found: dict[str, Any] = {}
    for name, path in paths.items():
        place: Any = document
        for key in path:
            if not isinstance(place, dict) or key not in place:
                break
            place = place[key]
        else:
            found[name] = place
    return found


def _httpx() -> Any:
    try:
        import httpx  # noqa: PLC0415 - an extra
    except ImportError as error:
        raise ImportError("sources over HTTP need httpx: pip install 'farthing[sources]'") from error
    return httpx
