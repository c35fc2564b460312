"""Wrong, hostile and unauthorised requests: each gets the status and the field it deserves, and no more."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
import socket
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from tests.serving import DIRECT, running

from farthing.forests import BudgetTreeClassifier
from farthing.service import Settings, create_app
from farthing.service.bulk_predictions import predict_rows
from farthing.service.logs import JsonFormatter
from farthing.service.request_body import BadRequestError, parse
from farthing.service.request_limits import Limits, RequestTimeoutError
from farthing.service.schemas import NextRequest, PredictRequest
from farthing.service.walk_steps import next_step

NEXT = "/v1/models/heart/next"
JSON = {"content-type": "application/json"}


def post(http: httpx.Client, body: bytes | str, path: str = NEXT, **headers: str) -> httpx.Response:
    return http.post(path, content=body, headers={**JSON, **headers})


def places(response: httpx.Response) -> list[tuple[list[Any], str]]:
    assert response.status_code == 422, response.text
    return [(problem["loc"][1:], problem["type"]) for problem in response.json()["detail"]]


@pytest.mark.parametrize(
    ("body", "place", "kind"),
    [
        ('{"known": {"cholesterol": 1}}', ["known", "cholesterol"], "unknown"),
        ('{"refused": ["cp", "nothing"]}', ["refused", 1], "unknown"),
        ('{"known": {"chol": "high"}}', ["known", "chol"], "type"),
        ('{"given": {"chol": [1]}}', ["given", "chol"], "type"),
        ('{"known": {"chol": NaN}}', ["known", "chol"], "number"),
        ('{"known": {"chol": -Infinity}}', ["known", "chol"], "number"),
        ('{"known": {"chol": 1e999}}', ["known", "chol"], "number"),
        ('{"known": {"chol": ' + "9" * 5000 + "}}", ["known", "chol"], "number"),
        ('{"known": {"chol": 1, "chol": 2}}', ["known", "chol"], "twice"),
        ('{"known": {"chol": 1}, "given": {"chol": 1}}', ["known", "chol"], "twice"),
        ('{"known": {"chol": 1}, "refused": ["chol"]}', ["refused", 0], "twice"),
        ('{"known": {"chol": "\\ud800"}}', ["known", "chol"], "text"),
        ('{"budget": -1}', ["budget"], "greater_than_equal"),
        ('{"budget": "40"}', ["budget"], "float_type"),
        ('{"budget": NaN}', ["budget"], "number"),
        ('{"seed": 1.5}', ["seed"], "int_type"),
        ('{"seed": -1}', ["seed"], "greater_than_equal"),
        ('{"know": {}}', ["know"], "extra_forbidden"),
        ('{"known": []}', ["known"], "dict_type"),
        ("[]", [], "model_type"),
    ],
)
def test_the_field_at_fault_is_named(http: httpx.Client, body: str, place: list[Any], kind: str) -> None:
    assert (place, kind) in places(post(http, body))


@pytest.mark.parametrize(
    ("body", "place", "kind"),
    [
        ({"rows": []}, ["rows"], "too_short"),
        ({"rows": [{}] * 51}, ["rows"], "too_many"),
        ({"rows": [{"chol": 1}, {"chol": "x"}]}, ["rows", 1, "chol"], "type"),
        ({"rows": [{}, {}], "budget": [1]}, ["budget"], "length"),
        ({"rows": [{}], "seeds": [1, 2]}, ["seeds"], "length"),
        ({}, ["rows"], "missing"),
    ],
)
def test_rows_at_fault_are_named(http: httpx.Client, body: Any, place: list[Any], kind: str) -> None:
    assert (place, kind) in places(http.post("/v1/models/heart/predict", json=body))


def test_a_message_says_what_to_do(http: httpx.Client) -> None:
    said = post(http, '{"known": {"trestbp": 1}}').json()["detail"][0]["msg"]
    assert "did you mean 'trestbps'?" in said
    said = post(http, '{"known": {"chol": "high"}}').json()["detail"][0]["msg"]
    assert "column 'chol': got the string 'high', expected a number" in said


def test_unseen_categories_can_be_refused(models: Path) -> None:
    settings = Settings(sources=(str(models),), strict_categories=True)
    with running(settings) as url, httpx.Client(base_url=url, **DIRECT) as http:
        path = "/v1/models/colour/next"
        assert places(post(http, '{"known": {"x0": "violet"}}', path)) == [(["known", "x0"], "category")]
        assert post(http, '{"known": {"x0": "red"}}', path).status_code == 200
        assert post(http, '{"known": {"x0": null}}', path).status_code == 200


@pytest.mark.parametrize(
    ("body", "headers", "status"),
    [
        (b"", {}, 400),
        (b"{", {}, 400),
        (b"[" * 100_000, {}, 400),
        (b'{"a":' * 20_000 + b"1" + b"}" * 20_000, {}, 400),
        (b"\xff\xfe{\x00}\x00", {}, 400),
        (b'{"known": {"chol": "\xe9"}}', {}, 400),
        (b"{}", {"content-type": "text/plain"}, 415),
        (b"known=1", {"content-type": "application/x-www-form-urlencoded"}, 415),
        (b" " * 200_001, {}, 413),
        (b'{"known": {' + b",".join(b'"f%d": 1' % i for i in range(9_000)) + b"}}", {}, 422),
    ],
)
def test_hostile_bodies(http: httpx.Client, body: bytes, headers: dict[str, str], status: int) -> None:
    response = post(http, body, **headers)
    assert response.status_code == status, response.text
    assert len(response.content) < 20_000
    assert http.get("/healthz").status_code == 200


def test_a_body_without_end_is_cut_off(http: httpx.Client) -> None:
    """A body whose length is not told is read to the limit and no further."""
    sent = 0

    def chunks() -> Iterator[bytes]:
        nonlocal sent
        while sent < 100 * 2**20:
            sent += 2**16
            yield b" " * 2**16

    with contextlib.suppress(httpx.TransportError):  # the server may close while we still write
        assert http.post(NEXT, content=chunks(), headers=JSON).status_code == 413
    assert sent < 20 * 2**20


def test_a_slow_body_runs_out_of_time(models: Path) -> None:
    with running(Settings(sources=(str(models),), max_seconds=0.2)) as url:
        host, port = urlsplit(url).hostname, urlsplit(url).port
        with socket.create_connection((host, port), timeout=10) as line:
            kind = "content-type: application/json"
            line.sendall(f"POST {NEXT} HTTP/1.1\r\nhost: x\r\n{kind}\r\ncontent-length: 9\r\n\r\n{{".encode())
            assert line.recv(100).startswith(b"HTTP/1.1 408")


def test_a_slow_model_runs_out_of_time(models: Path) -> None:
    import farthing  # noqa: PLC0415

    model = farthing.load(models / "heart.farthing")
    late = Limits(max_seconds=-1)
    with pytest.raises(RequestTimeoutError):
        next_step(model, NextRequest(known={"cp": 1}), late)
    with pytest.raises(RequestTimeoutError):
        predict_rows(model, PredictRequest(rows=[{}]), late)


class Slow(BudgetTreeClassifier):
    """A model that takes its time, and quotes a value when it fails."""

    pause = 0.0
    secret: Any = None

    def walk(self, *args: Any, **options: Any) -> Any:
        time.sleep(self.pause)
        if self.secret is not None:
            raise RuntimeError(f"cannot take {self.secret}")
        return super().walk(*args, **options)


def slow_app(models: Path, settings: Settings, pause: float = 0.0, secret: Any = None) -> Any:
    app = create_app(settings)
    served = app.state.store.models["heart"]
    model = Slow()
    model.__dict__.update(served.model.__dict__, pause=pause, secret=secret)
    served.model, served.step_seconds = model, pause
    return app


def in_process(app: Any, *requests: tuple[str, str, Any]) -> list[httpx.Response]:
    async def send() -> list[httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            calls = (http.request(method, path, json=body) for method, path, body in requests)
            return list(await asyncio.gather(*calls))

    return asyncio.run(send())


def test_a_slow_step_does_not_hold_up_others_and_ends(models: Path) -> None:
    app = slow_app(models, Settings(sources=(str(models),), max_seconds=0.05), pause=0.3)
    begin = time.perf_counter()
    slow, quick = in_process(app, ("POST", NEXT, {}), ("GET", "/healthz", None))
    assert (slow.status_code, quick.status_code) == (503, 200)
    assert "took too long" in slow.json()["detail"]
    assert time.perf_counter() - begin < 60


def test_no_trace_reaches_a_client_and_no_value_reaches_a_log(
    models: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = slow_app(models, Settings(sources=(str(models),)), secret="chol 233.25")
    with caplog.at_level(logging.DEBUG, logger="farthing.service"):
        failed, wrong = in_process(
            app,
            ("POST", NEXT, {"known": {"chol": 233.25}}),
            ("POST", NEXT, {"known": {"chol": "very 233.25"}}),
        )
    assert failed.status_code == 500
    assert failed.json() == {"detail": "the service failed to answer; its log says where"}
    assert wrong.status_code == 422
    lines = [JsonFormatter().format(record) for record in caplog.records]
    assert "233.25" not in "".join(lines)
    entries = [json.loads(line) for line in lines]
    failures = [entry for entry in entries if entry["event"] == "failure"]
    assert [entry["error"] for entry in failures] == ["RuntimeError"]
    assert any("steps.py" in place for place in failures[0]["trace"])
    requests = [entry for entry in entries if entry["event"] == "request"]
    assert sorted(entry["status"] for entry in requests) == [422, 500]
    assert {entry["model"] for entry in requests} == {"heart"}
    assert {entry["route"] for entry in requests} == {"/v1/models/{name}/next"}


def test_a_token_is_asked_for(models: Path) -> None:
    settings = Settings(sources=(str(models),), token="right")
    with running(settings) as url, httpx.Client(base_url=url, **DIRECT) as http:
        for sent in ({}, {"authorization": "Bearer wrong"}, {"authorization": "right"}):
            for path in ("/v1/models", "/v1/models/heart", "/metrics", "/nowhere"):
                refused = http.get(path, headers=sent)
                assert refused.status_code == 401
                assert refused.headers["www-authenticate"] == "Bearer"
            assert http.post(NEXT, json={}, headers=sent).status_code == 401
        allowed = {"authorization": "Bearer right"}
        assert http.get("/v1/models", headers=allowed).status_code == 200
        assert http.post(NEXT, json={}, headers=allowed).status_code == 200
        for path in ("/", "/healthz", "/openapi.json"):
            assert http.get(path).status_code == 200


def test_other_origins_are_let_in_only_by_name(models: Path) -> None:
    there = {"origin": "https://a.example", "access-control-request-method": "POST"}
    header = "access-control-allow-origin"
    with running(Settings(sources=(str(models),))) as url:
        assert header not in httpx.options(url + NEXT, headers=there, **DIRECT).headers
        assert header not in httpx.get(url + "/v1/models", headers=there, **DIRECT).headers
    with running(Settings(sources=(str(models),), origins=("https://a.example",), token="t")) as url:
        asked = httpx.options(url + NEXT, headers=there, **DIRECT)
        assert (asked.status_code, asked.headers[header]) == (200, "https://a.example")
        other = httpx.options(url + NEXT, headers=there | {"origin": "https://b.example"}, **DIRECT)
        assert header not in other.headers


def test_counts(models: Path) -> None:
    with (
        running(Settings(sources=(str(models),))) as url,
        httpx.Client(base_url=url, **DIRECT) as http,
    ):
        for known in ({}, {"cp": 4}, {"cp": 4, "ca": 3, "trestbps": 160}):
            assert http.post(NEXT, json={"known": known}).status_code == 200
        assert http.post("/v1/models/heart/predict", json={"rows": [{}, {"cp": 4}]}).status_code == 200
        assert post(http, b"{").status_code == 400
        assert http.get("/no/such/place").status_code == 404
        assert http.post("/v1/models/\u0391/next", json={}).status_code == 404
        text = http.get("/metrics").text
    route = 'method="POST",route="/v1/models/{name}/next"'
    for line in (
        'farthing_features_asked_total{feature="cp",model="heart"} 1.0',
        'farthing_features_asked_total{feature="ca",model="heart"} 1.0',
        'farthing_spend_count{model="heart"} 3.0',
        'farthing_spend_sum{model="heart"} 103.9',
        'farthing_model_seconds_count{model="heart"} 4.0',
        f'farthing_requests_total{{{route},status="200"}} 3.0',
        f'farthing_requests_total{{{route},status="400"}} 1.0',
        f'farthing_requests_total{{{route},status="404"}} 1.0',
        'farthing_requests_total{method="GET",route="none",status="404"} 1.0',
        f"farthing_request_seconds_count{{{route}}} 5.0",
        'farthing_reloads_total{model="heart",result="loaded"} 1.0',
        "farthing_models 4.0",
    ):
        assert line in text


def test_long_texts_are_cut() -> None:
    with pytest.raises(BadRequestError) as caught:
        parse(b'{"' + b"x" * 10_000 + b'": NaN}')
    plain = caught.value.problems[0].to_json()
    assert len(json.dumps(plain)) < 1000


@pytest.mark.parametrize(
    "wrong",
    [
        {"port": 70_000},
        {"workers": 0},
        {"max_rows": 0},
        {"max_seconds": 0},
        {"token": ""},
        {"token": "é"},
        {"log_level": "loud"},
        {"reload_seconds": -1},
    ],
)
def test_settings_that_are_none(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Settings(**wrong)


def test_settings_cross_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FARTHING_SERVICE", raising=False)
    with pytest.raises(ValueError, match="FARTHING_SERVICE is not set"):
        Settings.from_environment()
    settings = Settings(sources=("a", "b=c"), token="t", max_rows=7)
    monkeypatch.setenv("FARTHING_SERVICE", "")
    settings.to_environment()
    assert Settings.from_environment() == settings
    monkeypatch.setenv("FARTHING_SERVICE", '{"speed": 1}')
    with pytest.raises(ValueError, match="max_rows"):
        Settings.from_environment()
