"""Strict JSON for files and requests: exact numbers, no duplicates, bounded size."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

from farthing._core import json_excess

# Limits on what a hostile file or request can cost: bytes to scan, objects to allocate, recursion.
MAX_BYTES: Final = 2**24
MAX_VALUES: Final = 2**21
MAX_DEPTH: Final = 128

_MIN_INT: Final = -(2**63)
_MAX_INT: Final = 2**64 - 1
_MAX_DIGITS: Final = 20  # of a 64-bit integer, its sign included


def dumps(plain: object) -> bytes:
    """Write JSON data as compact UTF-8; the same data always gives the same bytes.

    Raises
    ------
    ValueError
        If the text exceeds the limits of a reader.
    """
    text = json.dumps(plain, ensure_ascii=False, allow_nan=False, separators=(",", ":"), check_circular=False)
    data = text.encode("utf-8")
    check_bounds(data)
    return data


class TooManyValuesError(ValueError):
    """A text holds more values than its reader can use; nothing of it was built."""


def loads(data: bytes, max_values: int = MAX_VALUES, max_items: int = MAX_VALUES) -> Any:
    """Parse JSON, refusing text that parsers interpret differently.

    Refused are duplicate keys, numbers that are not finite, integers of more than 64 bits, lone surrogates,
    and text over the limits of size, number of values and depth.

    Parameters
    ----------
    data : bytes
        The text.
    max_values : int
        Largest number of values; it is checked before any of them is built.
    max_items : int
        Largest number of items of one list or object; checked likewise.

    Raises
    ------
    TooManyValuesError
        If it has more values, or a list of more items.
    ValueError
        If the text is any of the other cases, or not JSON.

    Examples
    --------
    >>> loads(b'{"a": [1, 2.5, null]}')
    {'a': [1, 2.5, None]}
    >>> loads(b'{"a": 1, "a": 2}')
    Traceback (most recent call last):
    ValueError: the key 'a' occurs twice in one JSON object
    """
    check_bounds(data, max_values, max_items)
    text = data.decode("utf-8")
    plain = _DECODER.decode(text)
    # Only an escape can produce a lone surrogate: the text itself is valid UTF-8.
    if "\\u" in text:
        _check_surrogates(plain)
    return plain


def check_integer(value: int) -> int:
    """Return the integer if the file format can hold it: 64 bits, signed or not."""
    if not _MIN_INT <= value <= _MAX_INT:
        raise ValueError("an integer must fit in 64 bits")
    return value


def check_bounds(data: bytes, max_values: int = MAX_VALUES, max_items: int = MAX_VALUES) -> None:
    """Check the size of a text, or of the beginning of one, before anything is built from it.

    Parameters
    ----------
    data : bytes
        The text. If its first bytes exceed a bound, so does the whole of it, and the rest is not looked at.
    max_values : int
        Largest number of values.
    max_items : int
        Largest number of items of one list or object.

    Raises
    ------
    TooManyValuesError
        If it has more values, or a list of more items.
    ValueError
        If it has too many bytes, or is nested too deep.

    Examples
    --------
    >>> check_bounds(b'{"a": [1, 2, 3', max_items=2)
    Traceback (most recent call last):
    farthing.store.strict_json.TooManyValuesError: JSON with a list of over 2 items
    """
    if len(data) > MAX_BYTES:
        raise ValueError(f"JSON of {len(data)} bytes; at most {MAX_BYTES} are allowed")
    excess = json_excess(data, max_values, max_items, MAX_DEPTH)
    if excess == "depth":
        raise ValueError(f"JSON nested too deep; at most {MAX_DEPTH} levels are allowed")
    if excess == "values":
        raise TooManyValuesError(f"JSON of too many values; at most {max_values} are allowed")
    if excess == "items":
        raise TooManyValuesError(f"JSON with a list of over {max_items} items")


def _integer(digits: str) -> int:
    # Before int(), which takes quadratic time in the number of digits.
    if len(digits) > _MAX_DIGITS:
        raise ValueError("an integer must fit in 64 bits")
    return check_integer(int(digits))


def _finite(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError(f"the number {digits[:30]} is out of the range of a double")
    return value


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        (twice, _), *_ = Counter(key for key, _ in pairs).most_common(1)
        raise ValueError(f"the key {twice!r} occurs twice in one JSON object")
    return found


# Built once, since a service parses a body for each request.
_DECODER: Final = json.JSONDecoder(
    parse_int=_integer, parse_float=_finite, parse_constant=_refuse_constant, object_pairs_hook=_unique
)


def _check_surrogates(plain: Any) -> None:
    if isinstance(plain, str):
        plain.encode("utf-8")
    elif isinstance(plain, list):
        for item in plain:
            _check_surrogates(item)
    elif isinstance(plain, dict):
        for key, item in plain.items():
            key.encode("utf-8")
            _check_surrogates(item)
