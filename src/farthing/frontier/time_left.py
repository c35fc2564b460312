"""Estimate how much longer many fits of different methods take."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Final

_MINUTE: Final = 60.0
_HOUR: Final = 3600.0


class TimeLeft:
    """Estimate the time left from the fits that are done.

    Fits of different methods may differ a thousandfold in time, so a fit is expected to take as long as the
    same setting on other folds, or, if none is done, as other settings of its method, or as was expected
    before. While there is none of these for some method, the estimate leaves that method out: it is more of a
    lower bound, and `is_bound` is True. Fits of the method that is under way then count as long as it has run
    so far. The ratio of elapsed time to the time of the fits that are done accounts
    for parallel jobs. Between fits the estimate counts down, by no more than the fit that is next.

    Parameters
    ----------
    settings : sequence of pairs (method, setting)
        One for each fit, in the order in which they are begun.
    limit : float, optional
        Seconds after which no more fits are started.
    expected : mapping, optional
        From methods to the seconds that a fit is expected to take.
    clock : callable
        Returns the time in seconds.

    Examples
    --------
    >>> now = 0.0
    >>> left = TimeLeft([("fast", 0), ("fast", 0), ("slow", 1), ("slow", 1)], clock=lambda: now)
    >>> now = 1.0
    >>> left.done("fast", 0, seconds=1.0)
    >>> left.seconds(), left.is_bound
    (1.0, True)
    >>> now = 11.0
    >>> left.done("slow", 1, seconds=10.0)
    >>> left.seconds(), left.is_bound
    (11.0, False)
    """

    def __init__(
        self,
        settings: Sequence[tuple[str, Hashable]],
        *,
        limit: float | None = None,
        expected: Mapping[str, float] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._waiting = Counter(settings)
        self._limit = limit
        self._expected = expected or {}
        self._clock = clock
        self._start = clock()
        # When a fit was done last, in seconds from the start.
        self._last = 0.0
        # Number and total time of the fits that are done: of a setting, of a method, and, by None, of all.
        self._counts: Counter[Hashable] = Counter()
        self._totals: dict[Hashable, float] = {}

    def done(self, method: str, setting: Hashable, seconds: float | None = None) -> None:
        """Count a fit as done.

        Parameters
        ----------
        method, setting
            As one of ``settings``.
        seconds : float, optional
            How long it took; None if it was read from a cache, in no time.
        """
        self._waiting[method, setting] -= 1
        if seconds is None:
            return
        self._last = self._clock() - self._start
        for key in ((method, setting), method, None):
            self._counts[key] += 1
            self._totals[key] = self._totals.get(key, 0.0) + seconds

    def drop(self, method: str, setting: Hashable) -> int:
        """Leave out the fits of a setting that are not done, and return how many they are."""
        return self._waiting.pop((method, setting), 0)

    @property
    def is_bound(self) -> bool:
        """Whether there is a method of which no fit is done, nor a time known before."""
        return any(
            self._of_fit(method, setting) is None for (method, setting), n in self._waiting.items() if n > 0
        )

    def seconds(self) -> float | None:
        """Return the estimate in seconds; None if nothing is known of any fit."""
        waiting = {fit: n for fit, n in self._waiting.items() if n > 0}
        times = {fit: self._of_fit(*fit) for fit in waiting}
        if all(seconds is None for seconds in times.values()) and not self._counts[None]:
            return None
        elapsed = self._clock() - self._start
        pace = self._last / self._totals[None] if self._totals.get(None) else 1.0
        work = pace * sum(waiting[fit] * seconds for fit, seconds in times.items() if seconds is not None)
        # The fit that is next is under way.
        running = elapsed - self._last
        first = next(iter(times), None)
        if first is not None and times[first] is None:
            left = work + running * sum(n for fit, n in waiting.items() if fit[0] == first[0])
            if left == 0:
                return None
        else:
            left = max(work - min(running, pace * (0.0 if first is None else times[first] or 0.0)), 0.0)
        return left if self._limit is None else min(left, max(self._limit - elapsed, 0.0))

    def _of_fit(self, method: str, setting: Hashable) -> float | None:
        for known in ((method, setting), method):
            if self._counts[known]:
                return self._totals[known] / self._counts[known]
        return self._expected.get(method)


def in_words(seconds: float | None, *, is_bound: bool = False) -> str:
    """Return a time that is left as text.

    Parameters
    ----------
    seconds : float or None
        The time; None is unknown.
    is_bound : bool
        Whether it may be longer.

    Examples
    --------
    >>> in_words(8.2), in_words(150.0), in_words(2 * 3600.0, is_bound=True), in_words(None)
    ('about 8 s left', 'about 2.5 min left', 'about 2.0 h left, or more', '')
    """
    if seconds is None:
        return ""
    if seconds < 100:
        amount = f"{seconds:.0f} s"
    elif seconds < 100 * _MINUTE:
        amount = f"{seconds / _MINUTE:.1f} min"
    else:
        amount = f"{seconds / _HOUR:.1f} h"
    return f"about {amount} left{', or more' if is_bound else ''}"
