"""What asks a model: a step, or rows in bulk, from the bytes of a request to those of its answer."""

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
from farthing.service.begun import Begun
from farthing.service.body import BadRequestError, Problem, parse
from farthing.service.guard import NOTED
from farthing.service.metrics import Metrics
from farthing.service.settings import Settings
from farthing.service.shelf import Book, Shelf
from farthing.service.steps import Limits, Plain, next_step, predict_rows

# A model whose steps take longer than this answers in a thread, so that others need not wait.
_QUICK: Final = 0.02

Made = TypeVar("Made")
Checked = TypeVar("Checked", schemas.NextRequest, schemas.PredictRequest)


class Asking:
    """The calls that ask a model.

    Parameters
    ----------
    shelf : Shelf
    metrics : Metrics
    settings : Settings
    """

    def __init__(self, shelf: Shelf, metrics: Metrics, settings: Settings) -> None:
        self._shelf = shelf
        self._metrics = metrics
        self._max_body = settings.max_body
        self._limits = Limits(settings.max_seconds, settings.max_rows, settings.strict_categories)

    async def step(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``NextAnswer``."""
        book = self.book(name, scope)
        known = await self._read(scope, receive, schemas.NextRequest)
        work = partial(next_step, book.model, known, self._limits)
        step, taken = await self._run(book, work, quick=book.pace < _QUICK)
        book.pace += 0.1 * (taken - book.pace)
        if step["ask"] is None:
            self._metrics.spend(name, step["spent"])
        else:
            self._metrics.ask(name, step["ask"]["feature"])
        step["version"] = book.version
        return _encoded(step)

    async def rows(self, name: str, scope: Scope, receive: Receive) -> bytes:
        """Answer with a ``PredictAnswer``."""
        book = self.book(name, scope)
        rows = await self._read(scope, receive, schemas.PredictRequest)
        work = partial(predict_rows, book.model, rows, self._limits)
        (made, unseen), _ = await self._run(book, work, quick=False)
        for decision in made:
            self._metrics.spend(name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        return _encoded({"decisions": made, "spent": spent, "unseen": unseen, "version": book.version})

    def book(self, name: str, scope: Scope) -> Book:
        """Return the model of a name, and note the name for the log."""
        book = self._shelf.books.get(name)
        if book is None:
            there = ", ".join(sorted(self._shelf.books)) or "none"
            raise HTTPException(404, f"no model is named {name[:100]!r}; there are: {there}")
        scope[NOTED] = {"model": name}
        return book

    async def _read(self, scope: Scope, receive: Receive, kind: type[Checked]) -> Checked:
        begun = Begun(_body(scope, receive, self._max_body))
        try:
            data = begun.result if begun.done else await _within(self._limits.max_seconds, begun)
        except TimeoutError:
            raise HTTPException(408, "the body took too long", headers={"connection": "close"}) from None
        try:
            return kind.model_validate(parse(data))
        except ValidationError as error:
            raise BadRequestError(422, _problems(error)) from None

    async def _run(self, book: Book, work: Callable[[], Made], *, quick: bool) -> tuple[Made, float]:
        if quick:
            made, taken = _timed(work)
        else:
            made, taken = await _within(self._limits.max_seconds, asyncio.to_thread(_timed, work))
        self._metrics.work(book.name, taken)
        return made, taken


def _encoded(plain: Plain) -> bytes:
    return _encode(plain).encode()


_encode: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode


async def _body(scope: Scope, receive: Receive, most: int) -> bytes:
    """Read a body of JSON, no more of it than is allowed."""
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
    size = headers.get(b"content-length", b"0")
    if not size.isdigit() or int(size[:20]) > most:
        raise _too_large(most)
    data = bytearray()
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        data += message.get("body", b"")
        if len(data) > most:
            raise _too_large(most)
        if not message.get("more_body", False):
            return bytes(data)


def _too_large(most: int) -> HTTPException:
    # What is still to come of the body is not read: the connection ends.
    return HTTPException(413, f"the body has more than {most} bytes", headers={"connection": "close"})


def _timed(work: Callable[[], Made]) -> tuple[Made, float]:
    """Return what work makes, and how long it takes from its begin: waiting for a thread does not count."""
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


async def _within(seconds: float, work: Awaitable[Made]) -> Made:
    async with asyncio.timeout(seconds):
        return await work


def _problems(error: ValidationError) -> list[Problem]:
    found = error.errors(include_url=False, include_context=False, include_input=False)
    return [Problem(tuple(item["loc"]), item["msg"], item["type"]) for item in found]
