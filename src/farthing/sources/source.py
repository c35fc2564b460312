"""A source: where one or several features of a row come from, and what happens if they do not come."""

from __future__ import annotations

import asyncio
import inspect
import statistics
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final

from farthing.costs.validation import amount, quoted, unique
from farthing.errors import SourceError
from farthing.sources.breaker import CircuitBreaker
from farthing.sources.row_answers import AwaitedAnswers, RowAnswers
from farthing.sources.timed_calls import TimedCalls
from farthing.walks import REFUSED

# Calls whose seconds are kept.
_RECENT: Final = 128


class Source:
    """One or several features of a row from a function, a coroutine function, or an adapter.

    A walk that asks for a feature of the source calls it once for the row; the other features are then there.
    A call that fails, takes too long, or gives something else than the features is refused: it costs nothing
    by the price list, and the walk goes on without.

    Parameters
    ----------
    fetch : callable or coroutine function
        From a row, as it is given to `farthing.consult`, to the values: a mapping by feature, a sequence in
        their order, or the value itself if there is one feature. None is a value: measured, but missing.
        ``farthing.REFUSED``, for all or for one of them, is not available, which is no failure.
    features : str or iterable of str
        What the source gives.
    name : str, optional
        The name of the source and of its group in the price list; by default its features.
    price : float
        What a call costs, whatever features of it are used; the shared cost of the group.
    own : mapping of str to float, optional
        What a feature costs on top of that.
    timeout : float or None
        Seconds that a call may take; None means no limit.
    retries : int
        Further attempts after a failed one. A `SourceError` that ``fetch`` raises is final.
    pause : float
        Seconds before the first of them; each further pause is twice as long.
    breaker : CircuitBreaker, optional
        When to leave the source alone; by default 30 seconds after five failures in a row.
    fetch_async : coroutine function, optional
        What `farthing.aconsult` calls in place of ``fetch``.

    Attributes
    ----------
    n_calls, n_failures : int
        Calls that were made, and how many of them failed.

    Examples
    --------
    >>> lab = Source(lambda row: {"chol": 233, "fbs": 1}, ["chol", "fbs"], name="lab", price=7.5)
    >>> lab.read({"id": 63})
    {'chol': 233, 'fbs': 1}
    """

    def __init__(
        self,
        fetch: Callable[[Any], Any],
        features: str | Iterable[str],
        *,
        name: str | None = None,
        price: float = 0.0,
        own: Mapping[str, float] | None = None,
        timeout: float | None = 10.0,
        retries: int = 0,
        pause: float = 0.1,
        breaker: CircuitBreaker | None = None,
        fetch_async: Callable[[Any], Any] | None = None,
    ) -> None:
        if not callable(fetch):
            raise TypeError(f"fetch must be a function of a row; got {type(fetch).__name__}")
        self.features = unique([features] if isinstance(features, str) else features)
        if not self.features:
            raise ValueError("a source gives at least one feature; name those that it gives")
        self.name = "+".join(self.features) if name is None else name
        self.price = amount(price, f"the price of the source {self.name!r}")
        self.own = dict.fromkeys(self.features, 0.0) | _own_prices(self.name, self.features, own or {})
        self.timeout = _seconds(timeout, "timeout")
        self.retries = _count(retries)
        self.pause = _seconds(pause, "pause") or 0.0
        self.breaker = breaker or CircuitBreaker()
        self.n_calls = self.n_failures = 0
        self._fetch = fetch
        self._fetch_async = fetch_async or fetch
        self._calls = TimedCalls()
        self._seconds: deque[float] = deque(maxlen=_RECENT)

    @property
    def latency(self) -> float | None:
        """The median of the seconds that recent calls took which succeeded; None before the first."""
        return statistics.median(self._seconds) if self._seconds else None

    def read(self, row: Any) -> dict[str, Any]:
        """Return the values of all features for a row, `REFUSED` for those that are not available.

        Raises
        ------
        SourceError
            If all attempts fail, or the source is left alone after earlier failures.
        TypeError
            If ``fetch`` is a coroutine function, which `read_async` awaits.
        """
        if inspect.iscoroutinefunction(self._fetch):
            raise TypeError(f"the source {self.name!r} is a coroutine function; use await farthing.aconsult")
        attempts = _Attempts(self)
        while (wait := attempts.next_wait()) is not None:
            time.sleep(wait)
            if not attempts.are_admitted():
                break
            with attempts.one():
                return attempts.succeed(self._calls.call(partial(self._fetch, row), self.timeout))
        raise attempts.error()

    async def read_async(self, row: Any) -> dict[str, Any]:
        """Return what `read` does; a plain function is called in a thread."""
        attempts = _Attempts(self)
        while (wait := attempts.next_wait()) is not None:
            await asyncio.sleep(wait)
            if not attempts.are_admitted():
                break
            with attempts.one():
                fetch = partial(self._fetch_async, row)
                return attempts.succeed(await self._calls.call_async(fetch, self.timeout))
        raise attempts.error()

    def begin(self, row: Any) -> RowAnswers:
        """Return the answers of the source for a row, as `farthing.consult` takes them."""
        return RowAnswers([self], row)

    def begin_async(self, row: Any) -> AwaitedAnswers:
        """Return the answers of the source for a row, as `farthing.aconsult` takes them."""
        return AwaitedAnswers([self], row)

    def values(self, given: Any) -> dict[str, Any]:
        """Return what a call gave by feature; raise SourceError if it is something else than the features."""
        if inspect.isawaitable(given):
            if inspect.iscoroutine(given):
                given.close()  # or Python warns that it was never awaited
            raise SourceError(
                "it gave an awaitable; pass a coroutine function and use await farthing.aconsult"
            )
        if given is REFUSED:
            return dict.fromkeys(self.features, REFUSED)
        if hasattr(given, "keys") and hasattr(given, "__getitem__"):
            present = set(given.keys())
            if not present.intersection(self.features):
                raise SourceError(f"it gave {quoted(present) or 'nothing'}, but none of its features")
            return {name: given[name] if name in present else REFUSED for name in self.features}
        if len(self.features) == 1 and not isinstance(given, (list, tuple)):
            return {self.features[0]: given}
        if isinstance(given, (str, bytes)) or not hasattr(given, "__len__"):
            raise SourceError(f"it gave {type(given).__name__}; expected a mapping from features to values")
        if len(given) != len(self.features):
            raise SourceError(f"it gave {len(given)} values for {len(self.features)} features")
        return dict(zip(self.features, given, strict=True))

    def note(self, seconds: float | None) -> None:
        """Note a call and the seconds that it took; None if it failed."""
        self.n_calls += 1
        if seconds is None:
            self.n_failures += 1
            self.breaker.failed()
        else:
            self._seconds.append(seconds)
            self.breaker.succeeded()

    def __repr__(self) -> str:
        return f"Source({self.name!r}, {list(self.features)}, price={self.price:g})"


