"""Admission: a bounded queue, health apart from work, a drain; versions that can be pinned."""

from __future__ import annotations

import asyncio
import hashlib
import os
import shutil
import signal
import threading
import time
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.service.test_limits import NEXT, Slow
from tests.serving import DIRECT, command, running

from farthing.errors import FileError
from farthing.forests import BudgetTreeClassifier
from farthing.service import ModelStore, Settings, create_app, model_store
from farthing.service.request_handler import _MAX_INLINE_SECONDS
from farthing.service.work_queue import THREADS

pytest.importorskip("psutil", reason="pip install psutil")


def test_a_full_queue_answers_at_once_and_health_goes_on(models: Path) -> None:
    app = create_app(Settings(sources=(str(models),), max_waiting=2, max_seconds=30))
    served = app.state.store.models["heart"]
    model = Slow()
    model.__dict__.update(served.model.__dict__, pause=1.0, secret=None)
    served.model, served.step_seconds = model, 1.0

    async def send() -> tuple[list[httpx.Response], httpx.Response, httpx.Response]:
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            work = [asyncio.create_task(http.post(NEXT, json={})) for _ in range(20)]
            await asyncio.sleep(0.3)
            ready, live = await http.get("/readyz"), await http.get("/livez")
            return list(await asyncio.gather(*work)), ready, live

    answers, ready, live = asyncio.run(send())
    statuses = [answer.status_code for answer in answers]
    assert statuses.count(200) == THREADS + 2
    assert statuses.count(503) == 20 - THREADS - 2
    refused = next(answer for answer in answers if answer.status_code == 503)
    assert refused.headers["retry-after"] == "1"
    assert (ready.status_code, live.status_code) == (503, 200)


def test_one_interrupted_step_does_not_move_a_model_to_threads(models: Path) -> None:
    app = create_app(Settings(sources=(str(models),)))
    served = app.state.store.models["heart"]
    model = Slow()
    model.__dict__.update(served.model.__dict__, pause=0.2, secret=None)
    served.model, served.step_seconds = model, 0.0

    async def send() -> list[bool]:
        seen = []
        transport = httpx.ASGITransport(app=app)
        async with httpx.AsyncClient(transport=transport, base_url="http://here") as http:
            for _ in range(10):
                assert (await http.post(NEXT, json={})).status_code == 200
                seen.append(served.step_seconds >= _MAX_INLINE_SECONDS)
        return seen

    seen = asyncio.run(send())
    assert not seen[0]
    assert seen[-1]


def test_a_worker_drains_on_sigterm(models: Path, tmp_path: Path) -> None:
    arguments = (str(models / "heart.farthing"), "--drain-seconds", "3")
    with command(*arguments, log=tmp_path / "log") as (url, process):
        assert httpx.get(f"{url}/readyz", **DIRECT).status_code == 200
        process.send_signal(signal.SIGTERM)
        end = time.monotonic() + 20
        while httpx.get(f"{url}/readyz", **DIRECT).status_code == 200:
            assert time.monotonic() < end
            time.sleep(0.02)
        # It says that it is leaving, and still answers.
        assert httpx.post(url + NEXT, json={}, **DIRECT).status_code == 200
        assert httpx.get(f"{url}/livez", **DIRECT).status_code == 200
        process.wait(timeout=60)
    with pytest.raises(httpx.TransportError):
        httpx.get(f"{url}/livez", **DIRECT)


# Versions.


def save(path: Path, label: str) -> bytes:
    BudgetTreeClassifier(costs=[2, 5]).fit(np.eye(2), ["no", label]).save(path)
    return path.read_bytes()


