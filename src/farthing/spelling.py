"""Suggestions for misspelt names, in bounded time: the name and the list may come from a hostile request."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from itertools import takewhile
from typing import Final

_MAX_LENGTH: Final = 100
_MAX_COMPARED: Final = 500


def close_names(name: str, names: Iterable[str], n: int = 1) -> list[str]:
    """Return the names most like another one, best first.

    Of many names, only those that begin or end like it are compared, and at most 500 of them.

    Parameters
    ----------
    name : str
        What was written; one of more than 100 characters has no suggestion.
    names : iterable of str
        What could have been meant.
    n : int
        How many to return at most.

    Examples
    --------
    >>> close_names("trestbp", ["age", "trestbps", "chol"])
    ['trestbps']
    >>> close_names("x199990", [f"x{i}" for i in range(20_000)])
    ['x19999']
    """
    if len(name) > _MAX_LENGTH:
        return []
    # Names that differ more in length cannot reach the similarity of 0.6 that difflib asks for.
    shortest, longest = 3 * len(name) / 7, 7 * len(name) / 3
    candidates = [other for other in names if shortest <= len(other) <= longest]
    if len(candidates) > _MAX_COMPARED:
        half = max(1, len(name) // 2)
        begin, end = name[:half], name[-half:]
        alike = [other for other in candidates if other.startswith(begin) or other.endswith(end)]
        # Of these, the ones that share most at both ends are the likeliest.
        alike.sort(key=lambda other: -_shared(name, other) - _shared(name[::-1], other[::-1]))
        candidates = alike[:_MAX_COMPARED]
    return get_close_matches(name, candidates, n=n)


def _shared(one: str, other: str) -> int:
    """Return how many characters two names share at their beginning."""
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))
