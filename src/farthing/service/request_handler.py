"""The calls that ask a model, from the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Final, TypeVar

from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from farthing.service import schemas
from farthing.service.bulk_predictions import predict_rows
from farthing.service.eager_coroutine import EagerCoroutine
from farthing.service.metrics import Metrics
from farthing.service.middleware import LOG_FIELDS
from farthing.service.model_store import ModelStore, ServedModel
from farthing.service.request_body import BadRequestError, Problem, parse
from farthing.service.request_limits import Limits
from farthing.service.schemas import JsonObject
from farthing.service.settings import Settings
from farthing.service.walk_steps import next_step

# A model whose steps take longer than this runs in a thread, so that other requests need not wait.
_MAX_INLINE_SECONDS: Final = 0.02

Made = TypeVar("Made")
Checked = TypeVar("Checked", schemas.NextRequest, schemas.PredictRequest)


class RequestHandler:
    """Handles requests for a step of a walk and for bulk predictions.

    Parameters
    ----------
    store : ModelStore
    metrics : Metrics
    settings : Settings
    """

    def __init__(self, store: ModelStore, metrics: Metrics, settings: Settings) -> None:
        self._shelf = store
        self._metrics = metrics
        self._max_body = settings.max_body
        self._limits = Limits(settings.max_seconds, settings.max_rows, settings.strict_categories)

    async def next_step(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``NextAnswer``."""
        served = self.served_model(name, scope)
        known = await self._read(scope, receive, schemas.NextRequest)
        work = partial(next_step, served.model, known, self._limits)
        step, taken = await self._run(served, work, inline=served.step_seconds < _MAX_INLINE_SECONDS)
        # A moving average: steps grow as walks get longer, and a model may move to threads and back.
        served.step_seconds += 0.1 * (taken - served.step_seconds)
        if step["ask"] is None:
            self._metrics.spend(name, step["spent"])
        else:
            self._metrics.ask(name, step["ask"]["feature"])
        step["version"] = served.version
        return _encoded(step)

    async def predict(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``PredictAnswer``."""
        served = self.served_model(name, scope)
        rows = await self._read(scope, receive, schemas.PredictRequest)
        work = partial(predict_rows, served.model, rows, self._limits)
        # Always in a thread: the number of rows is the client's choice.
        (made, unseen), _ = await self._run(served, work, inline=False)
        for decision in made:
            self._metrics.spend(name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        return _encoded({"decisions": made, "spent": spent, "unseen": unseen, "version": served.version})

    def served_model(self, name: str, scope: Scope) -> ServedModel:
        """Return the model with a name, and leave the name for the log line."""
        served = self._shelf.models.get(name)
        if served is None:
            names = ", ".join(sorted(self._shelf.models)) or "none"
            raise HTTPException(404, f"no model is named {name[:100]!r}; there are: {names}")
        scope[LOG_FIELDS] = {"model": name}
        return served

    async def _read(self, scope: Scope, receive: Receive, kind: type[Checked]) -> Checked:
        # A slow body counts against the time limit too, or a client could hold a connection forever.
        body = EagerCoroutine(_body(scope, receive, self._max_body))
        try:
            data = body.result if body.done else await _within(self._limits.max_seconds, body)
        except TimeoutError:
            raise HTTPException(
                408, "the body took too long to arrive", headers={"connection": "close"}
            ) from None
        try:
            return kind.model_validate(parse(data))
        except ValidationError as error:
            raise BadRequestError(422, _problems(error)) from None

    async def _run(
        self, served: ServedModel, work: Callable[[], Made], *, inline: bool
    ) -> tuple[Made, float]:
        if inline:
            made, taken = _timed(work)
        else:
            made, taken = await _within(self._limits.max_seconds, asyncio.to_thread(_timed, work))
        self._metrics.work(served.name, taken)
        return made, taken


def _encoded(plain: JsonObject) -> bytes:
    return _encode(plain).encode()


# NaN is an error rather than invalid JSON. Answers are trees, so the check for cycles is skipped.
_encode: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode


async def _body(scope: Scope, receive: Receive, max_bytes: int) -> bytes:
    """Read a JSON body, up to the size that is allowed."""
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
    size = headers.get(b"content-length", b"0")
    # A declared size that is too large is refused before anything is read. It may be absent or wrong, so the
    # bytes are counted as well.
    if not size.isdigit() or int(size[:20]) > max_bytes:
        raise _too_large(max_bytes)
    data = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data += message.get("body", b"")
        if len(data) > max_bytes:
            raise _too_large(max_bytes)
        if not message.get("more_body", False):
            return bytes(data)


def _too_large(max_bytes: int) -> HTTPException:
    # The rest of the body is not read, so the connection cannot be used again.
    return HTTPException(413, f"the body has more than {max_bytes} bytes", headers={"connection": "close"})


def _timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """Return the result of the work and its time, without the wait for a thread."""
    start = time.perf_counter()
    return work(), time.perf_counter() - start


async def _within(seconds: float, work: Awaitable[Made]) -> Made:
    async with asyncio.timeout(seconds):
        return await work


def _problems(error: ValidationError) -> list[Problem]:
    # Without the input: an answer must not echo values of features.
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [Problem(tuple(item["loc"]), item["msg"], item["type"]) for item in found]
