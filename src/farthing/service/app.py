"""The service as a web application: routes on the outside, pure functions within."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from farthing.service import schemas
from farthing.service.asking import Asking
from farthing.service.guard import FAILED, Guard
from farthing.service.logs import log
from farthing.service.metrics import Metrics
from farthing.service.page import page
from farthing.service.settings import Settings
from farthing.service.shelf import Book, Shelf
from farthing.service.shortcut import FAILURES, NEXT, Shortcut, failure
from farthing.service.steps import Plain

_ABOUT: Final = """
Models that know what each feature costs, and ask for one at a time.

Send what you know to `/v1/models/{name}/next`; the answer names the feature to get next and its price, or
null when the model has decided. Put what you found into `known` (null: measured, and missing), or its name
into `refused`, and send all of it again. The decision so far is always there. Nothing is kept between two
requests: the same request has the same answer from any worker at any time, as long as the model's `version`
is the same.
"""


class Service(FastAPI):
    """An application within layers that see a request before its router does: `layers`, outermost first."""

    layers: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.layers(scope, receive, send)

    async def within(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request that has come through the layers."""
        await super().__call__(scope, receive, send)


def create_app(settings: Settings, shelf: Shelf | None = None) -> Service:
    """Make the application.

    Parameters
    ----------
    settings : Settings
    shelf : Shelf, optional
        The models; made from the settings' sources if not given.

    Returns
    -------
    Service
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

    app = Service(
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
    asking = Asking(held, metrics, settings)
    _add_handlers(app)
    _add_reading(app, asking, held, metrics)
    layers: ASGIApp = Shortcut(app.within, asking, _add_asking(app, asking))
    if settings.origins:
        layers = CORSMiddleware(
            layers,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type"],
        )
    app.layers = Guard(layers, metrics=metrics, token=settings.token)
    return app


def app_from_environment() -> Service:
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
_READING: Final[dict[int | str, dict[str, Any]]] = {status: _FAILURES[status] for status in (401, 404)}


def _add_reading(app: FastAPI, asking: Asking, shelf: Shelf, metrics: Metrics) -> None:
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
        book = asking.book(name, request.scope)
        return JSONResponse(_summary(book, shelf.faults) | book.about)


def _add_asking(app: FastAPI, asking: Asking) -> BaseRoute:
    """Add what asks a model: the next step, and rows in bulk. Return the route of a step."""

    @app.post(
        NEXT,
        response_model=schemas.NextAnswer,
        responses=_FAILURES,
        openapi_extra=_body_of(schemas.NextRequest),
    )
    async def next_(name: str, request: Request) -> Response:
        """Say which feature to get next, and what is decided so far."""
        return _json(await asking.step(name, request.scope, request.receive))

    step = app.routes[-1]

    @app.post(
        "/v1/models/{name}/predict",
        response_model=schemas.PredictAnswer,
        responses=_FAILURES,
        openapi_extra=_body_of(schemas.PredictRequest),
    )
    async def predict(name: str, request: Request) -> Response:
        """Predict rows in bulk, each as a walk fed from it would, with what it pays and acquires."""
        return _json(await asking.rows(name, request.scope, request.receive))

    return step


def _summary(book: Book, faults: dict[str, str]) -> Plain:
    return {
        "name": book.name,
        "method": book.about["method"],
        "version": book.version,
        "n_features": book.about["n_features"],
        "fault": faults.get(book.name),
    }


def _json(encoded: bytes) -> Response:
    return Response(encoded, media_type="application/json")


def _add_handlers(app: FastAPI) -> None:
    async def failed(_: Request, error: Exception) -> Response:
        return failure(error)

    async def broken(_: Request, error: Exception) -> Response:  # noqa: ARG001 - the guard logs it
        return JSONResponse({"detail": FAILED}, status_code=500)

    for kind in FAILURES:
        app.add_exception_handler(kind, failed)
    app.add_exception_handler(Exception, broken)


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
