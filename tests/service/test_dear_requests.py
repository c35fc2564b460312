"""Requests that are allowed but dear: none holds up others, and no answer has more than a bounded size."""

from __future__ import annotations

import asyncio
import json
import ssl
import sys
import threading
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.service.test_limits import NEXT, slow_app

from farthing.errors import FileError
from farthing.forests import BudgetTreeClassifier
from farthing.service import (
    Settings,
    create_app,
    event_loop,
    model_store,
    open_inference,
    request_handler,
    request_shape,
    server,
)
from farthing.service.request_limits import Limits
from farthing.service.schemas import NextRequest
from farthing.service.shared_run import SharedRun
from farthing.service.walk_steps import next_step
from farthing.service.work_queue import SWITCH_SECONDS
from farthing.walks import Walk


def client(app: Any) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url="http://here")


@pytest.mark.parametrize("more", [{"panel": 3}, {"reasons": True}, {"rounds": [["cp"]], "known": {"cp": 1}}])
def test_a_look_ahead_does_not_hold_up_others(models: Path, more: dict[str, Any]) -> None:
    """A panel of 100 questions takes a third of a second, where a step takes a tenth of a millisecond."""
    app = slow_app(models, Settings(sources=(str(models),)), pause=0.3)
    served = app.state.store.models["heart"]
    served.step_seconds = 0.0  # plain steps were fast so far
    ended: list[str] = []

    async def send() -> None:
        async with client(app) as http:

            async def one(name: str, method: str, path: str, body: Any) -> None:
                answer = await http.request(method, path, json=body)
                assert answer.status_code == 200
                ended.append(name)

            await asyncio.gather(one("panel", "POST", NEXT, more), one("health", "GET", "/livez", None))

    asyncio.run(send())
    assert ended == ["health", "panel"]
    assert served.step_seconds == 0.0  # which says how long plain steps take


def test_threads_give_way_to_the_event_loop_often(models: Path) -> None:
    before = sys.getswitchinterval()  # that of another service of this process, perhaps
    sys.setswitchinterval(0.005)
    app = create_app(Settings(sources=(str(models),)))

    async def inside() -> float:
        async with app.router.lifespan_context(app):
            return sys.getswitchinterval()

    try:
        assert asyncio.run(inside()) == pytest.approx(SWITCH_SECONDS)
        assert sys.getswitchinterval() == pytest.approx(0.005)
    finally:
        sys.setswitchinterval(before)


