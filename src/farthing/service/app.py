"""The service as a web application: routes on the outside, pure functions within."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final, TypeVar

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic import ValidationError
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from farthing.service import schemas
from farthing.service.body import BadRequestError, Problem, parse
from farthing.service.guard import NOTED, Guard
from farthing.service.logs import log
from farthing.service.metrics import Metrics
from farthing.service.page import page
from farthing.service.settings import Settings
from farthing.service.shelf import Book, Shelf
from farthing.service.steps import Limits, Plain, TooLongError, next_step, predict_rows

# A model whose steps take longer than this answers in a thread, so that others need not wait.
_QUICK: Final = 0.02

_ABOUT: Final = """
Models that know what each feature costs, and ask for one at a time.

Send what you know to `/v1/models/{name}/next`; the answer names the feature to get next and its price, or
null when the model has decided. Put what you found into `known` (null: measured, and missing), or its name
into `refused`, and send all of it again. The decision so far is always there. Nothing is kept between two
requests: the same request has the same answer from any worker at any time, as long as the model's `version`
is the same.
"""

Made = TypeVar("Made")
Checked = TypeVar("Checked", schemas.NextRequest, schemas.PredictRequest)


def create_app(settings: Settings, shelf: Shelf | None = None) -> FastAPI:
    """Make the application.

    Parameters
    ----------
    settings : Settings
    shelf : Shelf, optional
        The models; made from the settings' sources if not given.

    Returns
    -------
    FastAPI
        An ASGI application. ``app.state.shelf`` holds the models.

    Examples
    --------
    >>> app = create_app(Settings())
    >>> sorted(app.openapi()["paths"])[:2]
    ['/healthz', '/metrics']
    """
    metrics = Metrics()

    def report(name: str, fault: str | None) -> None:
        metrics.reload(name, fault)
        if fault is None:
            log(logging.INFO, "loaded", model=name)
        else:
            log(logging.WARNING, "faulty file", model=name, fault=fault)

    held = Shelf(settings.sources, report) if shelf is None else shelf
    metrics.models(len(held.books))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        gc.collect()
        gc.freeze()  # what is there now stays: no later collection need look at it
        watching = asyncio.create_task(_watch(held, settings.reload_seconds, metrics))
        yield
        watching.cancel()
        gc.unfreeze()

    app = FastAPI(
        title="Farthing",
        summary="Prediction on a budget: ask for the next feature.",
        description=_ABOUT,
        version=_version(),
        lifespan=lifespan,
        docs_url=None,  # its page would load scripts from elsewhere
        redoc_url=None,
    )
    app.state.shelf = held
    app.openapi = lambda: _openapi(app)  # type: ignore[method-assign]
    _add_handlers(app)
    _add_reading(app, held, metrics)
    _add_asking(app, held, metrics, settings)
    if settings.origins:
        app.add_middleware(
            CORSMiddleware,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    app.add_middleware(Guard, metrics=metrics, token=settings.token)
    return app


def app_from_environment() -> FastAPI:
    """Make the application of the settings that the environment holds; workers start with this."""
    return create_app(Settings.from_environment())


async def _watch(shelf: Shelf, seconds: float, metrics: Metrics) -> None:
    """Look for changed files, for ever."""
    while seconds > 0:
        await asyncio.sleep(seconds)
        try:
            await asyncio.to_thread(shelf.refresh)
            metrics.models(len(shelf.books))
        except Exception:
            logging.getLogger("farthing.service").exception("could not look at the files")


# Routes.

_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": schemas.Unprocessable, "description": "The body is no JSON."},
    404: {"model": schemas.Failure, "description": "There is no such model."},
    401: {"model": schemas.Failure, "description": "The service asks for a bearer token."},
    408: {"model": schemas.Failure, "description": "The body took too long to arrive."},
    413: {"model": schemas.Failure, "description": "The body is too large."},
    415: {"model": schemas.Failure, "description": "The body is not said to be JSON."},
    422: {"model": schemas.Unprocessable, "description": "A field is wrong; the answer names it."},
    503: {"model": schemas.Failure, "description": "The request took too long."},
}
_NEXT: Final = "/v1/models/{name}/next"
_READING: Final[dict[int | str, dict[str, Any]]] = {status: _FAILURES[status] for status in (401, 404)}


def _add_reading(app: FastAPI, shelf: Shelf, metrics: Metrics) -> None:
    """Add what only reads: the page, health, counts, and what there is to know about models."""

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return page()

    @app.get("/healthz", response_model=schemas.Health, responses={503: {"model": schemas.Health}})
    async def healthz() -> Response:
        """Say whether there is a model to answer with."""
        count = len(shelf.books)
        health = {"status": "ok" if count else "no model", "models": count, "faults": len(shelf.faults)}
        return JSONResponse(health, status_code=200 if count else 503)

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, 401: _FAILURES[401]},
    )
    async def counts() -> Response:
        """Give the counts of all workers, for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/v1/models", response_model=schemas.ModelList, responses={401: _FAILURES[401]})
    async def models() -> Response:
        """List the models, and the files that could not be loaded."""
        faults = shelf.faults
        listed = [_summary(book, faults) for _, book in sorted(shelf.books.items())]
        return JSONResponse({"models": listed, "faults": faults})

    @app.get("/v1/models/{name}", response_model=schemas.ModelInfo, responses=_READING)
    async def model(name: str, request: Request) -> Response:
        """Describe a model: its features, their prices and groups, its method."""
        book = _book(shelf, name, request)
        return JSONResponse(_summary(book, shelf.faults) | book.about)


