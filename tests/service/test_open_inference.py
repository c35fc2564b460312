"""The Open Inference Protocol gives what the other calls give; spans name the asks."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

import farthing
from farthing.datasets import load_heart_disease
from farthing.service.tracing import OtelTracer, make_tracer

INFER = "/v2/models/heart/infer"
ROWS = load_heart_disease().X.iloc[:6].astype(float)


def tensor(name: str, values: Any, shape: list[int]) -> dict[str, Any]:
    return {"name": name, "shape": shape, "datatype": "FP64", "data": values}


def flat(values: Any) -> list[float | None]:
    return [None if math.isnan(value) else float(value) for value in values]


def test_it_agrees_with_the_local_model(http: httpx.Client, models: Path) -> None:
    model = farthing.load(models / "heart.farthing")
    whole = tensor("input", flat(ROWS.to_numpy().ravel()), list(ROWS.shape))
    apart = [tensor(name, flat(ROWS[name]), [len(ROWS)]) for name in ROWS]
    for inputs in ([whole], apart):
        answer = http.post(INFER, json={"id": "a", "inputs": inputs, "parameters": {"budget": 40.0}})
        told = answer.json()
        assert (told["id"], told["model_name"]) == ("a", "heart")
        assert answer.headers["etag"] == f'"{told["model_version"]}"'
        outputs = {output["name"]: output for output in told["outputs"]}
        assert outputs["predict"]["data"] == model.predict(ROWS, budget=40).tolist()
        assert outputs["predict"]["datatype"] == "INT64"
        assert outputs["predict_proba"]["shape"] == [6, 2]
        assert outputs["predict_proba"]["data"] == model.predict_proba(ROWS, budget=40).ravel().tolist()
        assert outputs["spend"]["data"] == model.spend(ROWS, budget=40).tolist()
        assert outputs["acquired"]["data"] == model.acquired(ROWS, budget=40).ravel().tolist()
    only = http.post(INFER, json={"inputs": [whole], "outputs": [{"name": "spend"}]}).json()
    assert [output["name"] for output in only["outputs"]] == ["spend"]


def test_what_gateways_ask_first(http: httpx.Client) -> None:
    assert http.get("/v2/health/live").json() == {"live": True}
    assert http.get("/v2/health/ready").json() == {"ready": True}
    assert http.get("/v2").json()["name"] == "farthing"
    about = http.get("/v2/models/heart").json()
    assert about["inputs"][0] == {"name": "age", "datatype": "FP64", "shape": [-1]}
    assert {"name": "predict_proba", "datatype": "FP64", "shape": [-1, 2]} in about["outputs"]
    assert http.get("/v2/models/heart/ready").json() == {"name": "heart", "ready": True}
    assert http.get("/v2/models/nothing/ready").status_code == 404
    row = {"inputs": [tensor("cp", [4.0], [1, 1])]}
    version = about["versions"][0]
    assert http.post(f"/v2/models/heart/versions/{version}/infer", json=row).status_code == 200
    assert http.post("/v2/models/heart/versions/0/infer", json=row).status_code == 404


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ([], "inputs"),
        ([tensor("cp", [1.0], [2])], "1 values for the shape (2,)"),
        ([tensor("cp", [1.0], [1]), tensor("ca", [1.0, 2.0], [2])], "expected (1,) or (1, 1)"),
        ([tensor("cp", [1.0], [1]), tensor("cp", [1.0], [1])], "given twice"),
        ([tensor("input", [1.0], [1, 1])], "expected (1, 13)"),
        ([tensor("cpp", [1.0], [1])], "unknown feature"),
        ([tensor("chol", ["high"], [1])], "expected a number"),
        ([tensor("cp", [], [10**9])], "rows"),
        ([tensor("cp", [], [])], "rows"),
        ([tensor("cp", [1.0], [1]) | {"datatype": "COMPLEX"}], "expected one of"),
    ],
)
def test_bad_tensors_are_named(http: httpx.Client, inputs: Any, message: str) -> None:
    told = http.post(INFER, json={"inputs": inputs})
    assert told.status_code == 400
    assert message in told.json()["error"]


def test_spans_continue_a_trace_and_hold_no_values() -> None:
    sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="pip install 'farthing[otel]'")
    memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor  # noqa: PLC0415

    exporter, provider = memory.InMemorySpanExporter(), sdk.TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    tracer = OtelTracer(provider)
    trace = "0af7651916cd43dd8448eb211c80319c"
    sent = {b"traceparent": f"00-{trace}-b7ad6b7169203331-01".encode()}
    with tracer.request("POST", sent) as span:
        with tracer.work("next", "heart") as note:
            note("farthing.ask", "chol")
        span.end("/v1/models/{name}/next", 200, {"model": "heart", "request": "r1"})
    inner, outer = exporter.get_finished_spans()
    assert (outer.name, inner.name) == ("POST /v1/models/{name}/next", "farthing.next")
    assert f"{outer.context.trace_id:032x}" == trace
    assert inner.parent.span_id == outer.context.span_id
    assert dict(inner.attributes) == {"farthing.model": "heart", "farthing.ask": "chol"}
    assert outer.attributes["http.response.status_code"] == 200
    assert type(make_tracer(False)) is not OtelTracer


def test_the_tracer_of_a_service_exports_over_otlp(monkeypatch: pytest.MonkeyPatch) -> None:
    otlp = pytest.importorskip("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    exported = []
    monkeypatch.setattr(otlp.OTLPSpanExporter, "export", lambda _, spans: exported.extend(spans))
    providers: list[Any] = []
    monkeypatch.setattr("opentelemetry.trace.set_tracer_provider", providers.append)
    tracer = make_tracer(True)
    assert isinstance(tracer, OtelTracer)
    with tracer.request("GET", {}) as span:
        span.end("/healthz", 200, {})
    (provider,) = providers
    provider.shutdown()
    assert [span.name for span in exported] == ["GET /healthz"]
    assert exported[0].resource.attributes["service.name"] == "farthing"


def test_spans_need_their_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    with pytest.raises(ImportError, match=r"pip install 'farthing\[otel\]'"):
        make_tracer(True)
