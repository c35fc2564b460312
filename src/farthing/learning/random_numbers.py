"""Counter-based random numbers: each is a pure function of a key and a counter, without state."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from farthing.collective import Peers, peers

# The increment of SplitMix64: the odd integer nearest to 2**64 divided by the golden ratio.
_WEYL: Final = np.uint64(0x9E3779B97F4A7C15)


def random_bits(key: int | NDArray[np.uint64], counters: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return 64 random bits for each counter, the same as ``random_bits`` of the compiled core.

    Parameters
    ----------
    key : int or ndarray of uint64, shaped as ``counters``
        0 to 2**64 - 1, for all counters or for each.
    counters : ndarray of uint64

    Returns
    -------
    ndarray of uint64, shaped as ``counters``

    Examples
    --------
    >>> random_bits(7, np.arange(3, dtype=np.uint64)) % np.uint64(100)
    array([...], dtype=uint64)
    """
    # The key is mixed first: the streams of keys that differ by a multiple of the increment would otherwise
    # be the same numbers, shifted.
    start = _mix(np.atleast_1d(np.asarray(key, dtype=np.uint64)) + _WEYL)
    return _mix(start + (counters + np.uint64(1)) * _WEYL)


def draw_rows(key: int, n_rows: int, n_drawn: int) -> NDArray[np.int64]:
    """Sample rows without replacement, every set of that size equally likely; return ascending indices.

    With peers, ``n_rows`` is the number of rows of this process and ``n_drawn`` that of all of them: the same
    rows are drawn as if one process had all.

    Examples
    --------
    >>> len(draw_rows(7, 100, 30)), draw_rows(7, 3, 3)
    (30, array([0, 1, 2]))
    """
    # The rows with the smallest random numbers: O(n), and a pure function of the key.
    if (among := peers()) is not None:
        bits = random_bits(key, among.row_numbers.astype(np.uint64))
        return np.flatnonzero(bits <= _smallest(bits, n_drawn, among))
    bits = random_bits(key, np.arange(n_rows, dtype=np.uint64))
    chosen = np.argpartition(bits, n_drawn - 1)[:n_drawn] if n_drawn < n_rows else np.arange(n_rows)
    return np.sort(chosen).astype(np.int64)


def _smallest(bits: NDArray[np.uint64], rank: int, among: Peers) -> np.uint64:
    """Return the ``rank``-th smallest of the numbers of all peers, 16 bits at a time; all of them differ."""
    prefix, left = 0, rank
    for shift in (48, 32, 16, 0):
        inside = bits if shift == 48 else bits[bits >> np.uint64(shift + 16) == np.uint64(prefix)]
        digits = (inside >> np.uint64(shift)) & np.uint64(0xFFFF)
        counts = among.sum(np.bincount(digits.astype(np.int64), minlength=1 << 16).astype(np.int64))
        below = np.cumsum(counts)
        digit = int(np.searchsorted(below, left))
        left -= int(below[digit] - counts[digit])
        prefix = prefix << 16 | digit
    return np.uint64(prefix)


def subkey(key: int, part: int) -> int:
    """Derive the key of one of many independent random streams."""
    return int(random_bits(key, np.array([part], dtype=np.uint64))[0])


def _mix(z: NDArray[np.uint64]) -> NDArray[np.uint64]:
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))
