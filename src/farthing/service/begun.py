"""A coroutine that is begun at once, in the hope that it need not wait."""

from __future__ import annotations

from collections.abc import Coroutine, Generator
from typing import Any, Generic, TypeVar

Made = TypeVar("Made")


class Begun(Generic[Made]):
    """Run a coroutine up to where it first waits; awaiting this goes on from there.

    A limit of time is dear to set up, and most bodies have arrived before they are read.

    Parameters
    ----------
    work : coroutine

    Attributes
    ----------
    done : bool
        Whether it came to its end without waiting.
    result : object
        What it made, if it is done.

    Examples
    --------
    >>> async def quick():
    ...     return 7
    >>> begun = Begun(quick())
    >>> begun.done, begun.result
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
        """Go on from where the coroutine waits."""
        while not self.done:
            try:
                heard = yield self._awaited
            except BaseException as error:
                self._resume(self._work.throw, error)
            else:
                self._resume(self._work.send, heard)
        return self.result

    def _resume(self, how: Any, given: Any) -> None:
        try:
            self._awaited = how(given)
        except StopIteration as end:
            self.done, self.result = True, end.value
