"""Features from an HTTP service: a real server on this machine."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from farthing import REFUSED
from farthing.errors import SourceError
from farthing.sources import Source, http_source

pytest.importorskip("httpx", reason="sources over HTTP need the extra farthing[sources]")

ANSWERS = {
    "/patients/63": (200, {"chol": 233, "labs": {"fasting": {"sugar": None}}}),
    "/patients/a%2Fb": (200, {"chol": 1, "labs": {}}),
    "/patients/list": (200, [1, 2]),
    "/patients/gone": (410, {}),
    "/patients/secret": (403, {}),
    "/patients/busy": (503, {}),
    "/patients/moved": (302, {}),
}


class Handler(BaseHTTPRequestHandler):
    seen: list[Any] = []  # noqa: RUF012 - one list for all requests

    def do_GET(self) -> None:
        self._answer(*ANSWERS.get(self.path, (404, {})))

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self._answer(200, {"chol": body["id"], "token": self.headers["x-token"]})

    def _answer(self, status: int, content: Any) -> None:
        self.seen.append(self.path)
        data = b"x" * 5000 if self.path == "/patients/long" else json.dumps(content).encode()
        status = 200 if self.path in ("/patients/long", "/patients/text") else status
        self.send_response(status)
        self.end_headers()
        self.wfile.write(b"{" if self.path == "/patients/text" else data)

    def log_message(self, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


def read_both(source: Source, row: Any) -> dict[str, Any]:
    """Read a row both ways, which must give the same."""
    read = source.read(row)
    assert asyncio.run(source.read_async(row)) == read
    return read


def test_fields_of_the_answer_become_features(address: str) -> None:
    source = http_source(
        address + "/patients/{id}", ["chol", "sugar"], fields={"sugar": "labs.fasting.sugar"}, price=3
    )
    assert read_both(source, {"id": 63, "more": 1}) == {"chol": 233, "sugar": None}
    assert read_both(source, {"id": "a/b"}) == {"chol": 1, "sugar": REFUSED}
    assert source.price == 3


def test_a_row_that_is_not_there_is_refused_and_no_failure(address: str) -> None:
    source = http_source(address + "/patients/{row}", "chol")
    assert read_both(source, "nobody") == {"chol": REFUSED}
    assert read_both(source, "gone") == {"chol": REFUSED}
    assert source.n_failures == 0


@pytest.mark.parametrize(
    ("row", "attempts", "message"),
    [
        ("busy", 3, "HTTP status 503"),
        ("secret", 1, "HTTP status 403"),
        ("moved", 1, "HTTP status 302"),
        ("list", 1, "a JSON list; expected an object"),
        ("text", 1, "not JSON"),
        ("long", 1, "more than 1000 bytes"),
    ],
)
def test_failures_are_named_and_only_passing_ones_tried_again(
    address: str, row: str, attempts: int, message: str
) -> None:
    source = http_source(address + "/patients/{row}", "chol", retries=2, pause=0, max_bytes=1000)
    Handler.seen.clear()
    with pytest.raises(SourceError, match=message):
        source.read(row)
    assert len(Handler.seen) == attempts
    with pytest.raises(SourceError, match=message):
        asyncio.run(source.read_async(row))


def test_a_body_and_headers_are_sent(address: str) -> None:
    source = http_source(
        address, ["chol", "token"], method="POST", body=lambda row: {"id": row}, headers={"x-token": "t"}
    )
    assert read_both(source, 7) == {"chol": 7, "token": "t"}


def test_a_server_that_is_not_there_is_a_failure(address: str) -> None:
    source = http_source("http://127.0.0.1:9/{row}", "chol", timeout=5)
    with pytest.raises(SourceError, match="the source 'chol' failed"):
        source.read(1)


@pytest.mark.parametrize("row", ["..", ".", ""])
def test_a_row_cannot_lead_to_another_address(address: str, row: str) -> None:
    """Clients drop such parts of a path, so that something else would be asked."""
    Handler.seen.clear()
    source = http_source(address + "/patients/{row}/labs?day={row}", "chol")
    with pytest.raises(SourceError, match="cannot be a part of the path"):
        source.read(row)
    assert Handler.seen == []
    assert http_source(address + "/patients/gone?day={row}", "chol").read(row) == {"chol": REFUSED}


def test_a_row_without_a_field_of_the_url_is_named(address: str) -> None:
    with pytest.raises(SourceError, match="the row has no 'id'"):
        http_source(address + "/{id}", "chol").read({"name": "x"})
