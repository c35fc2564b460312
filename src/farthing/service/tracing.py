"""Traces: the id of a distributed trace for the log, and OpenTelemetry spans if they are asked for."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from importlib import import_module
from typing import Any, Final

# https://www.w3.org/TR/trace-context: version, trace, parent span, flags; a trace of zeros is none.
_TRACEPARENT: Final = re.compile(rb"[0-9a-f]{2}-([0-9a-f]{32})-[0-9a-f]{16}-[0-9a-f]{2}")


def trace_id(headers: Mapping[bytes, bytes]) -> dict[str, str]:
    """Return the id of the trace that a request belongs to, as a field of the log; empty without one.

    Examples
    --------
    >>> trace_id({b"traceparent": b"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"})
    {'trace_id': '0af7651916cd43dd8448eb211c80319c'}
    >>> trace_id({b"traceparent": b"00-0"})
    {}
    """
    given = headers.get(b"traceparent")
    found = None if given is None else _TRACEPARENT.fullmatch(given)
    return {"trace_id": found[1].decode()} if found and found[1].strip(b"0") else {}


class Span:
    """A span that nobody records."""

    def end(self, route: str, status: int, fields: Mapping[str, Any]) -> None:
        """End the span of a request, with its route, its status and what the log says of it."""


class Tracer:
    """Spans of requests and of the work in models; these record nothing."""

    def request(
        self,
        method: str,
        headers: Mapping[bytes, bytes],
    ) -> AbstractContextManager[Span]:
        """Enclose a request in a span."""
        return _NO_REQUEST

    def work(self, call: str, model: str) -> AbstractContextManager[Any]:
        """Enclose the work of a call of a model in a span; gives a function that sets an attribute."""
        return _NO_WORK


class OtelTracer(Tracer):
    """Spans by OpenTelemetry, sent where its own environment variables say (``OTEL_EXPORTER_...``).

    No attribute holds the value of a feature.

    Parameters
    ----------
    provider : opentelemetry.trace.TracerProvider, optional
        Where spans go; by default the one of the process.
    """

    def __init__(self, provider: Any = None) -> None:
        self._trace = import_module("opentelemetry.trace")
        self._context = import_module("opentelemetry.trace.propagation.tracecontext")
        self._tracer = self._trace.get_tracer("farthing.service", tracer_provider=provider)

    @contextmanager
    def request(self, method: str, headers: Mapping[bytes, bytes]) -> Iterator[Span]:
        """Enclose a request in a span, which continues the trace of ``traceparent``."""
        carrier = {
            name: headers[name.encode()].decode("latin-1")
            for name in ("traceparent", "tracestate")
            if name.encode() in headers
        }
        parent = self._context.TraceContextTextMapPropagator().extract(carrier)
        kind = self._trace.SpanKind.SERVER
        with self._tracer.start_as_current_span(method, context=parent, kind=kind) as span:
            yield _OtelSpan(span, method)

    @contextmanager
    def work(self, call: str, model: str) -> Iterator[Any]:
        """Enclose the work of a call of a model in a span."""
        attributes = {"farthing.model": model}
        with self._tracer.start_as_current_span(f"farthing.{call}", attributes=attributes) as span:
            yield span.set_attribute


class _OtelSpan(Span):
    def __init__(self, span: Any, method: str) -> None:
        self._span = span
        self._method = method

    def end(self, route: str, status: int, fields: Mapping[str, Any]) -> None:
        self._span.update_name(f"{self._method} {route}")
        self._span.set_attribute("http.request.method", self._method)
        self._span.set_attribute("http.route", route)
        self._span.set_attribute("http.response.status_code", status)
        for name in ("model", "request"):
            if name in fields:
                self._span.set_attribute(f"farthing.{name}", fields[name])


def _ignore(_name: str, _value: Any) -> None:
    pass


# Shared by all requests: without OpenTelemetry, a step pays nothing for spans.
_NO_REQUEST: Final = nullcontext(Span())
_NO_WORK: Final = nullcontext(_ignore)


def make_tracer(otel: bool) -> Tracer:
    """Return the tracer of a service, after setting up OpenTelemetry if it is wanted.

    Raises
    ------
    ImportError
        If the extra ``otel`` is not installed.
    """
    if not otel:
        return Tracer()
    try:
        trace = import_module("opentelemetry.trace")
        sdk = import_module("opentelemetry.sdk.trace")
        export = import_module("opentelemetry.sdk.trace.export")
        otlp = import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
        resources = import_module("opentelemetry.sdk.resources")
    except ImportError as error:
        raise ImportError(
            f"--otel needs more than the service ({error}): pip install 'farthing[otel]'"
        ) from error
    resource = resources.Resource.create({"service.name": "farthing"})
    provider = sdk.TracerProvider(resource=resource)
    provider.add_span_processor(export.BatchSpanProcessor(otlp.OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    return OtelTracer(provider)
