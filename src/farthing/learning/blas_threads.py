"""One thread for products of matrices."""

from __future__ import annotations

from functools import cache
from typing import Any

from threadpoolctl import ThreadpoolController


def one_thread() -> Any:
    """Return a context in which products of matrices have one thread.

    Products of narrow matrices are no faster with more, and the bits do not depend on it.
    """
    return _controller().limit(limits=1, user_api="blas")


@cache
def _controller() -> Any:
    return ThreadpoolController()
