"""A bar on the terminal while a long job runs."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import Any, Self


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

    Examples
    --------
    >>> with Progress(2, "fits", shown=False) as progress:
    ...     progress.step()
    """

    def __init__(self, total: int, title: str, *, shown: bool) -> None:
        self._total = total
        self._title = title
        self._done = 0
        self._bar: Any = None
        self._plain = False
        if not shown or not total:
            return
        try:
            from rich.console import Console  # noqa: PLC0415 - optional
            from rich.progress import Progress as Bar  # noqa: PLC0415

            self._bar = Bar(console=Console(stderr=True))
            self._task = self._bar.add_task(title, total=total)
        except ImportError:
            self._plain = True

    def step(self) -> None:
        """Count one more."""
        self._done += 1
        if self._bar is not None:
            self._bar.advance(self._task)
        # A line per tenth of the work.
        elif self._plain and self._done * 10 // self._total > (self._done - 1) * 10 // self._total:
            print(f"{self._title}: {self._done} of {self._total}", file=sys.stderr, flush=True)

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._bar is not None:
            self._bar.stop()
