"""Sums over all rows of a fit, wherever they are: in this process, or at peers that hold the other rows.

A fit on a cluster is one fit per worker, on the rows of the worker. All of them take the same steps; whatever
is a sum over rows is asked for here, and is the sum over the rows of all of them. A process without peers
gets the same bits from all rows at once, since these sums are exact: neither the order of the rows nor their
place matters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final, Protocol

import numpy as np
from numpy.typing import NDArray

from farthing._core import exact_digits

# See ExactSum of the compiled core: digits of 32 bits, the lowest bit is 2**-1074; then counts of infinities,
# negative infinities and NaNs.
_DIGIT_BITS: Final = 32
_UNIT_BITS: Final = 1074


class Peers(Protocol):
    """The processes that fit one model together; each calls these methods in the same order.

    Attributes
    ----------
    size : int
        Number of processes, this one included.
    n_rows : int
        Rows of the table, of all peers.
    row_numbers : ndarray of int64, shape (n_rows,)
        The place of each row of this process among all rows.
    """

    size: int
    n_rows: int

    @property
    def row_numbers(self) -> NDArray[np.int64]:
        """The place of each row of this process among all rows."""

    def sum(self, numbers: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sums over all peers, entry by entry."""

    def largest(self, numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the maxima over all peers, entry by entry."""


_peers: ContextVar[Peers | None] = ContextVar("farthing_peers", default=None)
# What the fit has finished so far, to continue from if a peer is lost.
_saved: ContextVar[list[Any] | None] = ContextVar("farthing_saved", default=None)


def peers() -> Peers | None:
    """Return the peers of the current fit; None if it has all rows."""
    return _peers.get()


@contextmanager
def among(peers: Peers, saved: list[Any]) -> Iterator[None]:
    """Let fits in a ``with`` block be parts of one fit of all peers.

    Parameters
    ----------
    peers : Peers
        The peers.
    saved : list
        What an earlier attempt has saved; `save` adds to it.
    """
    tokens = _peers.set(peers), _saved.set(saved)
    try:
        yield
    finally:
        _peers.reset(tokens[0])
        _saved.reset(tokens[1])


def save(step: Any) -> None:
    """Enter a finished step, such as a round of trees, which the next attempt need not repeat."""
    steps = _saved.get()
    if steps is not None:
        steps.append(step)


def saved() -> list[Any]:
    """Return the steps that an earlier attempt has finished.

    Examples
    --------
    >>> saved()
    []
    """
    return list(_saved.get() or [])


def count(n_rows: int) -> int:
    """Return a number of rows, with those of all peers.

    Examples
    --------
    >>> count(3)
    3
    """
    found = peers()
    return n_rows if found is None else int(found.sum(np.array([n_rows], dtype=np.int64))[0])


def total(values: NDArray[Any]) -> float:
    """Return the sum over all rows, rounded once: the same bits for any order and any place of the rows.

    Parameters
    ----------
    values : ndarray, shape (n_rows,)
        Of the rows of this process.

    Examples
    --------
    >>> total(np.array([1e100, 1.0, -1e100]))
    1.0
    """
    return float(totals([values])[0])


def totals(parts: list[NDArray[Any]]) -> NDArray[np.float64]:
    """Return the sum over all rows of each of several arrays, see `total`, in one exchange.

    Examples
    --------
    >>> totals([np.array([0.1, 0.2]), np.array([2.0])])
    array([0.3, 2. ])
    """
    digits = np.concatenate([exact_digits(np.ascontiguousarray(part, dtype=np.float64)) for part in parts])
    found = peers()
    if found is not None:
        digits = found.sum(digits)
    return np.array([_rounded(row) for row in digits.reshape(len(parts), -1).tolist()])


def group_totals(groups: NDArray[np.integer], values: NDArray[Any], n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the values of each group over all rows, see `total`, shape (n_groups,).

    Examples
    --------
    >>> group_totals(np.array([0, 2, 0]), np.array([1.0, 5.0, 0.5]), 3)
    array([1.5, 0. , 5. ])
    """
    return totals([np.asarray(values)[groups == group] for group in range(n_groups)])


def mean(values: NDArray[Any], weights: NDArray[Any]) -> float:
    """Return the weighted mean over all rows, from two exact sums.

    Examples
    --------
    >>> mean(np.array([1.0, 4.0]), np.array([2.0, 1.0]))
    2.0
    """
    above, below = totals([np.asarray(values) * weights, np.asarray(weights)])
    return float(above / below)


def bounds(values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the least and the largest value of all rows.

    Examples
    --------
    >>> bounds(np.array([3.0, -1.0, 2.0]))
    (-1.0, 3.0)
    """
    both = np.array([-values.min(initial=np.inf), values.max(initial=-np.inf)], dtype=np.float64)
    found = peers()
    if found is not None:
        both = found.largest(both)
    return float(-both[0]), float(both[1])


def _rounded(digits: list[int]) -> float:
    *long, infinite, negative, undefined = digits
    if undefined or (infinite and negative):
        return math.nan
    if infinite or negative:
        return math.inf if infinite else -math.inf
    whole = sum(digit << (_DIGIT_BITS * place) for place, digit in enumerate(long) if digit)
    # The quotient of two integers is rounded once, to the nearest double.
    return whole / (1 << _UNIT_BITS)
