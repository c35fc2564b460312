"""The OpenAPI document of the service.

Bodies are parsed by the service itself, more strictly than FastAPI does, so their schemas are added here.
"""

from __future__ import annotations

from typing import Any, Final

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from farthing.service import schemas
from farthing.service.http_protocol import HEALTH_PATHS

FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    400: {"model": schemas.Unprocessable, "description": "The body is not JSON."},
    404: {"model": schemas.Failure, "description": "There is no such model."},
    401: {"model": schemas.Failure, "description": "The service needs a bearer token."},
    408: {"model": schemas.Failure, "description": "The body took too long to arrive."},
    412: {"model": schemas.Failure, "description": "The version that If-Match names is gone."},
    413: {"model": schemas.Failure, "description": "The body is too large."},
    415: {"model": schemas.Failure, "description": "The content type is not JSON."},
    422: {"model": schemas.Unprocessable, "description": "A field is wrong; the answer names it."},
    503: {
        "model": schemas.Failure,
        "description": "The request took too long, or there is too much work: see Retry-After.",
    },
}
READ_FAILURES: Final[dict[int | str, dict[str, Any]]] = {
    status: FAILURES[status] for status in (401, 404, 412)
}


def request_body(kind: type[schemas.Request]) -> dict[str, Any]:
    """Return the part of a route that refers to the schema of its body."""
    reference = {"$ref": f"#/components/schemas/{kind.__name__}"}
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": reference}}}}


def openapi_document(app: FastAPI) -> dict[str, Any]:
    """Return the OpenAPI document with the schemas of the bodies, which FastAPI does not know."""
    if app.openapi_schema is None:
        document = get_openapi(
            title=app.title,
            version=app.version,
            summary=app.summary,
            description=app.description,
            routes=app.routes,
        )
        components = document.setdefault("components", {})
        for kind in (schemas.NextRequest, schemas.PredictRequest, schemas.InferRequest, schemas.RawRequest):
            schema = kind.model_json_schema(ref_template="#/components/schemas/{model}")
            components["schemas"] |= {**schema.pop("$defs", {}), kind.__name__: schema}
        components["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        for path, calls in document["paths"].items():
            if path.encode() not in HEALTH_PATHS:
                for call in calls.values():
                    # The empty entry means that the token is optional: whether it is needed is a setting.
                    call["security"] = [{}, {"token": []}]
        app.openapi_schema = document
    return app.openapi_schema