def test_empty_rounds_are_not_replayed(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    model = model_store.read_model("heart", models / "heart.farthing").model
    replays, replay = [], Walk.replay

    def counted(walk: Walk, *arguments: Any) -> Any:
        replays.append(1)
        return replay(walk, *arguments)

    monkeypatch.setattr(Walk, "replay", counted)
    known = {"cp": 4.0}
    step = next_step(model, NextRequest(known=known, rounds=[[], ["cp"], *[[]] * 10_000]), Limits())
    assert step == next_step(model, NextRequest(known=known, rounds=[["cp"]]), Limits())
    assert len(replays) == 4


def test_bodies_that_are_held_have_a_bound(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A thousand connections that hold four megabytes each took all memory."""
    monkeypatch.setattr(request_handler, "_BODIES", 2)
    app = create_app(Settings(sources=(str(models),), max_body=100_000, max_seconds=30))
    body = json.dumps({"known": {"cp": "x" * 80_000}}).encode()
    about = {"content-type": "application/json"}

    async def send() -> tuple[list[httpx.Response], httpx.Response, httpx.Response]:
        end = asyncio.Event()

        async def slowly() -> Any:
            yield body[:-1]
            await end.wait()
            yield body[-1:]

        async with client(app) as http:
            held = [asyncio.create_task(http.post(NEXT, content=slowly(), headers=about)) for _ in range(2)]
            await asyncio.sleep(0.1)
            refused = await http.post(NEXT, content=body, headers=about)
            small = await http.post(NEXT, json={})
            end.set()
            answers = list(await asyncio.gather(*held))
            return [*answers, await http.post(NEXT, content=body, headers=about)], refused, small

    answers, refused, small = asyncio.run(send())
    assert (refused.status_code, refused.headers["retry-after"], small.status_code) == (503, "1", 200)
    assert [answer.status_code for answer in answers] == [200] * 3  # an unseen category is missing


def test_the_size_of_an_answer_is_bounded(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """10,000 empty rows in 40 KB, of a model of 1,000 classes, were answered by 95 MB."""
    app = create_app(Settings(sources=(str(models),)))
    monkeypatch.setattr(request_shape, "MAX_ANSWER_VALUES", 12)
    monkeypatch.setattr(open_inference, "MAX_ANSWER_VALUES", 15)

    async def send(path: str, body: Any) -> httpx.Response:
        async with client(app) as http:
            return await http.post(path, json=body)

    def infer(n_rows: int, *outputs: str) -> httpx.Response:
        tensor = {"name": "cp", "shape": [n_rows], "datatype": "FP64", "data": [1.0] * n_rows}
        body = {"inputs": [tensor], "outputs": [{"name": name} for name in outputs]}
        return asyncio.run(send("/v2/models/heart/infer", body))

    path = "/v1/models/heart/predict"
    assert asyncio.run(send(path, {"rows": [{}] * 3})).status_code == 200
    answer = asyncio.run(send(path, {"rows": [{}] * 4}))
    assert (answer.status_code, answer.json()["detail"][0]["msg"]) == (
        422,
        "4 rows; at most 3 go in one request",
    )
    assert infer(1).status_code == infer(3, "predict").status_code == 200
    assert "outputs hold 'acquired'" in infer(2).json()["error"]
    assert "1 to 3" in infer(4, "predict").json()["error"]


def test_what_was_acquired_is_told_for_each_column(models: Path) -> None:
    app = create_app(Settings(sources=(str(models),)))
    model = app.state.store.models["heart"].model
    tensor = {"name": "cp", "shape": [2], "datatype": "FP64", "data": [1.0, 4.0]}

    async def send() -> httpx.Response:
        async with client(app) as http:
            return await http.post("/v2/models/heart/infer", json={"inputs": [tensor]})

    tensors = {one["name"]: one for one in asyncio.run(send()).json()["outputs"]}
    names = model.costs_.features
    assert tensors["acquired"]["shape"] == [2, len(names)]
    assert tensors["acquired"]["data"] == [name == "cp" for name in names] * 2


def test_scrapes_that_come_together_share_a_run() -> None:
    running, go, runs = threading.Event(), threading.Event(), []

    def work() -> int:
        runs.append(1)
        running.set()
        assert go.wait(30)
        return len(runs)

    async def main() -> list[int]:
        shared = SharedRun(work)
        first = asyncio.create_task(shared.run())
        await asyncio.to_thread(running.wait, 30)
        later = [asyncio.create_task(shared.run()) for _ in range(50)]
        later[0].cancel()  # a client that hangs up
        await asyncio.sleep(0)
        go.set()
        return [await first, *await asyncio.gather(*later[1:]), await shared.run()]

    assert asyncio.run(main()) == [1, *[2] * 49, 3]


def test_what_is_no_model_is_not_read_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of 20 GB of zeros held up a start for a minute."""
    with (tmp_path / "large.farthing").open("wb") as stream:
        stream.truncate(2**40)
    digests: list[Any] = []
    monkeypatch.setattr(model_store.hashlib, "file_digest", lambda *given: digests.append(given))
    with pytest.raises(FileError, match="not a Farthing model"):
        model_store.read_model("large", tmp_path / "large.farthing")
    assert digests == []


def test_a_silent_client_does_not_hold_a_handshake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_loop, "HANDSHAKE_SECONDS", 0.3)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)

    async def main() -> bytes:
        loop = asyncio.get_running_loop()
        listening = await loop.create_server(asyncio.Protocol, "127.0.0.1", 0, ssl=context)
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        async with asyncio.timeout(20):
            told = await reader.read()
        writer.close()
        listening.close()
        return told

    with asyncio.Runner(loop_factory=event_loop.ServingLoop) as runner:
        assert runner.run(main()) == b""


def test_as_many_files_may_be_open_as_connections() -> None:
    resource = pytest.importorskip("resource", reason="Windows has no such limit")
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (512, before[1]))
        server.allow_open_files(600)
        assert resource.getrlimit(resource.RLIMIT_NOFILE) == (600, before[1])
        server.allow_open_files(100)
        assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == 600
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_the_description_is_that_of_the_model(tmp_path: Path) -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    BudgetTreeClassifier(costs=[2, 5, 1]).fit(X, X[:, 0] > 0).save(tmp_path / "tree.farthing")
    app = create_app(Settings(sources=(str(tmp_path),)))
    served = app.state.store.models["tree"]

    async def send() -> Any:
        async with client(app) as http:
            return (await http.get("/v1/models/tree")).json()

    about = {"name": "tree", "version": served.version, "fault": None}
    assert asyncio.run(send()) == about | served.description
