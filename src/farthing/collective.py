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

from farthing._core import exact_digits, exact_group_sums, exact_sum

# See ExactSum of the compiled core: digits of 32 bits, the lowest bit is 2**-1074; then counts of infinities,
# negative infinities and NaNs.
_DIGIT_BITS: Final = 32
_UNIT_BITS: Final = 1074
# Bits of the integers that peers add up.
_WORD_BITS: Final = 64


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
    numbers = [np.ascontiguousarray(part, dtype=np.float64) for part in parts]
    found = peers()
    if found is None:
        return np.array([exact_sum(part) for part in numbers])
    digits = found.sum(np.concatenate([exact_digits(part) for part in numbers]))
    return np.array([_rounded(row) for row in digits.reshape(len(parts), -1).tolist()])


def group_totals(groups: NDArray[np.integer], values: NDArray[Any], n_groups: int) -> NDArray[np.float64]:
    """Return the sum of the values of each group over all rows, see `total`, shape (n_groups,).

    Examples
    --------
    >>> group_totals(np.array([0, 2, 0]), np.array([1.0, 5.0, 0.5]), 3)
    array([1.5, 0. , 5. ])
    """
    if peers() is None:
        return exact_group_sums(np.asarray(groups, dtype=np.int64), values, n_groups)
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


# Rows by their numbers, and what is known of all of them.


def row_numbers(n_rows: int) -> NDArray[np.int64]:
    """Return the place of each row of this process among all rows, ascending, shape (n_rows,).

    Examples
    --------
    >>> row_numbers(3)
    array([0, 1, 2])
    """
    found = peers()
    return np.arange(n_rows, dtype=np.int64) if found is None else found.row_numbers


def own_rows(numbers: NDArray[np.int64], n_rows: int) -> NDArray[np.int64]:
    """Return which of the ``n_rows`` rows of this process are among those with some numbers, ascending.

    Examples
    --------
    >>> own_rows(np.array([0, 2]), 3)
    array([0, 2])
    """
    if peers() is None:
        return numbers
    return np.flatnonzero(np.isin(row_numbers(n_rows), numbers, assume_unique=True))


def all_numbers(rows: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the numbers of the rows that this process and its peers choose, ascending.

    Parameters
    ----------
    rows : ndarray of int64, shape (n_chosen,)
        The choice of this process among its own rows.

    Examples
    --------
    >>> all_numbers(np.array([0, 2]))
    array([0, 2])
    """
    found = peers()
    if found is None:
        return rows
    # One bit per row of the table; no two peers have the same row, so the sum is the union.
    chosen = np.zeros(-(-found.n_rows // _WORD_BITS) * _WORD_BITS, dtype=np.bool_)
    chosen[found.row_numbers[rows]] = True
    words = found.sum(np.packbits(chosen).view(np.int64))
    return np.flatnonzero(np.unpackbits(words.view(np.uint8)))


def gather(values: NDArray[Any], rows: NDArray[np.int64] | None = None) -> NDArray[Any]:
    """Return what all processes have for the rows that they choose, in the order of these rows.

    Every process then holds all of it: this is for a number or two per row, never for the table.

    Parameters
    ----------
    values : ndarray of float64, int64 or uint64, shape (n_chosen, ...)
        Of the chosen rows of this process.
    rows : ndarray of int64, shape (n_chosen,), or None
        The choice of this process among its own rows; None means all of them.

    Examples
    --------
    >>> gather(np.array([0.5, 0.25]), np.array([0, 2]))
    array([0.5 , 0.25])
    """
    found = peers()
    if found is None:
        return values
    if rows is None:
        n_all, places = found.n_rows, found.row_numbers
    else:
        numbers = all_numbers(rows)
        n_all, places = len(numbers), np.searchsorted(numbers, found.row_numbers[rows])
    # The bits as integers: each place has those of one peer, and zero of the others.
    bits = np.zeros((n_all, *values.shape[1:]), dtype=np.int64)
    bits[places] = np.ascontiguousarray(values).view(np.int64)
    return found.sum(bits.reshape(-1)).view(values.dtype).reshape(bits.shape)


def _rounded(digits: list[int]) -> float:
    *long, infinite, negative, undefined = digits
    if undefined or (infinite and negative):
        return math.nan
    if infinite or negative:
        return math.inf if infinite else -math.inf
    whole = sum(digit << (_DIGIT_BITS * place) for place, digit in enumerate(long) if digit)
    try:
        # The quotient of two integers is rounded once, to the nearest double.
        return whole / (1 << _UNIT_BITS)
    except OverflowError:
        return math.inf if whole > 0 else -math.inf
