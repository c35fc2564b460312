"""The client: walks as local ones, retries where calls broke, errors that say what is wrong."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest
from tests.service.conftest import HEART
from tests.serving import running

import farthing
from farthing.errors import ServiceError, TableError, WalkError
from farthing.service import AsyncClient, Client, Settings

STEP: dict[str, Any] = {
    "ask": {"feature": "cp", "price": 1.0, "group": None},
    "decision": {"prediction": 0, "classes": None, "probabilities": None, "spent": 0.0, "acquired": []},
    "spent": 0.0,
    "left": None,
    "unused": [],
    "unseen": [],
    "version": "1",
}


def scripted(*answers: Any) -> tuple[Callable[[httpx.Request], httpx.Response], list[httpx.Request]]:
    """Return a handler that gives one answer after another, or raises it, and the requests it got."""
    left, got = list(answers), []

    def handle(request: httpx.Request) -> httpx.Response:
        got.append(request)
        answer = left.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return httpx.Response(200, json=answer)

    return handle, got


def fake(*answers: Any, **options: Any) -> tuple[Client, list[httpx.Request]]:
    handle, got = scripted(*answers)
    return Client("http://there", "heart", transport=httpx.MockTransport(handle), **options), got


@pytest.fixture
def url(http: httpx.Client) -> str:
    return str(http.base_url)


def test_a_walk_has_the_interface_of_a_local_one(url: str, models: Path) -> None:
    local = farthing.load(models / "heart.farthing").walk(budget=105)
    with Client(url, "heart") as client:
        walk = client.walk(budget=105)
        assert repr(walk) == repr(local).replace("Walk", "RemoteWalk", 1)
        for value in (np.float64(4), farthing.REFUSED, float("nan")):
            walk.tell(value)
            local.tell(value)
            assert (walk.ask, walk.spent, walk.left) == (local.ask, local.spent, local.left)
            assert walk.decision == local.decision
        assert list(walk.answers) == list(local.answers)
        again = client.walk(budget=105)
        again.replay(local.answers)
        assert (again.ask, again.decision) == (walk.ask, walk.decision)
        assert client.walk(budget=math.inf).left == math.inf


def test_a_bad_answer_changes_nothing(url: str) -> None:
    with Client(url, "heart") as client:
        walk = client.walk(known={"cp": 4})
        asked = walk.ask
        assert asked is not None
        for value in ([1], math.inf):
            with pytest.raises(TableError, match=f"column '{asked.feature}'"):
                walk.tell(value)
        assert (walk.ask, walk.answers) == (asked, {})
        with pytest.raises(TableError, match=r"given\.nothing: got the unknown feature 'nothing'"):
            client.walk(known={"nothing": 1})
        with pytest.raises(ValueError, match="budget must be zero or more"):
            client.walk(budget=-1)
        with pytest.raises(ValueError, match="seed must be an integer"):
            client.walk(seed="one")  # type: ignore[arg-type]
        while walk.ask is not None:
            walk.refuse()
        with pytest.raises(WalkError, match="the walk has ended"):
            walk.tell(1)


def test_the_only_model_needs_no_name(models: Path, url: str) -> None:
    with running(Settings(sources=(str(models / "heart.farthing"),))) as single, Client(single) as client:
        assert client.about()["name"] == "heart"
        assert [model["name"] for model in client.models()] == ["heart"]
        assert client.predict([{"cp": 4}], budget=1)[0].spent == 1.0
    with Client(url) as client, pytest.raises(ServiceError, match="name a model"):
        client.walk()
    with Client(url, "liver") as client, pytest.raises(ServiceError, match="404: no model is named 'liver'"):
        client.walk()


def test_tokens_are_sent(models: Path) -> None:
    with running(Settings(sources=(str(models / "heart.farthing"),), token="secret")) as url:
        with Client(url, "heart", token="secret") as client:
            assert client.walk().ask is not None
        with Client(url, "heart") as client, pytest.raises(ServiceError, match="401"):
            client.walk()


def test_a_broken_connection_is_tried_again() -> None:
    broken = [httpx.ConnectError("refused"), httpx.RemoteProtocolError("cut"), httpx.ReadError("reset")]
    client, got = fake(*broken[:2], STEP, broken[2], STEP | {"ask": None})
    walk = client.walk()
    walk.tell(4)
    assert walk.ask is None
    assert len(got) == 5
    assert got[0].content == got[1].content == got[2].content
    client, got = fake(*broken, retries=2)
    with pytest.raises(ServiceError, match="cannot be reached: ReadError"):
        client.walk()
    client, got = fake(httpx.ReadTimeout("late"), STEP)
    with pytest.raises(ServiceError, match="ReadTimeout"):
        client.walk()
    assert len(got) == 1


def test_a_model_that_changes_under_a_walk_ends_it() -> None:
    client, _ = fake(STEP, STEP | {"version": "2"})
    walk = client.walk()
    with pytest.raises(ServiceError, match="the model was replaced"):
        walk.tell(4)
    assert walk.answers == {}


def test_the_async_client_does_the_same(url: str, models: Path) -> None:
    model = farthing.load(models / "forest.farthing")

    async def go() -> None:
        async with AsyncClient(url, "forest") as client:
            walk = await client.walk(budget=200, seed=1)
            local = model.walk(budget=200, seed=1)
            await walk.refuse()
            local.refuse()
            await walk.tell(3)
            local.tell(3)
            assert (walk.ask, walk.left, walk.decision) == (local.ask, local.left, local.decision)
            other = await client.walk(budget=200)
            await other.replay(walk.answers)
            assert other.ask == walk.ask
            assert (await client.about())["name"] == "forest"
            assert len(await client.models()) == 4
            rows = [{"cp": 4}, {}]
            local_rows = [farthing.consult(model, row, lacking="refuse") for row in rows]
            assert await client.predict(rows) == local_rows
        handle, got = scripted(httpx.ConnectError("refused"), STEP)
        async with AsyncClient("http://there", "heart", transport=httpx.MockTransport(handle)) as client:
            assert (await client.walk()).ask is not None
            assert len(got) == 2
        async with AsyncClient(url) as client:
            with pytest.raises(ServiceError, match="name a model"):
                await client.walk()

    asyncio.run(go())


def test_a_remote_walk_asks_in_panels_as_a_local_one(http: httpx.Client, models: Path) -> None:
    row = HEART.X.iloc[1].to_dict()
    model = farthing.load(models / "forest.farthing")
    with Client(str(http.base_url), model="forest") as client:
        walk = client.walk()
        while panel := walk.panel(3, within=0.5):
            walk.tell_panel({ask.feature: row[ask.feature] for ask in panel})
        local = farthing.consult(model, row, panel=3, within=0.5)
        assert walk.decision == local
        assert walk.n_rounds == len(walk.history) < len(local.acquired)
        assert farthing.consult(client, row, panel=3, within=0.5) == local
        with pytest.raises(TableError, match="chol") as caught:
            client.walk().tell_panel({"chol": "a lot"})
        assert caught.value.column == "chol"
