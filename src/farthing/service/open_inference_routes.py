"""The routes of the Open Inference Protocol (KServe v2)."""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from farthing.service import schemas
from farthing.service.model_store import ModelStore
from farthing.service.openapi import FAILURES, READ_FAILURES, request_body
from farthing.service.request_body import BadRequestError
from farthing.service.request_handler import RequestHandler

_MODEL: Final = "/v2/models/{name}"
# The protocol reports a bad request as 400, where the other calls say 422.
_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    **{status: FAILURES[status] for status in (401, 404, 408, 412, 413, 415, 503)},
    400: {"model": schemas.InferenceError, "description": "The request is not valid."},
}


def add_open_inference_routes(app: FastAPI, handler: RequestHandler, store: ModelStore) -> None:
    """Add the routes: health, metadata and inference."""

    @app.get("/v2", responses={401: FAILURES[401]})
    async def server() -> Response:
        """Describe the server."""
        return JSONResponse({"name": "farthing", "version": app.version, "extensions": []})

    @app.get("/v2/health/live")
    async def live() -> Response:
        """Return that the process answers."""
        return JSONResponse({"live": True})

    @app.get("/v2/health/ready", responses={503: {}})
    async def ready() -> Response:
        """Return whether there is a model."""
        return JSONResponse({"ready": bool(store.models)}, status_code=200 if store.models else 503)

    @app.get(_MODEL, responses=READ_FAILURES)
    async def model(name: str, request: Request) -> Response:
        """Describe a model: its tensors in and out."""
        served = handler.served_model(name, request.scope)
        return Response(served.tensors_json, media_type="application/json")

    @app.get(f"{_MODEL}/ready", responses=READ_FAILURES)
    async def model_ready(name: str, request: Request) -> Response:
        """Return that a model can be asked."""
        return JSONResponse({"name": handler.served_model(name, request.scope).name, "ready": True})

    @app.post(f"{_MODEL}/infer", responses=_FAILURES, openapi_extra=request_body(schemas.InferRequest))
    async def infer(name: str, request: Request) -> Response:
        """Predict whole rows."""
        return await _infer(handler, name, request)

    @app.post(
        f"{_MODEL}/versions/{{version}}/infer",
        responses=_FAILURES,
        openapi_extra=request_body(schemas.InferRequest),
    )
    async def infer_version(name: str, version: str, request: Request) -> Response:
        """Predict whole rows by one version of a model."""
        if handler.served_model(name, request.scope).version != version:
            raise HTTPException(404, "the model is of another version")
        return await _infer(handler, name, request)


async def _infer(handler: RequestHandler, name: str, request: Request) -> Response:
    try:
        answered = await handler.infer(name, request.scope, request.receive)
    except BadRequestError as error:
        told = [problem.to_json() for problem in error.problems]
        text = "; ".join(f"{'.'.join(map(str, item['loc'][1:]))}: {item['msg']}" for item in told)
        return JSONResponse({"error": text}, status_code=400)
    return Response(answered.body, media_type="application/json", headers={"etag": f'"{answered.version}"'})
