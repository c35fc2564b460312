"""Single values: what counts as a number, a category, a missing entry, or as none of these.

Every entry of every table passes through `plain`, or through a vectorised shortcut with the same result.
"""

import math
import sys
from datetime import date
from decimal import Decimal
from enum import Enum
from numbers import Integral, Real
from typing import Any, Final, TypeAlias

import numpy as np

from farthing.errors import TableError

Scalar: TypeAlias = str | int | float | bool


class TableTypeError(TableError, TypeError):
    """A table holds something that is neither a number nor a string; scikit-learn wants a TypeError here."""


class _Odd(Enum):
    ODD = "neither a number, a string nor missing"


ODD: Final = _Odd.ODD


def plain(value: object) -> Scalar | _Odd | None:
    """Reduce a value of any library to a plain Python scalar.

    Parameters
    ----------
    value : object
        An entry of a table, or an answer in a walk.

    Returns
    -------
    str, int, float, bool, None or ODD
        None if it is missing (None, NaN, NaT, ``pandas.NA``, ``numpy.ma.masked``); ODD if it can be neither a
        number nor a category, such as a date, a list or a complex number.

    Examples
    --------
    >>> plain(np.float32(0.5)), plain(np.True_), plain("0.5"), plain(float("nan"))
    (0.5, True, '0.5', None)
    """
    # Exact types first: nearly all values are Python's own scalars, and isinstance against ABCs is slow.
    kind = type(value)
    if kind is float:
        return None if value != value else value  # type: ignore[return-value]  # noqa: PLR0124
    if value is None or kind is str or kind is int or kind is bool:
        return value  # type: ignore[return-value]
    return _plain_of_library(value)


def _plain_of_library(value: object) -> Scalar | _Odd | None:
    """Reduce a value that is not one of Python's own scalars."""
    # The order matters: str before missing marks (an enum of str is text), bool before Integral (a bool is
    # one), timedelta64 before Integral (NumPy registers it there).
    result: Scalar | _Odd | None = ODD
    if isinstance(value, str):
        result = str.__str__(value)  # not str(value): an enumeration overrides that
    elif _is_missing(value):
        result = None
    elif isinstance(value, np.ndarray):
        result = plain(value[()]) if value.ndim == 0 and value.dtype != object else ODD
    elif isinstance(value, bool | np.bool_):
        result = bool(value)
    elif isinstance(value, np.timedelta64):
        result = ODD
    elif isinstance(value, Integral):
        result = int(value)
    elif isinstance(value, Real | Decimal):
        result = to_float(value)
        result = None if math.isnan(result) else result
    return result


def _is_missing(value: object) -> bool:
    """Return whether a value is a library's own marker of a missing entry."""
    if value is np.ma.masked:
        return True
    if isinstance(value, np.datetime64 | np.timedelta64):
        return bool(np.isnat(value))
    pandas = sys.modules.get("pandas")
    return pandas is not None and (value is pandas.NA or value is pandas.NaT)


def to_float(number: Any) -> float:
    """Convert to the nearest double; numbers that are too large become infinite, as they do in arrays."""
    if isinstance(number, Decimal) and number.is_nan():
        return math.nan
    try:
        return float(number)
    except OverflowError:
        return -math.inf if number < 0 else math.inf


def show(value: object) -> str:
    """Describe a value for an error message: its type and a short form of it.

    Examples
    --------
    >>> show("forty"), show(3.5), show(["a"])
    ("the string 'forty'", 'the number 3.5', "['a'] of type list")
    """
    reduced = plain(value)
    if isinstance(reduced, str):
        return f"the string {_short(reduced)}"
    if isinstance(reduced, bool):
        return f"the boolean {reduced}"
    if isinstance(reduced, int | float):
        return f"the number {_short(reduced)}"
    return f"{_short(value)} of type {type(value).__name__}"


def _short(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > 256:
        return f"of {value.bit_length()} bits"  # repr of an integer of thousands of digits raises
    text = repr(value).replace("\n", " ")
    return text if len(text) <= 60 else f"{text[:57]}..."


def is_date(value: object) -> bool:
    """Return whether a value is a date or a time stamp of any library.

    Examples
    --------
    >>> is_date(np.datetime64("2024-02-29")), is_date(date(2024, 2, 29)), is_date("2024-02-29")
    (True, True, False)
    """
    return isinstance(value, date | np.datetime64)
