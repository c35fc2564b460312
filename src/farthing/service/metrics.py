"""What a service counts, for Prometheus.

A step is counted each time it is asked for: a client that sends a request again after a broken connection is
counted twice.
"""

from __future__ import annotations

import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.multiprocess import MultiProcessCollector

# In this folder the workers of one service keep their counts, so that any of them can tell the sum.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"

# The number of this process: the library would ask the system for it at each count, which takes longer than
# the count itself.
_process = [os.getpid()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _process.__setitem__(0, os.getpid()))
if os.environ.get(FOLDER):
    values.ValueClass = values.MultiProcessValue(lambda: _process[0])  # type: ignore[no-untyped-call]

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SPEND = (0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


class Metrics:
    """The counts of one application.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.ask("heart", "chol")
    >>> b'farthing_features_asked_total{feature="chol",model="heart"} 1.0' in metrics.text()
    True
    """

    def __init__(self) -> None:
        kept = self._registry = CollectorRegistry()
        self._labelled: dict[tuple[Any, tuple[str, ...]], Any] = {}
        self._requests = Counter(
            "farthing_requests", "Requests answered.", ["method", "route", "status"], registry=kept
        )
        self._seconds = Histogram(
            "farthing_request_seconds", "Time from a request's head to the end of its answer.",
            ["method", "route"], buckets=_SECONDS, registry=kept,
        )  # fmt: skip
        self._model_seconds = Histogram(
            "farthing_model_seconds", "Time of a request spent in the model: checks, walk, decision.",
            ["model"], buckets=_SECONDS, registry=kept,
        )  # fmt: skip
        self._spend = Histogram(
            "farthing_spend", "Spend of finished walks and of rows predicted in bulk, in the model's unit.",
            ["model"], buckets=_SPEND, registry=kept,
        )  # fmt: skip
        self._asked = Counter(
            "farthing_features_asked",
            "Questions that the answers asked.",
            ["model", "feature"],
            registry=kept,
        )
        self._reloads = Counter(
            "farthing_reloads", "Files loaded, or found faulty.", ["model", "result"], registry=kept
        )
        self._models = Gauge(
            "farthing_models", "Models being served.", registry=kept, multiprocess_mode="livemax"
        )

    def request(self, method: str, route: str, status: int, seconds: float) -> None:
        """Count an answered request."""
        self._of(self._requests, method, route, str(status)).inc()
        self._of(self._seconds, method, route).observe(seconds)

    def work(self, model: str, seconds: float) -> None:
        """Count time spent in a model."""
        self._of(self._model_seconds, model).observe(seconds)

    def ask(self, model: str, feature: str) -> None:
        """Count a question asked."""
        self._of(self._asked, model, feature).inc()

    def spend(self, model: str, spent: float) -> None:
        """Count what a finished row paid."""
        self._of(self._spend, model).observe(spent)

    def reload(self, model: str, fault: str | None) -> None:
        """Count a file that was loaded, or was found faulty."""
        self._reloads.labels(model, "loaded" if fault is None else "faulty").inc()

    def models(self, count: int) -> None:
        """Set how many models there are."""
        self._models.set(count)

    def _of(self, metric: Any, *labels: str) -> Any:
        """Return a metric at some labels, without its own look-up, which is slow."""
        found = self._labelled.get((metric, labels))
        if found is None:
            found = self._labelled[metric, labels] = metric.labels(*labels)
        return found

    def text(self) -> bytes:
        """Return all counts, those of the other workers included, in the format of Prometheus."""
        if not os.environ.get(FOLDER):
            return generate_latest(self._registry)
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(together)
