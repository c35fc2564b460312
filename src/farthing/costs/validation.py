"""Validate the entries of a price list: names, amounts, and the containers they come in."""

import math
import reprlib
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np

from farthing.errors import CostError
from farthing.spelling import close_names

# Types of the scalars that mark missing entries in pandas, which is never imported here.
_MISSING_TYPES = frozenset({"NAType", "NaTType"})


def quoted(names: Iterable[object], limit: int = 6) -> str:
    """Join names for a message.

    Examples
    --------
    >>> quoted(["age", "sex", "chol"], limit=2)
    "'age', 'sex' and 1 more"
    """
    listed = [repr(name) for name in names]
    text = ", ".join(listed[:limit])
    return f"{text} and {len(listed) - limit} more" if len(listed) > limit else text


def brief(value: object) -> str:
    """Show a value in a message, shortened when it is long."""
    try:
        return reprlib.repr(value) if not isinstance(value, Decimal) else f"{value:.12g}"
    except ValueError:  # Python refuses to print integers of thousands of digits
        return "a number too long to show"


def nearest(name: object, names: Sequence[str]) -> str:
    """Return a hint with the closest name; empty if none is close.

    Examples
    --------
    >>> nearest("chole", ["age", "chol"])
    " (did you mean 'chol'?)"
    """
    if not isinstance(name, str):
        return ""
    found = close_names(name, names)
    return f" (did you mean {found[0]!r}?)" if found else ""


def amount(value: object, what: str) -> float:
    """Return a finite float of at least zero; the error for anything else names ``what``.

    Examples
    --------
    >>> amount(7, "the cost of 'chol'")
    7.0
    >>> amount(-7, "the cost of 'chol'")
    Traceback (most recent call last):
    ...
    farthing.errors.CostError: the cost of 'chol' is negative (-7); a cost is zero or more
    """
    if type(value) is float and 0.0 < value < math.inf:
        return value  # as almost always: a text for the error takes longer than all else
    if value is None or type(value).__name__ in _MISSING_TYPES:
        raise CostError(f"{what} is missing; give it a number, 0 if it is free")
    shown = brief(value)
    if isinstance(value, str):
        raise CostError(f"{what} is the string {shown}; write it as a number, without quotes")
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        raise CostError(
            f"{what} is {shown}, of type {type(value).__name__}; expected a number of at least zero"
        )
    # `!=` rather than isnan, which a huge integer overflows; a signalling Decimal cannot even be compared.
    if value.is_nan() if isinstance(value, Decimal) else bool(value != value):  # noqa: PLR0124
        raise CostError(f"{what} is NaN; a cost must be known: give it a number, or leave the feature out")
    if value < 0:
        raise CostError(f"{what} is negative ({shown}); a cost is zero or more")
    try:
        number = float(value)
    except OverflowError:  # an integer of hundreds of digits
        number = math.inf
    if math.isinf(number):
        raise CostError(f"{what} is infinite ({shown}); to forbid a feature, leave it out of the table")
    return number + 0.0  # turns -0.0 into 0.0, so that equal sheets have equal bits


def text(value: object, what: str) -> str:
    """Return a ``str``; the error for anything else names ``what``."""
    if not isinstance(value, str):
        raise CostError(f"{what} is {brief(value)}, of type {type(value).__name__}; expected a string")
    return str(value)


def flag(value: object, what: str) -> bool:
    """Return a ``bool``; the error for anything else names ``what``."""
    if not isinstance(value, bool | np.bool_):
        raise CostError(f"{what} is {brief(value)}, of type {type(value).__name__}; expected true or false")
    return bool(value)


def unique(names: Iterable[object], what: str = "feature") -> tuple[str, ...]:
    """Return the names as a tuple; one that is not text or is given twice is an error."""
    if isinstance(names, str):
        raise CostError(f"expected a list of {what} names, got the string {names!r}; write [{names!r}]")
    found: dict[str, None] = {}
    for name in names:
        plain = text(name, f"a {what} name")
        if plain in found:
            raise CostError(f"{what} {plain!r} is given twice; keep one entry for each {what}")
        found[plain] = None
    return tuple(found)


def fields(plain: object, expected: Mapping[str, type], what: str) -> dict[str, Any]:
    """Return a dict with exactly the expected keys and types; the error names ``what``."""
    if not isinstance(plain, dict) or set(plain) != set(expected):
        got = f"the keys {quoted(plain)}" if isinstance(plain, dict) else f"a {type(plain).__name__}"
        raise CostError(f"{what} is a dict with the keys {quoted(expected)}; got {got}")
    for key, kind in expected.items():
        if not isinstance(plain[key], kind):
            got = type(plain[key]).__name__
            raise CostError(f"the {key!r} of {what} is of type {got}; expected {kind.__name__}")
    return plain


def is_named(costs: object) -> bool:
    """Return whether costs have names: a mapping, or a Series with an index other than 0, 1, 2, ..."""
    if isinstance(costs, Mapping):
        return True
    return _is_series(costs) and list(costs.index) != list(range(len(costs.index)))  # type: ignore[attr-defined]


def by_name(costs: Any) -> tuple[tuple[str, ...], list[object]]:
    """Return the names and the values of costs that have names."""
    if isinstance(costs, Mapping):
        return unique(costs), list(costs.values())
    return unique(costs.index), list(costs)


def by_position(costs: Any) -> list[object]:
    """Return the values of a list, an array, or a Series without names."""
    if isinstance(costs, (str, bytes)):
        raise CostError(f"costs is the string {brief(costs)}; to read a file, use CostSheet.read(path)")
    if hasattr(costs, "columns"):
        raise CostError(
            f"costs is a {type(costs).__name__}; give one column of it, with the features as its index"
        )
    if isinstance(costs, Sequence):
        return list(costs)
    if hasattr(costs, "__array__"):
        # A masked entry becomes None, for which the error names the feature.
        array = costs if isinstance(costs, np.ma.MaskedArray) else np.asarray(costs)
        if array.ndim != 1:
            raise CostError(
                f"costs is an array of shape {array.shape}; expected one dimension, a cost per feature"
            )
        return list(array.tolist())
    raise CostError(
        f"costs is of type {type(costs).__name__}; "
        "expected a mapping from feature to cost, a Series, an array or a list"
    )


def named_values(costs: object) -> tuple[tuple[str, ...], list[object]]:
    """Return the names and the values of costs in any container; without names they are x0, x1, ..."""
    if is_named(costs):
        features, values = by_name(costs)
    else:
        values = by_position(costs)
        features = tuple(f"x{column}" for column in range(len(values)))
    if not features:
        raise CostError("the price list is empty; give the cost of at least one feature")
    return features, values


def _is_series(costs: object) -> bool:
    """Recognise a pandas Series without importing pandas; the ``index`` of a list is a method."""
    return (
        hasattr(costs, "items")
        and not hasattr(costs, "columns")
        and not callable(getattr(costs, "index", len))
    )
