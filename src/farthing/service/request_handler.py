"""The calls that ask a model, from the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import asyncio
import json
import time
from functools import partial
from typing import Final

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from farthing.service import schemas
from farthing.service.bulk_predictions import predict_rows
from farthing.service.eager_coroutine import EagerCoroutine
from farthing.service.metrics import Metrics
from farthing.service.middleware import LOG_FIELDS
from farthing.service.model_store import ModelStore, ServedModel
from farthing.service.request_limits import Deadline, Limits
from farthing.service.request_shape import read_request
from farthing.service.schemas import JsonObject
from farthing.service.settings import Settings
from farthing.service.walk_steps import next_step
from farthing.service.work_queue import WorkQueue

# What takes longer than this, or is larger, is done in a thread, so that other requests need not wait.
_MAX_INLINE_SECONDS: Final = 0.005
_MAX_INLINE_BYTES: Final = 2**14


class RequestHandler:
    """Handles requests for a step of a walk and for bulk predictions.

    Parameters
    ----------
    store : ModelStore
    metrics : Metrics
    settings : Settings
    queue : WorkQueue
    """

    def __init__(self, store: ModelStore, metrics: Metrics, settings: Settings, queue: WorkQueue) -> None:
        self._shelf = store
        self._metrics = metrics
        self._queue = queue
        self._max_body = settings.max_body
        self._limits = Limits(settings.max_seconds, settings.max_rows, settings.strict_categories)

    async def next_step(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``NextAnswer``."""
        deadline = Deadline(self._limits.max_seconds)
        served = self.served_model(name, scope)
        data = await self._body(scope, receive, deadline)
        work = partial(self._answer_step, served, data, deadline)
        if len(data) <= _MAX_INLINE_BYTES and served.step_seconds < _MAX_INLINE_SECONDS:
            return work()
        return await self._queue.run(work, deadline)

    async def predict(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``PredictAnswer``."""
        deadline = Deadline(self._limits.max_seconds)
        served = self.served_model(name, scope)
        data = await self._body(scope, receive, deadline)
        # Always in a thread: the number of rows is the client's choice.
        return await self._queue.run(partial(self._answer_rows, served, data, deadline), deadline)

    def served_model(self, name: str, scope: Scope) -> ServedModel:
        """Return the model with a name, and leave the name for the log line."""
        served = self._shelf.models.get(name)
        if served is None:
            names = ", ".join(sorted(self._shelf.models)) or "none"
            raise HTTPException(404, f"no model is named {name[:100]!r}; there are: {names}")
        scope[LOG_FIELDS] = {"model": name}
        return served

    def _answer_step(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        """From the body of a step to that of its answer; runs on the event loop or in a thread."""
        request = read_request(data, schemas.NextRequest, served.model, self._limits)
        start = time.perf_counter()
        step = next_step(served.model, request, self._limits, deadline)
        taken = time.perf_counter() - start
        # A moving average: steps grow as walks get longer, and a model may move to threads and back.
        served.step_seconds += 0.1 * (taken - served.step_seconds)
        self._metrics.work(served.name, taken)
        if step["ask"] is None:
            self._metrics.spend(served.name, step["spent"])
        else:
            self._metrics.ask(served.name, step["ask"]["feature"])
        step["version"] = served.version
        return _encoded(step)

    def _answer_rows(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        """From the body of a bulk prediction to that of its answer; runs in a thread."""
        request = read_request(data, schemas.PredictRequest, served.model, self._limits)
        start = time.perf_counter()
        made, unseen = predict_rows(served.model, request, self._limits, deadline)
        self._metrics.work(served.name, time.perf_counter() - start)
        for decision in made:
            self._metrics.spend(served.name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        deadline.check()
        return _encoded({"decisions": made, "spent": spent, "unseen": unseen, "version": served.version})

    async def _body(self, scope: Scope, receive: Receive, deadline: Deadline) -> bytes:
        # A slow body counts against the time limit too, or a client could hold a connection forever.
        body = EagerCoroutine(_body(scope, receive, self._max_body))
        if body.done:
            return body.result
        try:
            async with asyncio.timeout(deadline.left()):
                return await body
        except TimeoutError:
            raise HTTPException(
                408, "the body took too long to arrive", headers={"connection": "close"}
            ) from None


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
