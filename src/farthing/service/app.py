"""The service as an ASGI application: its routes and the layers around them."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from importlib.metadata import PackageNotFoundError, version
from typing import Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from farthing.service import schemas
from farthing.service.access import AccessMiddleware, Tokens
from farthing.service.drain import Drain
from farthing.service.fast_json import encoded
from farthing.service.fast_path import NEXT_PATH, REQUEST_ERRORS, FastPath, error_response
from farthing.service.logs import log
from farthing.service.metrics import Metrics, MetricsOffError
from farthing.service.middleware import INTERNAL_ERROR, GuardMiddleware
from farthing.service.model_store import ModelStore, ServedModel
from farthing.service.open_inference_routes import add_open_inference_routes
from farthing.service.openapi import FAILURES, READ_FAILURES, openapi_document, request_body
from farthing.service.page import page
from farthing.service.request_handler import Answered, RequestHandler
from farthing.service.settings import Settings
from farthing.service.shared_run import SharedRun
from farthing.service.tracing import make_tracer
from farthing.service.work_queue import SWITCH_SECONDS, WorkQueue

_ABOUT: Final = """
Models that know what each feature costs, and ask for one feature at a time.

Send what you know to `/v1/models/{name}/next`; the answer names the feature to get next and its price, or
null when the model has decided. Put its value into `known` (null: measured, but missing), or its name into
`refused`, and send everything again. Every answer holds the decision so far. The service keeps no state: the
same request gets the same answer from any worker, as long as the model's `version` is the same.
"""


class Service(FastAPI):
    """A FastAPI application behind ``layers``, ASGI applications that see a request before the router."""

    layers: ASGIApp

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        await self.layers(scope, receive, send)

    async def route_request(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request that has passed the layers, by its route."""
        await super().__call__(scope, receive, send)


def create_app(settings: Settings, store: ModelStore | None = None) -> Service:
    """Build the application.

    Parameters
    ----------
    settings : Settings
    store : ModelStore, optional
        The models; by default those of ``settings.sources``.

    Returns
    -------
    Service
        An ASGI application. ``app.state.store`` holds the models.

    Examples
    --------
    >>> app = create_app(Settings())
    >>> sorted(app.openapi()["paths"])[:2]
    ['/healthz', '/livez']
    """
    metrics = Metrics(settings.metrics)
    tracer = make_tracer(settings.otel)
    tokens = Tokens(settings.token, settings.tokens_file)
    drain = Drain(settings.drain_seconds)

    def on_load(name: str, fault: str | None) -> None:
        metrics.reload(name, fault)
        if fault is None:
            log(logging.INFO, "loaded", model=name)
        else:
            log(logging.WARNING, "faulty file", model=name, fault=fault)

    queue = WorkQueue(settings.max_waiting)
    models = ModelStore(settings.sources, trusted=settings.trusted) if store is None else store
    models.observe(on_load)
    metrics.models(len(models.models))

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        before = sys.getswitchinterval()
        sys.setswitchinterval(SWITCH_SECONDS)
        # A process that has frozen objects by itself keeps its way: unfreezing would be of all objects.
        freezes = gc.get_freeze_count() == 0
        if freezes:
            # Collect first, so that garbage from loading is not frozen along with the models.
            gc.collect()
            gc.freeze()  # models live as long as the process: no later collection need visit them
        watcher = asyncio.create_task(_watch(models, settings.reload_seconds, metrics))
        drain.watch_signals()
        yield
        watcher.cancel()
        queue.close()
        if freezes:
            gc.unfreeze()
        sys.setswitchinterval(before)

    app = Service(
        title="Farthing",
        summary="Prediction on a budget: ask for the next feature.",
        description=_ABOUT,
        version=_version(),
        lifespan=lifespan,
        docs_url=None,  # the page would load scripts from another host
        redoc_url=None,
    )
    app.state.store = models
    app.openapi = lambda: openapi_document(app)  # type: ignore[method-assign]
    handler = RequestHandler(models, metrics, settings, queue, tracer)
    _add_error_handlers(app)
    _add_health_routes(app, models, lambda: drain.begun or queue.busy)
    _add_read_routes(app, handler, models, metrics)
    add_open_inference_routes(app, handler, models)
    # From the inside out. CORS is outside of the token, so that a page may read why it was refused; the guard
    # comes last, so it also counts and logs what the others answer.
    layers: ASGIApp = FastPath(app.route_request, handler, _add_model_routes(app, handler))
    layers = AccessMiddleware(layers, tokens, settings.hosts)
    if settings.origins:
        layers = CORSMiddleware(
            layers,
            allow_origins=list(settings.origins),
            allow_methods=["GET", "POST"],
            allow_headers=["authorization", "content-type", "if-match", "traceparent", "x-request-id"],
            expose_headers=["etag", "retry-after", "x-request-id"],
        )
    app.layers = GuardMiddleware(layers, metrics, tracer)
    return app


def app_from_environment() -> Service:
    """Build the application from the settings in the environment; workers call this."""
    return create_app(Settings.from_environment())


async def _watch(store: ModelStore, seconds: float, metrics: Metrics) -> None:
    """Reload changed files, until cancelled."""
    while seconds > 0:
        await asyncio.sleep(seconds)
        try:
            # In a thread: loading a large model must not hold up requests. The store swaps in whole
            # dictionaries, so a request never sees half a reload.
            await asyncio.to_thread(store.refresh)
            metrics.models(len(store.models))
        # A watcher that died would leave the service on old models for good.
        except Exception:
            logging.getLogger("farthing.service").exception("could not check the files")