class _Attempts:
    """The attempts to read one row from a source."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self._made = 0
        self._begin = 0.0
        self._fault: Exception | None = None

    def next_wait(self) -> float | None:
        """Return the seconds before the next attempt; None if there is none."""
        source = self._source
        final = isinstance(self._fault, SourceError) or self._made > source.retries
        if final or source.breaker.is_open:
            return None
        return source.pause * 2 ** (self._made - 1) if self._made else 0.0

    def are_admitted(self) -> bool:
        """Return whether the breaker admits one more, after the wait: what ends that is no trial."""
        admitted = self._source.breaker.admits()
        self._made += admitted
        return admitted

    def one(self) -> _Attempts:
        self._begin = time.perf_counter()
        return self

    def succeed(self, given: Any) -> dict[str, Any]:
        values = self._source.values(given)
        self._source.note(time.perf_counter() - self._begin)
        return values

    def error(self) -> SourceError:
        name, fault = self._source.name, self._fault
        if fault is None:
            return SourceError(f"the source {name!r} is left alone after its failures")
        what = str(fault) or type(fault).__name__
        times = f" ({self._made} attempts)" if self._made > 1 else ""
        error = SourceError(f"the source {name!r} failed{times}: {what}")
        error.__cause__ = fault
        return error

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: Any) -> bool:
        if error is None:
            return False
        # Whatever ends an attempt counts, or a trial of the breaker would never end.
        self._source.note(None)
        if not isinstance(error, Exception):
            return False  # KeyboardInterrupt, or the cancellation of the task
        self._fault = error
        return True


def _own_prices(name: str, features: tuple[str, ...], own: Mapping[str, float]) -> dict[str, float]:
    if unknown := [feature for feature in own if feature not in features]:
        raise ValueError(f"own of the source {name!r} has {quoted(unknown)}, which it does not give")
    return {feature: amount(price, f"the cost of {feature!r}") for feature, price in own.items()}


def _seconds(value: float | None, what: str) -> float | None:
    if value is not None and not 0 <= value < float("inf"):
        raise ValueError(f"{what} must be a number of seconds, or None; got {value!r}")
    return value


def _count(retries: int) -> int:
    if not isinstance(retries, int) or isinstance(retries, bool) or retries < 0:
        raise ValueError(f"retries must be a whole number, zero or more; got {retries!r}")
    return retries
