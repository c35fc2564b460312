"""Matrix products in a single thread."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_blas_thread() -> Any:
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
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    # Finding the loaded libraries takes milliseconds, so it is done once.
    return ThreadpoolController()
