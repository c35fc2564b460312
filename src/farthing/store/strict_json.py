"""Strict JSON for files and requests: exact numbers, no duplicates, bounded size."""

from __future__ import annotations

import json
import math
from collections import Counter
from typing import Any, Final, NoReturn

import numpy as np
from numpy.typing import NDArray

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
    _check_bounds(data)
    return data


class TooManyValuesError(ValueError):
    """A text holds more values than its reader can use; nothing of it was built."""


def loads(data: bytes, max_values: int = MAX_VALUES) -> Any:
    """Parse JSON, refusing text that parsers interpret differently.

    Refused are duplicate keys, numbers that are not finite, integers of more than 64 bits, lone surrogates,
    and text over the limits of size, number of values and depth.

    Parameters
    ----------
    data : bytes
        The text.
    max_values : int
        Largest number of values; it is checked before any of them is built.

    Raises
    ------
    TooManyValuesError
        If it has more values than that.
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
    _check_bounds(data, max_values)
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


def _check_bounds(data: bytes, max_values: int = MAX_VALUES) -> None:
    if len(data) > MAX_BYTES:
        raise ValueError(f"JSON of {len(data)} bytes; at most {MAX_BYTES} are allowed")
    opened = data.count(b"[") + data.count(b"{")
    if opened > MAX_DEPTH and _depth(data) > MAX_DEPTH:
        raise ValueError(f"JSON nested too deep; at most {MAX_DEPTH} levels are allowed")
    # Every value but the first follows one of these, so their count bounds the objects a parser makes. Text
    # in strings may hold them too, so an excess is counted again without the strings.
    if data.count(b",") + opened > max_values and _count_values(data) > max_values:
        raise TooManyValuesError(f"JSON of too many values; at most {max_values} are allowed")


def _count_values(data: bytes) -> int:
    """Return the number of commas and opening brackets outside of strings."""
    return int(np.isin(_unquoted(data), np.frombuffer(b",[{", dtype=np.uint8)).sum())


def _unquoted(data: bytes) -> NDArray[np.uint8]:
    """Return the bytes outside of strings."""
    # Escaped backslashes go first, so that a quote after one is not taken for an escaped quote. Then the
    # parity of the remaining quotes tells what is inside a string.
    codes = np.frombuffer(data.replace(b"\\\\", b"").replace(b'\\"', b""), dtype=np.uint8)
    quoted = np.bitwise_xor.accumulate((codes == ord('"')).view(np.uint8)).astype(bool)
    found: NDArray[np.uint8] = codes[~quoted]
    return found


def _depth(data: bytes) -> int:
    """Return how deep brackets outside of strings nest, without recursion."""
    codes = _unquoted(data) | 0x20  # [ and { differ in this bit only, as do ] and }
    steps = codes[(codes == ord("{")) | (codes == ord("}"))]
    nesting = np.cumsum(np.where(steps == ord("{"), 1, -1))
    return int(nesting.max(initial=0))


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
