"""Bodies made to cost more than they weigh: they are refused before anything is built from them."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.serving import DIRECT, command

from farthing import spelling
from farthing.errors import TableError
from farthing.forests import BudgetTreeClassifier
from farthing.service.request_body import MAX_PROBLEMS, BadRequestError
from farthing.service.request_limits import Limits
from farthing.service.request_shape import read_request
from farthing.service.schemas import NextRequest, PredictRequest
from farthing.table import Schema

psutil = pytest.importorskip("psutil", reason="pip install psutil")

MEGABYTES = 2**20
ONES = b"[" + b"1," * (2 * MEGABYTES - 100) + b"1]"
HOSTILE = {
    "refused": b'{"refused": ' + ONES + b"}",
    "rows": b'{"rows": ' + ONES + b"}",
    "budgets": b'{"rows": [{}], "budget": ' + ONES + b"}",
    "fields": b"{" + b",".join(b'"%x":1' % i for i in range(350_000)) + b"}",
    "names": b'{"known": {' + b",".join(b'"x%x":1' % i for i in range(300_000)) + b"}}",
}


@pytest.fixture(scope="module")
def service(models: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Any]]:
    log = tmp_path_factory.mktemp("service") / "log"
    with command(str(models / "heart.farthing"), log=log) as (url, process):
        yield url, psutil.Process(process.pid)


@pytest.mark.parametrize(
    ("call", "name"),
    [("next", "refused"), ("predict", "rows"), ("predict", "budgets"), ("next", "fields"), ("next", "names")],
)
def test_a_body_of_four_megabytes_costs_no_memory(service: tuple[str, Any], call: str, name: str) -> None:
    url, process = service
    body = HOSTILE[name]
    assert len(body) <= 4 * MEGABYTES
    before, over = process.memory_info().rss, threading.Event()
    peak = [before]

    def watch() -> None:
        while not over.is_set():
            peak[0] = max(peak[0], process.memory_info().rss)
            time.sleep(0.01)

    watcher = threading.Thread(target=watch)
    watcher.start()
    spent = sum(process.cpu_times()[:2])
    answer = httpx.post(
        f"{url}/v1/models/heart/{call}",
        content=body,
        headers={"content-type": "application/json"},
        **DIRECT,
        timeout=300,
    )
    spent = sum(process.cpu_times()[:2]) - spent
    over.set()
    watcher.join()
    assert answer.status_code == 422
    assert len(answer.content) < 20_000
    # The body itself is copied a few times; two million errors took 1.9 GB and 18 s of the processor.
    assert peak[0] < before + 150 * MEGABYTES
    assert spent < 5


def small_model(n_features: int) -> Any:
    return BudgetTreeClassifier(max_depth=1).fit(np.eye(2, n_features), [0, 1])


def test_a_list_fails_at_its_first_item() -> None:
    model = small_model(20_000)
    limits = Limits(max_rows=10_000)
    for kind, body in (
        (NextRequest, {"refused": [1] * 20_000}),
        (PredictRequest, {"rows": [1] * 10_000}),
        (PredictRequest, {"rows": [{}], "seeds": ["a"] * 10_000}),
        (NextRequest, {str(i): 1 for i in range(60_000)}),
    ):
        with pytest.raises(BadRequestError) as caught:
            read_request(json.dumps(body).encode(), kind, model, limits)
        assert 1 <= len(caught.value.problems) <= MAX_PROBLEMS
        assert caught.value.status == 422


def test_more_values_than_the_model_can_use_are_not_parsed(monkeypatch: pytest.MonkeyPatch) -> None:
    model = small_model(3)
    monkeypatch.setattr("farthing.store.strict_json._DECODER", None)  # a call would fail
    with pytest.raises(BadRequestError) as caught:
        read_request(HOSTILE["refused"], NextRequest, model, Limits())
    assert [problem.kind for problem in caught.value.problems] == ["too_many"]


def test_commas_in_text_are_not_values() -> None:
    model = small_model(3)
    body = json.dumps({"known": {"x0": "a,[{" * 5000 + '\\"'}}).encode()
    assert len(read_request(body, NextRequest, model, Limits()).known["x0"]) == 20_002


def test_suggestions_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    compared: list[int] = []

    def counting(name: str, names: list[str], n: int) -> list[str]:
        compared.append(len(names))
        return []

    monkeypatch.setattr(spelling, "get_close_matches", counting)
    model = small_model(20_000)
    schema: Schema = model.schema_
    with pytest.raises(TableError, match="unknown feature"):
        schema.index("x1999x")
    with pytest.raises(TableError, match="unknown feature"):
        schema.index("x" * 5_000_000)
    assert all(count <= 500 for count in compared)
    assert len(compared) == 1


def test_only_the_first_unknown_features_get_a_suggestion(service: tuple[str, Any]) -> None:
    url, _ = service
    known = {f"trestbp{i}": 1 for i in range(30)}
    answer = httpx.post(f"{url}/v1/models/heart/next", json={"known": known}, **DIRECT)
    messages = [problem["msg"] for problem in answer.json()["detail"]]
    assert len(messages) == MAX_PROBLEMS
    assert ["did you mean" in message for message in messages] == [True] * 3 + [False] * 17
