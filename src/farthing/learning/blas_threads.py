"""Matrix products in a single thread."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Final

from threadpoolctl import ThreadpoolController

# The limit is one of the process: the first thread that asks for it sets it, the last one lifts it.
_lock: Final = Lock()
_limits: Final[list[Any]] = []


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Return a context in which matrix products use one thread.

    Products of narrow matrices are no faster with more threads, and with one their bits do not depend on the
    machine's number of cores.

    Examples
    --------
    >>> import numpy as np
    >>> with one_blas_thread():
    ...     np.ones((2, 2)) @ np.ones(2)
    array([2., 2.])
    """
    with _lock:
        _limits.append(None if _limits else _controller().limit(limits=1, user_api="blas"))
    try:
        yield
    finally:
        with _lock:
            limit = _limits[0]
            del _limits[-1]
            if not _limits:
                limit.restore_original_limits()


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds, so it is done once.
    return ThreadpoolController()
