"""Types that the user trusts while a file is loaded, beyond those that are always safe."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar

# A context variable, since decoders have no argument for it; concurrent loads do not see each other's trust.
_TRUSTED: ContextVar[tuple[str, ...]] = ContextVar("trusted", default=())


@contextmanager
def trusting(names: Sequence[str]) -> Iterator[None]:
    """Trust some types, by their full names, while a file is read.

    Examples
    --------
    >>> with trusting(["lightgbm.basic.Booster"]):
    ...     trusted_names()
    ('lightgbm.basic.Booster',)
    >>> trusted_names()
    ()
    """
    if isinstance(names, str):
        raise ValueError(f"trusted is the single string {names!r}; write [{names!r}]")  # noqa: TRY004
    token = _TRUSTED.set(tuple(names))
    try:
        yield
    finally:
        _TRUSTED.reset(token)


def trusted_names() -> tuple[str, ...]:
    """Return the names of the types that the current load trusts."""
    return _TRUSTED.get()
