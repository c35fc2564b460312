"""Metrics of the service, for Prometheus.

Requests are counted, not walks: a client that repeats a request after a broken connection is counted twice.
"""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

# The variable that names the folder in which the workers share their counts.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"

# The id of this process. The library would ask the system for it at each count, which takes longer than the
# count itself.
_process = [os.getpid()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _process.__setitem__(0, os.getpid()))
if os.environ.get(FOLDER):
    values.ValueClass = values.MultiProcessValue(lambda: _process[0])  # type: ignore[no-untyped-call]

# Histogram buckets: fixed, since those of several workers and runs must add up.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SPEND = (0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


class Metrics:
    """The metrics of one application.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.ask("heart", "chol")
    >>> b'farthing_features_asked_total{feature="chol",model="heart"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._by_labels: dict[tuple[Any, tuple[str, ...]], Any] = {}
        self._requests = Counter(
            "farthing_requests", "Requests answered.", ["method", "route", "status"], registry=registry
        )
        self._seconds = Histogram(
            "farthing_request_seconds", "Time from the head of a request to the end of its answer.",
            ["method", "route"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._model_seconds = Histogram(
            "farthing_model_seconds", "Time of a request spent in the model: checks, walk, decision.",
            ["model"], buckets=_SECONDS, registry=registry,
        )  # fmt: skip
        self._spend = Histogram(
            "farthing_spend", "Spend of finished walks and of rows predicted in bulk, in the model's unit.",
            ["model"], buckets=_SPEND, registry=registry,
        )  # fmt: skip
        self._asked = Counter(
            "farthing_features_asked",
            "Features asked for.",
            ["model", "feature"],
            registry=registry,
        )
        self._reloads = Counter(
            "farthing_reloads", "Files loaded, or found faulty.", ["model", "result"], registry=registry
        )
        # Every worker has all models, so the total is the maximum over live workers, not the sum.
        self._models = Gauge(
            "farthing_models", "Models being served.", registry=registry, multiprocess_mode="livemax"
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._at(self._requests, method, route, str(status)).inc()
        self._at(self._seconds, method, route).observe(seconds)

    def work(self, model: str, seconds: float) -> None:
        """Record the time spent in a model."""
        self._at(self._model_seconds, model).observe(seconds)

    def ask(self, model: str, feature: str) -> None:
        """Count a feature asked for."""
        self._at(self._asked, model, feature).inc()

    def spend(self, model: str, spent: float) -> None:
        """Record the spend of a finished row."""
        self._at(self._spend, model).observe(spent)

    def reload(self, model: str, fault: str | None) -> None:
        """Count a file that was loaded, or was found faulty."""
        self._reloads.labels(model, "loaded" if fault is None else "faulty").inc()

    def models(self, count: int) -> None:
        """Set the number of models."""
        self._models.set(count)

    def _at(self, metric: Any, *labels: str) -> Any:
        """Return a metric at some labels; the look-up of the library itself is slow."""
        found = self._by_labels.get((metric, labels))
        if found is None:
            found = self._by_labels[metric, labels] = metric.labels(*labels)
        return found

    def text(self) -> bytes:
        """Return the metrics of all workers in the format of Prometheus."""
        if not os.environ.get(FOLDER):
            return generate_latest(self._registry)
        # With several workers each writes its counts to files, and any worker can add up all of them.
        merged = CollectorRegistry()
        MultiProcessCollector(merged)  # type: ignore[no-untyped-call]
        return generate_latest(merged)
