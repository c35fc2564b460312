"""The calls that ask a model, from the bytes of a request to the bytes of its answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from functools import partial
from typing import Final, NamedTuple

from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope

from farthing.service import schemas
from farthing.service.body_room import BodyRoom, HeldBody
from farthing.service.bulk_predictions import predict_rows
from farthing.service.eager_coroutine import EagerCoroutine
from farthing.service.fast_json import encoded
from farthing.service.metrics import Metrics
from farthing.service.middleware import HEADERS, LOG_FIELDS
from farthing.service.model_store import ModelStore, ServedModel
from farthing.service.open_inference import infer
from farthing.service.raw_predictions import predict_raw
from farthing.service.refusal_pace import RefusalPace
from farthing.service.request_body import BadRequestError, check_beginning
from farthing.service.request_limits import Deadline, Limits
from farthing.service.request_shape import read_request, size_limits
from farthing.service.settings import Settings
from farthing.service.tracing import Tracer
from farthing.service.walk_steps import next_step
from farthing.service.work_queue import WorkQueue

# What takes longer than this, or is larger, is done in a thread, so that other requests need not wait.
_MAX_INLINE_SECONDS: Final = 0.005
_MAX_INLINE_BYTES: Final = 2**14
# What one step counts for at most. A single one that the system interrupted does not move a model to threads;
# several slow ones in a row do.
_MAX_COUNTED_SECONDS: Final = 2 * _MAX_INLINE_SECONDS

# Bodies of the largest size that a worker holds at a time.
_BODIES: Final = 32

RequestKind = (
    type[schemas.NextRequest]
    | type[schemas.PredictRequest]
    | type[schemas.InferRequest]
    | type[schemas.RawRequest]
)


class Answered(NamedTuple):
    """The body of an answer, and the version of the model that gave it."""

    body: bytes
    version: str


class RequestHandler:
    """Handles requests for a step of a walk and for bulk predictions.

    Parameters
    ----------
    store : ModelStore
    metrics : Metrics
    settings : Settings
    queue : WorkQueue
    tracer : Tracer
    """

    def __init__(
        self, store: ModelStore, metrics: Metrics, settings: Settings, queue: WorkQueue, tracer: Tracer
    ) -> None:
        self._shelf = store
        self._tracer = tracer
        self._metrics = metrics
        self._queue = queue
        self._pace = RefusalPace()
        self._max_body = settings.max_body
        self._room = BodyRoom(_BODIES * settings.max_body)
        self._limits = Limits(settings.max_seconds, settings.max_rows, settings.strict_categories)

    async def next_step(self, name: str, scope: Scope, receive: Receive) -> Answered:
        """Answer with a ``NextAnswer``."""
        deadline = Deadline(self._limits.max_seconds)
        served = self.served_model(name, scope)
        with self._room.body() as body:
            data = await self._body(schemas.NextRequest, served, scope, receive, deadline, held=body)
            if len(data) > _MAX_INLINE_BYTES:
                large = partial(self._read_and_answer_step, served, data, deadline)
                return Answered(await self._in_thread(large, deadline), served.version)
        request = read_request(data, schemas.NextRequest, served.model, self._limits)
        work = partial(self._answer_step, served, request, deadline)
        if _is_plain(request) and served.step_seconds < _MAX_INLINE_SECONDS:
            self._queue.steps.count_step()
            return Answered(work(), served.version)
        return Answered(await self._queue.run(work, deadline), served.version)

    async def predict(self, name: str, scope: Scope, receive: Receive) -> Answered:
        """Answer with a ``PredictAnswer``."""
        return await self._bulk(schemas.PredictRequest, self._answer_rows, name, scope, receive)

    async def predict_raw(self, name: str, scope: Scope, receive: Receive) -> Answered:
        """Answer with a ``PredictAnswer`` for raw rows of a lazy pipeline."""
        return await self._bulk(schemas.RawRequest, self._answer_raw, name, scope, receive)

    async def infer(self, name: str, scope: Scope, receive: Receive) -> Answered:
        """Answer with the tensors of the Open Inference Protocol."""
        return await self._bulk(schemas.InferRequest, self._answer_infer, name, scope, receive)

    def served_model(self, name: str, scope: Scope) -> ServedModel:
        """Return the model with a name, in the version that the request names, if it names one."""
        served = self._shelf.models.get(name)
        if served is None:
            names = ", ".join(sorted(self._shelf.models)) or "none"
            raise HTTPException(404, f"no model is named {name[:100]!r}; there are: {names}")
        scope[LOG_FIELDS]["model"] = name
        wanted = scope[HEADERS].get(b"if-match")
        if wanted is not None and not _matches(wanted, served.version):
            raise HTTPException(412, f"the model is now of version {served.version}, not the one wanted")
        return served

    async def _bulk(
        self,
        kind: RequestKind,
        call: Callable[[ServedModel, bytes, Deadline], bytes],
        name: str,
        scope: Scope,
        receive: Receive,
    ) -> Answered:
        # Always in a thread: the number of rows is the client's choice.
        deadline = Deadline(self._limits.max_seconds)
        served = self.served_model(name, scope)
        with self._room.body() as body:
            data = await self._body(kind, served, scope, receive, deadline, held=body)
            work = partial(call, served, data, deadline)
            if len(data) > _MAX_INLINE_BYTES:
                return Answered(await self._in_thread(work, deadline), served.version)
        return Answered(await self._queue.run(work, deadline), served.version)

    async def _in_thread(self, work: Callable[[], bytes], deadline: Deadline) -> bytes:
        """Answer a large request; a refusal waits for its turn."""
        try:
            return await self._queue.run(work, deadline)
        except BadRequestError:
            await self._pace.wait()
            raise

    # The rest of a call, from the bytes of a body to those of the answer; on the event loop or in a thread.

    def _read_and_answer_step(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        request = read_request(data, schemas.NextRequest, served.model, self._limits)
        return self._answer_step(served, request, deadline)

    def _answer_step(self, served: ServedModel, request: schemas.NextRequest, deadline: Deadline) -> bytes:
        start = time.perf_counter()
        with self._tracer.work("next", served.name) as note:
            step = next_step(served.model, request, self._limits, deadline)
            note("farthing.spent", step["spent"])
            note("farthing.ask", "" if step["ask"] is None else step["ask"]["feature"])
        taken = time.perf_counter() - start
        if _is_plain(request):
            # A moving average: steps grow as walks get longer, and a model may move to threads and back.
            served.step_seconds += 0.1 * (min(taken, _MAX_COUNTED_SECONDS) - served.step_seconds)
        self._metrics.work(served.name, taken)
        if step["ask"] is None:
            self._metrics.spend(served.name, step["spent"])
        else:
            self._metrics.ask(served.name, step["ask"]["feature"])
        step["version"] = served.version
        return encoded(step)

    def _answer_rows(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        request = read_request(data, schemas.PredictRequest, served.model, self._limits)
        start = time.perf_counter()
        with self._tracer.work("predict", served.name) as note:
            note("farthing.rows", len(request.rows))
            made, unseen = predict_rows(served.model, request, self._limits, deadline)
        self._metrics.work(served.name, time.perf_counter() - start)
        for decision in made:
            self._metrics.spend(served.name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        deadline.check()
        return encoded({"decisions": made, "spent": spent, "unseen": unseen, "version": served.version})

    def _answer_raw(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        if served.pipeline is None:
            raise HTTPException(409, f"{served.name!r} takes features, not raw rows; post them to predict")
        request = read_request(data, schemas.RawRequest, served.model, self._limits)
        start = time.perf_counter()
        with self._tracer.work("predict_raw", served.name) as note:
            note("farthing.rows", len(request.rows))
            made = predict_raw(served.pipeline, request, deadline)
        self._metrics.work(served.name, time.perf_counter() - start)
        for decision in made:
            self._metrics.spend(served.name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        deadline.check()
        return encoded({"decisions": made, "spent": spent, "unseen": {}, "version": served.version})

    def _answer_infer(self, served: ServedModel, data: bytes, deadline: Deadline) -> bytes:
        request = read_request(data, schemas.InferRequest, served.model, self._limits)
        start = time.perf_counter()
        with self._tracer.work("infer", served.name):
            outputs = infer(served.model, request, self._limits, deadline)
        self._metrics.work(served.name, time.perf_counter() - start)
        for tensor in outputs:
            for spent in tensor["data"] if tensor["name"] == "spend" else ():
                self._metrics.spend(served.name, spent)
        told = {} if request.id is None else {"id": request.id}
        answer = {"model_name": served.name, "model_version": served.version, **told, "outputs": outputs}
        deadline.check()
        return encoded(answer)

    async def _body(
        self,
        kind: RequestKind,
        served: ServedModel,
        scope: Scope,
        receive: Receive,
        deadline: Deadline,
        *,
        held: HeldBody,
    ) -> bytes:
        # A slow body counts against the time limit too, or a client could hold a connection forever.
        try:
            body = EagerCoroutine(self._read_body(kind, served, scope, receive, held))
            if body.done:
                return body.result
            async with asyncio.timeout(deadline.left()):
                return await body
        except BadRequestError:
            await self._pace.wait()
            raise
        except TimeoutError:
            raise HTTPException(
                408, "the body took too long to arrive", headers={"connection": "close"}
            ) from None

    async def _read_body(
        self, kind: RequestKind, served: ServedModel, scope: Scope, receive: Receive, held: HeldBody
    ) -> bytes:
        """Read a JSON body, up to the size that is allowed; refuse it by its beginning, if that is enough."""
        headers, max_bytes = scope[HEADERS], self._max_body
        media_type = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
        if media_type != b"application/json":
            raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
        size = headers.get(b"content-length", b"0")
        # A declared size that is too large is refused before anything is read. It may be absent or wrong, so
        # the bytes are counted as well.
        if not size.isdigit() or int(size[:20]) > max_bytes:
            raise _too_large(max_bytes)
        data, looked_at = bytearray(), False
        while True:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            data += message.get("body", b"")
            if len(data) > max_bytes:
                raise _too_large(max_bytes)
            if len(data) > _MAX_INLINE_BYTES:
                held.grow(len(data))
            if not looked_at and len(data) > _MAX_INLINE_BYTES:
                looked_at = True
                # If it is refused, the server discards what is still to come.
                check_beginning(bytes(data), *size_limits(kind, served.model, self._limits))
            if not message.get("more_body", False):
                return bytes(data)


def _is_plain(request: schemas.NextRequest) -> bool:
    """Return whether a step takes about as long as those before it; panels and reasons look far ahead."""
    return request.panel is None and request.rounds is None and not request.reasons


def _matches(header: bytes, version: str) -> bool:
    """Return whether a header ``if-match`` names a version: ``*``, or quoted versions."""
    wanted = {tag.strip().strip(b'"') for tag in header.split(b",")}
    return b"*" in wanted or version.encode() in wanted


def _too_large(max_bytes: int) -> HTTPException:
    # The rest of the body is not read, so the connection cannot be used again.
    return HTTPException(413, f"the body has more than {max_bytes} bytes", headers={"connection": "close"})
