"""A bar on the terminal while a long job runs."""

from __future__ import annotations

import sys
import time
from collections.abc import Hashable
from types import TracebackType
from typing import Any, Self

from farthing.frontier.time_left import TimeLeft, in_words


class Progress:
    """Count steps up to a total: a bar where rich is installed, else a line now and then.

    Parameters
    ----------
    total : int
        Number of steps.
    title : str
        What is done.
    shown : bool
        False shows nothing.
    time_left : TimeLeft, optional
        Estimates the time left; `step` tells it what is done.
    expected : float, optional
        How many seconds all steps are expected to take, if there is no ``time_left``.

    Examples
    --------
    >>> with Progress(2, "fits", shown=False) as progress:
    ...     progress.step()
    """

    def __init__(
        self,
        total: int,
        title: str,
        *,
        shown: bool,
        time_left: TimeLeft | None = None,
        expected: float | None = None,
    ) -> None:
        self._total = total
        self._title = title
        self._time_left = time_left
        self._expected = expected
        self._start = time.monotonic()
        self._done = 0
        self._bar: Any = None
        self._plain = False
        if not shown or not total:
            return
        try:
            self._bar = _bar(self.left)
            # The bar of a single step moves to and fro until the step is done.
            self._task = self._bar.add_task(title, total=total if total > 1 else None)
        except ImportError:
            self._plain = True

    def step(self, method: str = "", setting: Hashable = None, seconds: float | None = None) -> None:
        """Count one more; the parameters are those of `TimeLeft.done`, if there is one."""
        self._done += 1
        if self._time_left is not None:
            self._time_left.done(method, setting, seconds)
        if self._bar is not None:
            self._bar.update(self._task, total=self._total, completed=self._done)
        # A line per tenth of the work.
        elif self._plain and self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            self._print(f"{self._title}: {self._done} of {self._total}")

    def skip(self, method: str, setting: Hashable) -> None:
        """Leave out all further steps of a setting."""
        if self._time_left is not None:
            self._total -= self._time_left.drop(method, setting)
        if self._bar is not None:
            self._bar.update(self._task, total=self._total)

    def say(self, text: str) -> None:
        """Show a few words beside the title."""
        if self._bar is not None:
            self._bar.update(self._task, description=f"{self._title} ({text})")
        elif self._plain:
            self._print(f"{self._title}: {text}")

    def left(self) -> str:
        """Return the time left, in words; empty if there is no estimate, or nothing left to do."""
        if self._done >= self._total:
            return ""
        is_bound = self._time_left is not None and self._time_left.is_bound
        return in_words(self.seconds_left(), is_bound=is_bound)

    def seconds_left(self) -> float | None:
        """Return the estimate of the time left, in seconds; None if there is none."""
        if self._time_left is not None:
            return self._time_left.seconds()
        elapsed = time.monotonic() - self._start
        if self._expected is not None:
            return max(self._expected - elapsed, 0.0)
        # Without any estimate, steps are taken to be alike.
        return elapsed * (self._total - self._done) / self._done if self._done else None

    def __enter__(self) -> Self:
        self._start = time.monotonic()
        if self._bar is not None:
            self._bar.start()
        elif self._plain and self._total == 1:
            self._print(self._title)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()

    def _print(self, text: str) -> None:
        left = self.left()
        print(f"{text}, {left}" if left else text, file=sys.stderr, flush=True)


def _bar(left: Any) -> Any:
    """Return a bar of rich with a column for the time left."""
    from rich.console import Console  # noqa: PLC0415 - optional
    from rich.progress import (  # noqa: PLC0415
        BarColumn,
        ProgressColumn,
        TaskProgressColumn,
        TextColumn,
        TimeElapsedColumn,
    )
    from rich.progress import Progress as Bar  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    class TimeLeftColumn(ProgressColumn):
        def render(self, task: Any) -> Text:  # the estimate is not rich's
            return Text(left())

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeLeftColumn(),
        console=Console(stderr=True),
    )
