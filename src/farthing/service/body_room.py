"""A bound on the bytes of large bodies that one worker holds, however many connections they come from."""

from __future__ import annotations

from types import TracebackType

from farthing.service.work_queue import BusyError


class BodyRoom:
    """Room for the large bodies of one worker; small ones are bounded by the number of connections.

    Bytes count once they have arrived: a client that only announces a body takes no room.

    Parameters
    ----------
    max_bytes : int
        Bytes of all large bodies together.

    Examples
    --------
    >>> room = BodyRoom(max_bytes=100)
    >>> with room.body() as first, room.body() as second:
    ...     first.grow(80)
    ...     second.grow(30)
    Traceback (most recent call last):
    farthing.service.work_queue.BusyError
    >>> room.taken
    0
    """

    def __init__(self, max_bytes: int) -> None:
        self.max_bytes = max_bytes
        self.taken = 0

    def body(self) -> HeldBody:
        """Return the account of one body, which gives its room back at the end."""
        return HeldBody(self)


class HeldBody:
    """The room that one body takes."""

    __slots__ = ("_room", "_size")

    def __init__(self, room: BodyRoom) -> None:
        self._room = room
        self._size = 0

    def grow(self, size: int) -> None:
        """Take room for a body that has grown to a size in bytes.

        Raises
        ------
        BusyError
            If there is none; the client should try again later.
        """
        more = size - self._size
        if self._room.taken + more > self._room.max_bytes:
            raise BusyError
        self._room.taken += more
        self._size = size

    def __enter__(self) -> HeldBody:
        """Begin to count."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Give the room back."""
        self._room.taken -= self._size
        self._size = 0
