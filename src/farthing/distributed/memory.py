"""Memory of a rank: what a round frees is kept for the next one, until the fit ends.

Dask lets its workers give freed memory back at once (the option ``distributed.nanny.pre-spawn-environ`` sets
MALLOC_TRIM_THRESHOLD_), which is right for results of tasks. A fit takes and frees the same arrays in each
round, and clearing their pages again each time takes up to a third of it.
"""

from __future__ import annotations

import ctypes
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

# Of glibc's malloc.h: free memory at the end of the heap, and sizes that get pages of their own.
_TRIM_THRESHOLD: Final = -1
_MMAP_THRESHOLD: Final = -3
_DEFAULT: Final = 128 * 1024
_KEPT: Final = 256 * 2**20
_LARGEST_KEPT: Final = 32 * 2**20  # the most that glibc takes

_lock = threading.Lock()
_n_fits = 0


@contextmanager
def kept_memory() -> Iterator[None]:
    """Keep freed memory in a ``with`` block, and give it back at its end; only glibc can."""
    global _n_fits  # noqa: PLW0603 - it counts what the process does
    with _lock:
        _n_fits += 1
        _set_thresholds(trim=_KEPT, mmap=_LARGEST_KEPT)
    try:
        yield
    finally:
        with _lock:
            _n_fits -= 1
            if not _n_fits:
                given = os.environ.get("MALLOC_TRIM_THRESHOLD_", "")
                _set_thresholds(trim=int(given) if given.isdigit() else _DEFAULT, mmap=_DEFAULT)
                _give_back()


def _set_thresholds(trim: int, mmap: int) -> None:
    if (mallopt := getattr(_libc(), "mallopt", None)) is not None:
        mallopt(_TRIM_THRESHOLD, trim)
        mallopt(_MMAP_THRESHOLD, mmap)


def _give_back() -> None:
    if (malloc_trim := getattr(_libc(), "malloc_trim", None)) is not None:
        malloc_trim(0)


def _libc() -> ctypes.CDLL | None:
    """Return the C library of the process, if it can be had by name."""
    try:
        return ctypes.CDLL(None)
    except (OSError, TypeError):  # as on Windows
        return None
