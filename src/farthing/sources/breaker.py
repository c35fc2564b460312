"""The circuit breaker of a source: after failures in a row it is left alone for a while."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable


class CircuitBreaker:
    """Refuse calls of a source that failed several times in a row, until it has had a rest.

    After the rest one call is let through as a trial: its success closes the circuit, its failure begins
    another rest. Safe to use from several threads.

    Parameters
    ----------
    failures : int
        Failures in a row that open the circuit.
    rest : float
        Seconds for which no call is made.
    clock : callable
        Returns seconds; for tests.

    Examples
    --------
    >>> breaker = CircuitBreaker(failures=2, rest=60)
    >>> breaker.failed(), breaker.failed(), breaker.admits()
    (None, None, False)
    """

    def __init__(
        self, failures: int = 5, rest: float = 30.0, *, clock: Callable[[], float] = time.monotonic
    ) -> None:
        if failures < 1:
            raise ValueError(f"failures must be at least 1; got {failures!r}")
        if not rest >= 0:  # written so that NaN fails, too
            raise ValueError(f"rest must be a number of seconds, zero or more; got {rest!r}")
        self.failures = failures
        self.rest = rest
        self._clock = clock
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._opened: float | None = None  # when the rest began; None while the circuit is closed
        self._on_trial = False

    @property
    def is_open(self) -> bool:
        """Whether the source is left alone now."""
        with self._lock:
            return self._rests()

    def admits(self) -> bool:
        """Return whether a call may be made now; whoever makes it reports `succeeded` or `failed`."""
        with self._lock:
            if self._opened is None:
                return True
            if self._rests() or self._on_trial:
                return False
            self._on_trial = True
            return True

    def succeeded(self) -> None:
        """Note that a call succeeded."""
        with self._lock:
            self._in_a_row, self._opened, self._on_trial = 0, None, False

    def failed(self) -> None:
        """Note that a call failed."""
        with self._lock:
            self._in_a_row += 1
            if self._on_trial or self._in_a_row >= self.failures:
                self._opened, self._on_trial = self._clock(), False

    def _rests(self) -> bool:
        return self._opened is not None and self._clock() - self._opened < self.rest