def test_the_version_is_of_the_bytes_that_were_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    old, new = save(tmp_path / "old", "yes"), save(tmp_path / "new", "perhaps")
    path = tmp_path / "tree.farthing"
    path.write_bytes(old)
    load = model_store.load

    def load_then_replace(*arguments: Any) -> Any:
        model = load(*arguments)
        shutil.copy(tmp_path / "new", tmp_path / "next")
        os.replace(tmp_path / "next", path)
        return model

    monkeypatch.setattr(model_store, "load", load_then_replace)
    served = model_store.read_model("tree", path)
    assert served.model.classes_.tolist() == ["no", "yes"]
    assert served.version == hashlib.sha256(old).hexdigest()[:16]
    assert served.version != hashlib.sha256(new).hexdigest()[:16]


def test_a_file_that_changes_while_it_is_read_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "tree.farthing"
    save(path, "yes")
    load = model_store.load

    def load_then_write(*arguments: Any) -> Any:
        model = load(*arguments)
        path.write_bytes(path.read_bytes() + b"x")
        return model

    monkeypatch.setattr(model_store, "load", load_then_write)
    with pytest.raises(FileError, match="changed while it was read"):
        model_store.read_model("tree", path)


def test_a_version_can_be_pinned(http: httpx.Client) -> None:
    first = http.post(NEXT, json={})
    tag = first.headers["etag"]
    assert tag == f'"{first.json()["version"]}"'
    for path, body in ((NEXT, {}), ("/v1/models/heart/predict", {"rows": [{}]})):
        assert http.post(path, json=body, headers={"if-match": tag}).status_code == 200
        assert http.post(path, json=body, headers={"if-match": f'"other", {tag}'}).status_code == 200
        gone = http.post(path, json=body, headers={"if-match": '"0123456789abcdef"'})
        assert gone.status_code == 412
        assert tag.strip('"') in gone.json()["detail"]
    assert http.get("/v1/models/heart", headers={"if-match": '"x"'}).status_code == 412


def test_models_are_loaded_once(models: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from farthing.service import server  # noqa: PLC0415

    loaded: list[str] = []
    read = model_store.read_model
    monkeypatch.setattr(
        model_store, "read_model", lambda name, *rest: loaded.append(name) or read(name, *rest)
    )
    monkeypatch.setattr(server, "run", lambda *_: None)
    monkeypatch.setattr(server.logging.config, "dictConfig", lambda _: None)
    monkeypatch.setenv("FARTHING_SERVICE", "")
    settings = Settings(sources=(str(models / "heart.farthing"),))
    server.serve(settings, server.check(settings))
    assert loaded == ["heart"]


def test_a_pipe_in_a_folder_is_a_fault_not_a_hang(tmp_path: Path) -> None:
    save(tmp_path / "tree.farthing", "yes")
    os.mkfifo(tmp_path / "pipe.farthing")
    (tmp_path / "folder.farthing").mkdir()
    made: list[ModelStore] = []
    thread = threading.Thread(target=lambda: made.append(ModelStore([str(tmp_path)])), daemon=True)
    thread.start()
    thread.join(timeout=60)
    assert sorted(made[0].models) == ["tree"]
    assert set(made[0].faults) == {"pipe", "folder"}


def test_a_request_id_and_a_trace_reach_the_log(models: Path, caplog: pytest.LogCaptureFixture) -> None:
    trace = "0af7651916cd43dd8448eb211c80319c"
    sent = {"x-request-id": "ward-7.12", "traceparent": f"00-{trace}-b7ad6b7169203331-01"}
    with running(Settings(sources=(str(models),))) as url, caplog.at_level("INFO", "farthing.service"):
        told = httpx.post(url + NEXT, json={}, headers=sent, **DIRECT)
        assert told.headers["x-request-id"] == "ward-7.12"
        other = httpx.get(f"{url}/livez", headers={"x-request-id": "<b>" * 99}, **DIRECT)
        assert len(other.headers["x-request-id"]) == 16
    fields = [record.fields for record in caplog.records if record.msg == "request"]
    assert (fields[0]["request"], fields[0]["trace_id"]) == ("ward-7.12", trace)
