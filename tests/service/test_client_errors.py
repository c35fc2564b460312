"""Whatever answers a client, it raises the documented error."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from farthing.errors import ServiceError, TableError
from farthing.service import Client


def client(answer: Any, retries: int = 0) -> Client:
    return Client("http://there", "m", retries=retries, transport=httpx.MockTransport(answer))


@pytest.mark.parametrize(
    "response",
    [
        httpx.Response(200, text="<html>a proxy</html>"),
        httpx.Response(200, json=[1]),
        httpx.Response(200, json=7),
        httpx.Response(500, json=[1]),
        httpx.Response(404, text="nothing"),
        httpx.Response(302, headers={"location": "http://there/elsewhere"}),
        httpx.Response(200, content=b"x", headers={"content-encoding": "gzip"}),
        httpx.Response(200, json={"models": 3}),
    ],
)
def test_answers_of_others(response: httpx.Response) -> None:
    def answer(_: httpx.Request) -> httpx.Response:
        return response

    with pytest.raises(ServiceError):
        client(answer).models()


def test_problems_of_any_form_are_told() -> None:
    with pytest.raises(TableError, match="odd"):
        client(lambda _: httpx.Response(422, json={"detail": ["odd"]})).about()


def test_an_invalid_address() -> None:
    with pytest.raises(ServiceError), Client("http://[::1", "m", retries=0) as wrong:
        wrong.models()


def test_a_busy_service_is_asked_again() -> None:
    calls: list[str] = []

    def answer(request: httpx.Request) -> httpx.Response:
        calls.append(request.url.path)
        if len(calls) < 3:
            return httpx.Response(503, json={"detail": "too much work"}, headers={"retry-after": "0"})
        return httpx.Response(200, json={"models": []})

    assert client(answer, retries=4).models() == []
    assert len(calls) == 3
    with pytest.raises(ServiceError, match="503"):
        client(lambda _: httpx.Response(503, json={}, headers={"retry-after": "0"}), retries=1).models()
