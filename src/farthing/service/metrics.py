"""Metrics of the service, for Prometheus.

Requests are counted, not walks: a client that repeats a request after a broken connection is counted twice.
"""

from __future__ import annotations

import logging
import os
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest, values
from prometheus_client.mmap_dict import MmapedDict
from prometheus_client.multiprocess import MultiProcessCollector

from farthing.service.logs import log

# The variable that names the folder in which the workers share their counts.
FOLDER = "PROMETHEUS_MULTIPROC_DIR"

# The id of this process. The library would ask the system for it at each count, which takes longer than the
# count itself.
_process = [os.getpid()]
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=lambda: _process.__setitem__(0, os.getpid()))


class AllocatedDict(MmapedDict):
    """A file of counts whose blocks exist before they are mapped into memory.

    The library maps files with holes. If the disk is full when a hole is first written to, the system ends
    the process by SIGBUS; here it is an OSError before that.
    """

    def __init__(self, filename: str, read_mode: bool = False) -> None:
        if not read_mode:
            with open(filename, "a+b") as stream:
                if not os.fstat(stream.fileno()).st_size:
                    _allocate(stream.fileno(), _FIRST_BYTES)
        super().__init__(filename, read_mode)  # type: ignore[no-untyped-call]

    def _init_value(self, key: str) -> None:
        # As the library does it: its length, the key padded to 8 bytes, and two numbers.
        needed, capacity = self._used + len(key.encode()) + 32, self._capacity
        while needed > capacity:
            capacity *= 2
        if capacity > self._capacity:
            _allocate(self._f.fileno(), capacity)
        super()._init_value(key)  # type: ignore[no-untyped-call]


def _allocate(descriptor: int, size: int) -> None:
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(descriptor, 0, size)


_FIRST_BYTES = 2**16

values.MmapedDict = AllocatedDict  # type: ignore[attr-defined]
if os.environ.get(FOLDER):
    values.ValueClass = values.MultiProcessValue(lambda: _process[0])  # type: ignore[no-untyped-call]

# Histogram buckets: fixed, since those of several workers and runs must add up.
_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)
_SPEND = (0, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000)


class MetricsOffError(Exception):
    """There are no metrics: the folder in which the workers share them is full."""


class Metrics:
    """The metrics of one application.

    If the folder in which workers share their counts is full, the service goes on without metrics.

    Parameters
    ----------
    on : bool
        Whether anything is counted.

    Examples
    --------
    >>> metrics = Metrics()
    >>> metrics.ask("heart", "chol")
    >>> b'farthing_features_asked_total{feature="chol",model="heart"} 1.0' in metrics.text()
    True
    """

    def __init__(self, on: bool = True) -> None:
        self._on = on
        try:
            self._make()
        except OSError as error:
            self._turn_off(error)

    def _make(self) -> None:
        registry = self._registry = CollectorRegistry()
        self._by_labels: dict[tuple[str, tuple[str, ...]], Any] = {}
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
        self._count("_requests", method, route, str(status))
        self._count("_seconds", method, route, amount=seconds)

    def work(self, model: str, seconds: float) -> None:
        """Record the time spent in a model."""
        self._count("_model_seconds", model, amount=seconds)

    def ask(self, model: str, feature: str) -> None:
        """Count a feature asked for."""
        self._count("_asked", model, feature)

    def spend(self, model: str, spent: float) -> None:
        """Record the spend of a finished row."""
        self._count("_spend", model, amount=spent)

    def reload(self, model: str, fault: str | None) -> None:
        """Count a file that was loaded, or was found faulty."""
        self._count("_reloads", model, "loaded" if fault is None else "faulty")

    def models(self, count: int) -> None:
        """Set the number of models."""
        if self._on:
            self._models.set(count)

    def _count(self, name: str, *labels: str, amount: float | None = None) -> None:
        """Add one to a counter, or an amount to a histogram, at some labels."""
        if not self._on:
            return
        try:
            # The look-up of the library itself is slow.
            found = self._by_labels.get((name, labels))
            if found is None:
                found = self._by_labels[name, labels] = getattr(self, name).labels(*labels)
            if amount is None:
                found.inc()
            else:
                found.observe(amount)
        except OSError as error:
            self._turn_off(error)

    def _turn_off(self, error: OSError) -> None:
        self._on = False
        log(logging.WARNING, "metrics are off", reason=error.strerror or type(error).__name__)

    def text(self) -> bytes:
        """Return the metrics of all workers in the format of Prometheus.

        Raises
        ------
        MetricsOffError
            If there are none.
        """
        if not self._on:
            raise MetricsOffError
        if not os.environ.get(FOLDER):
            return generate_latest(self._registry)
        # With several workers each writes its counts to files, and any worker can add up all of them.
        merged = CollectorRegistry()
        MultiProcessCollector(merged)  # type: ignore[no-untyped-call]
        return generate_latest(merged)