# Routes.


def _add_health_routes(app: FastAPI, store: ModelStore, is_busy: Callable[[], bool]) -> None:
    """Add what orchestrators and balancers ask; none of it waits for work."""

    @app.get("/livez", response_model=schemas.Status)
    async def livez() -> Response:
        """Return that the process answers; a worker that does not should be started anew."""
        return JSONResponse({"status": "ok"})

    @app.get("/readyz", response_model=schemas.Status, responses={503: {"model": schemas.Status}})
    async def readyz() -> Response:
        """Return whether requests should be sent here: a model, room in the queue, and no shutdown."""
        status = "no model" if not store.models else "busy" if is_busy() else "ok"
        return JSONResponse({"status": status}, status_code=200 if status == "ok" else 503)

    @app.get("/healthz", response_model=schemas.Health, responses={503: {"model": schemas.Health}})
    async def healthz() -> Response:
        """Return whether the service has a model."""
        count = len(store.models)
        health = {"status": "ok" if count else "no model", "models": count, "faults": len(store.faults)}
        # 503 takes a worker without models out of a load balancer; a faulty file alone does not.
        return JSONResponse(health, status_code=200 if count else 503)


def _add_read_routes(app: FastAPI, handler: RequestHandler, store: ModelStore, metrics: Metrics) -> None:
    """Add the routes that only read: the page, health, metrics, and the descriptions of models."""
    scrapes = SharedRun(metrics.text)  # the files of all workers are read

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return page()

    @app.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}}, 401: FAILURES[401], 503: FAILURES[503]},
    )
    async def metrics_text() -> Response:
        """Return the metrics of all workers, for Prometheus."""
        try:
            text = await scrapes.run()
        except (MetricsOffError, OSError):
            raise HTTPException(503, "there are no metrics; the log says why") from None
        return Response(text, media_type="text/plain; version=0.0.4; charset=utf-8")

    @app.get("/v1/models", response_model=schemas.ModelList, responses={401: FAILURES[401]})
    async def models() -> Response:
        """List the models, and the files that could not be loaded."""
        faults = store.faults
        listed = [_summary(served, faults) for _, served in sorted(store.models.items())]
        return JSONResponse({"models": listed, "faults": faults})

    @app.get("/v1/models/{name}", response_model=schemas.ModelInfo, responses=READ_FAILURES)
    async def model(name: str, request: Request) -> Response:
        """Describe a model: its features, their prices and groups, its method."""
        served = handler.served_model(name, request.scope)
        mutable = {"name": name, "version": served.version, "fault": store.faults.get(name)}
        body = encoded(mutable)[:-1] + b"," + served.description_json[1:]
        return _json(Answered(body, served.version))


def _add_model_routes(app: FastAPI, handler: RequestHandler) -> BaseRoute:
    """Add the routes that ask a model; return the route of a step."""

    @app.post(
        NEXT_PATH,
        response_model=schemas.NextAnswer,
        responses=FAILURES,
        openapi_extra=request_body(schemas.NextRequest),
    )
    async def next_(name: str, request: Request) -> Response:
        """Return the feature to get next, and the decision so far."""
        return _json(await handler.next_step(name, request.scope, request.receive))

    step = app.routes[-1]

    @app.post(
        "/v1/models/{name}/predict",
        response_model=schemas.PredictAnswer,
        responses=FAILURES,
        openapi_extra=request_body(schemas.PredictRequest),
    )
    async def predict(name: str, request: Request) -> Response:
        """Predict rows in bulk, each as its own walk would decide, with its spend and what it acquired."""
        return _json(await handler.predict(name, request.scope, request.receive))

    @app.post(
        "/v1/models/{name}/predict_raw",
        response_model=schemas.PredictAnswer,
        responses=FAILURES
        | {409: {"description": "The model is no lazy pipeline.", "model": schemas.Failure}},
        openapi_extra=request_body(schemas.RawRequest),
    )
    async def predict_raw(name: str, request: Request) -> Response:
        """Predict raw rows by a lazy pipeline, which computes the blocks that each row needs."""
        return _json(await handler.predict_raw(name, request.scope, request.receive))

    return step


def _summary(served: ServedModel, faults: dict[str, str]) -> schemas.JsonObject:
    return {
        "name": served.name,
        "method": served.description["method"],
        "version": served.version,
        "n_features": served.description["n_features"],
        "fault": faults.get(served.name),
    }


def _json(answered: Answered) -> Response:
    tag = {"etag": f'"{answered.version}"'}
    return Response(answered.body, media_type="application/json", headers=tag)


def _add_error_handlers(app: FastAPI) -> None:
    async def failed(_: Request, error: Exception) -> Response:
        return error_response(error)

    async def broken(_: Request, error: Exception) -> Response:  # noqa: ARG001 - the middleware logs it
        return JSONResponse({"detail": INTERNAL_ERROR}, status_code=500)

    for kind in REQUEST_ERRORS:
        app.add_exception_handler(kind, failed)
    app.add_exception_handler(Exception, broken)


def _version() -> str:
    try:
        return version("farthing")
    except PackageNotFoundError:  # a source tree that is not installed
        return "0"
