"""The OpenAPI document: complete, and no request made from it gets a 5xx or an undocumented answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from farthing.service import Settings, create_app

schemathesis = pytest.importorskip("schemathesis", reason="pip install schemathesis")
from schemathesis.checks import not_a_server_error  # noqa: E402
from schemathesis.specs.openapi.checks import (  # noqa: E402
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = (not_a_server_error, content_type_conformance, response_schema_conformance, status_code_conformance)


def test_requests_made_from_the_document(models: Path) -> None:
    app = create_app(Settings(sources=(str(models),)))
    document = schemathesis.openapi.from_asgi("/openapi.json", app)
    statuses: set[int] = set()
    for operation in document.get_all_operations():
        statuses |= _try(operation.ok().as_strategy())
    assert {200, 404, 422} <= statuses, "some requests were sound, some were not"


def _try(cases: Any) -> set[int]:
    statuses = set()

    @given(case=cases, real=st.booleans())
    @settings(max_examples=10, deadline=None, suppress_health_check=list(HealthCheck), database=None)
    def send(case: Any, real: bool) -> None:
        if real and "name" in (case.path_parameters or {}):
            case.path_parameters["name"] = "heart"  # otherwise hardly any request would reach a model
        response = case.call()
        statuses.add(response.status_code)
        case.validate_response(response, checks=CHECKS)

    send()
    return statuses


def test_every_call_and_answer_is_documented() -> None:
    document = create_app(Settings()).openapi()
    assert sorted(document["paths"]) == [
        "/healthz",
        "/livez",
        "/metrics",
        "/readyz",
        "/v1/models",
        "/v1/models/{name}",
        "/v1/models/{name}/next",
        "/v1/models/{name}/predict",
        "/v1/models/{name}/predict_raw",
        "/v2",
        "/v2/health/live",
        "/v2/health/ready",
        "/v2/models/{name}",
        "/v2/models/{name}/infer",
        "/v2/models/{name}/ready",
        "/v2/models/{name}/versions/{version}/infer",
    ]
    step = document["paths"]["/v1/models/{name}/next"]["post"]
    assert set(step["responses"]) == {"200", "400", "401", "404", "408", "412", "413", "415", "422", "503"}
    for calls in document["paths"].values():
        for call in calls.values():
            assert call["description"]
    schemas = document["components"]["schemas"]
    assert set(schemas["NextRequest"]["properties"]) == {
        *("given", "known", "refused", "budget", "seed", "reasons", "panel", "within", "rounds"),
    }
    assert {"ask", "decision", "spent", "left", "unused"} <= set(schemas["NextAnswer"]["required"])