def _add_asking(app: FastAPI, shelf: Shelf, metrics: Metrics, settings: Settings) -> None:
    """Add what asks a model: the next step, and rows in bulk."""
    limits = Limits(settings.max_seconds, settings.max_rows, settings.strict_categories)

    async def read(request: Request, kind: type[Checked]) -> Checked:
        try:
            data = await _within(settings.max_seconds, _body(request, settings.max_body))
        except TimeoutError:
            raise HTTPException(408, "the body took too long", headers={"connection": "close"}) from None
        try:
            return kind.model_validate(parse(data))
        except ValidationError as error:
            raise BadRequestError(422, _problems(error)) from None

    async def run(book: Book, work: Callable[[], Made], *, quick: bool) -> tuple[Made, float]:
        timed = partial(_timed, work)
        made, taken = timed() if quick else await _within(settings.max_seconds, asyncio.to_thread(timed))
        metrics.work(book.name, taken)
        return made, taken

    @app.post(
        _NEXT,
        response_model=schemas.NextAnswer,
        responses=_FAILURES,
        openapi_extra=_body_of(schemas.NextRequest),
    )
    async def next_(name: str, request: Request) -> Response:
        """Say which feature to get next, and what is decided so far."""
        book = _book(shelf, name, request)
        known = await read(request, schemas.NextRequest)
        work = partial(next_step, book.model, known, limits)
        step, taken = await run(book, work, quick=book.pace < _QUICK)
        book.pace += 0.1 * (taken - book.pace)
        if step["ask"] is None:
            metrics.spend(name, step["spent"])
        else:
            metrics.ask(name, step["ask"]["feature"])
        step["version"] = book.version
        return _json(step)

    async def step(request: Request) -> Response:
        request.scope["route"] = first  # as FastAPI's own routes do
        return await next_(request.path_params["name"], request)

    # The route above is for the document. This one answers: it comes first, and spares each step the look-up
    # of the other routes and the solving of dependencies, of which there are none.
    first = Route(_NEXT, step, methods=["POST"])
    app.router.routes.insert(0, first)

    @app.post(
        "/v1/models/{name}/predict",
        response_model=schemas.PredictAnswer,
        responses=_FAILURES,
        openapi_extra=_body_of(schemas.PredictRequest),
    )
    async def predict(name: str, request: Request) -> Response:
        """Predict rows in bulk, each as a walk fed from it would, with what it pays and acquires."""
        book = _book(shelf, name, request)
        rows = await read(request, schemas.PredictRequest)
        work = partial(predict_rows, book.model, rows, limits)
        (made, unseen), _ = await run(book, work, quick=False)
        for decision in made:
            metrics.spend(name, decision["spent"])
        spent = sum(decision["spent"] for decision in made)
        return _json({"decisions": made, "spent": spent, "unseen": unseen, "version": book.version})


def _book(shelf: Shelf, name: str, request: Request) -> Book:
    """Return the model of a name, and note the name for the log."""
    book = shelf.books.get(name)
    if book is None:
        there = ", ".join(sorted(shelf.books)) or "none"
        raise HTTPException(404, f"no model is named {name[:100]!r}; there are: {there}")
    request.scope[NOTED] = {"model": name}
    return book


def _summary(book: Book, faults: dict[str, str]) -> Plain:
    return {
        "name": book.name,
        "method": book.about["method"],
        "version": book.version,
        "n_features": book.about["n_features"],
        "fault": faults.get(book.name),
    }


def _json(plain: Plain) -> Response:
    return Response(_encode(plain), media_type="application/json")


_encode: Final = json.JSONEncoder(allow_nan=False, separators=(",", ":"), check_circular=False).encode


# Bodies.


async def _body(request: Request, most: int) -> bytes:
    """Read a body of JSON, no more of it than is allowed."""
    headers = dict(request.scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0].strip().lower()
    if kind != b"application/json":
        raise HTTPException(415, "send the body as JSON, with Content-Type: application/json")
    size = headers.get(b"content-length", b"0")
    if not size.isdigit() or int(size[:20]) > most:
        raise _too_large(most)
    data = bytearray()
    async for chunk in request.stream():
        data += chunk
        if len(data) > most:
            raise _too_large(most)
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


# What goes wrong.


def _add_handlers(app: FastAPI) -> None:
    async def bad(_: Request, error: Exception) -> Response:
        assert isinstance(error, BadRequestError)
        return JSONResponse({"detail": [item.plain() for item in error.problems]}, status_code=error.status)

    async def late(_: Request, error: Exception) -> Response:  # noqa: ARG001
        return JSONResponse({"detail": "the request took too long; send fewer rows"}, status_code=503)

    async def gone(_: Request, error: Exception) -> Response:  # noqa: ARG001
        return Response(status_code=400)  # nobody is left to read it

    app.add_exception_handler(BadRequestError, bad)
    app.add_exception_handler(TooLongError, late)
    app.add_exception_handler(TimeoutError, late)
    app.add_exception_handler(ClientDisconnect, gone)


# The document.


def _body_of(kind: type[schemas.Request]) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


def _openapi(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document; bodies are parsed here, so FastAPI does not know their schemas."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
        )
        components = document.setdefault("components", {})
        for kind in (schemas.NextRequest, schemas.PredictRequest):
            made = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            components["schemas"] |= {**made.pop("$defs", {}), kind.__name__: made}
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, calls in document["paths"].items():
            if path != "/healthz":
                for call in calls.values():
                    call["security"] = [{}, {"token": []}]
        app.openapi_schema = document
    return app.openapi_schema


def _version() -> str:
    try:
        return version("farthing")
    except PackageNotFoundError:  # imported from a source tree that is not installed
        return "0"
