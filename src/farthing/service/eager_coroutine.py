"""A coroutine that is started at once, since it often finishes without waiting."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class EagerCoroutine(Generic[Made]):
    """Run a coroutine up to its first wait; awaiting this object continues from there.

    A timeout is expensive to set up, and most request bodies have arrived before they are read.

    Parameters
    ----------
    work : coroutine

    Attributes
    ----------
    done : bool
        Whether it has finished.
    result : object
        What it returned, if it is done.

    Examples
    --------
    >>> async def quick():
    ...     return 7
    >>> eager = EagerCoroutine(quick())
    >>> eager.done, eager.result
    (True, 7)
    """

    def __init__(self, work: Coroutine[Any, Any, Made]) -> None:
        self._work = work
        self.done = False
        self.result: Made
        try:
            self._awaited = work.send(None)
        except StopIteration as end:
            self.done, self.result = True, end.value

    def __await__(self) -> Generator[Any, Any, Made]:
        """Continue from where the coroutine waits."""
        while not self.done:
            try:
                # What the coroutine waits for goes to the event loop; results and cancellations come back
                # through here.
                sent = yield self._awaited
            except BaseException as error:
                self._resume(self._work.throw, error)
            else:
                self._resume(self._work.send, sent)
        return self.result

    def _resume(self, resume: Any, value: Any) -> None:
        try:
            self._awaited = resume(value)
        except StopIteration as end:
            self.done, self.result = True, end.value
