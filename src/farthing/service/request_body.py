"""Parse the body of a request strictly, and name the field at fault if it fails."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from farthing.store.strict_json import MAX_VALUES, TooManyValuesError, check_bounds, loads

Place: TypeAlias = tuple[str | int, ...]

MAX_PROBLEMS: Final = 20
_MAX_TEXT: Final = 300


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with a request.

    Attributes
    ----------
    place : tuple of str and int
        Where in the body: field names and list positions, outermost first.
    message : str
        Description of the problem and how to fix it.
    kind : str
        A short code for the kind of problem, for programs.
    """

    place: Place
    message: str
    kind: str = "value"

    def to_json(self) -> dict[str, Any]:
        """Return the problem as an item of the answer's ``detail``."""
        short = [part[:_MAX_TEXT] if isinstance(part, str) else part for part in self.place]
        return {"loc": ["body", *short], "msg": self.message[:_MAX_TEXT], "type": self.kind}


class BadRequestError(Exception):
    """A request that cannot be answered: the HTTP status of the answer, and the problems."""

    def __init__(self, status: int, problems: list[Problem]) -> None:
        super().__init__(status)
        self.status = status
        self.problems = problems[:MAX_PROBLEMS]


def parse(data: bytes, max_values: int = MAX_VALUES, max_items: int = MAX_VALUES) -> Any:
    """Parse a body as strictly as a model file: no duplicate key, no NaN, no number out of range.

    Parameters
    ----------
    data : bytes
        The body.
    max_values : int
        Largest number of values that the model could use; a body with more is refused before it is parsed.
    max_items : int
        Likewise of one list or object.

    Returns
    -------
    object
        The parsed value.

    Raises
    ------
    BadRequestError
        With status 422 if a field is at fault, 400 if the body is not JSON at all.

    Examples
    --------
    >>> parse(b'{"known": {"chol": 233}}')
    {'known': {'chol': 233}}
    >>> try:
    ...     parse(b'{"known": {"chol": NaN}}')
    ... except BadRequestError as error:
    ...     error.problems[0].place
    ('known', 'chol')
    """
    try:
        # Strict parsing is fast but cannot say where it failed; only a bad body is parsed twice.
        return loads(data, max_values, max_items)
    except TooManyValuesError:
        raise _too_many(max_values, max_items) from None
    except (ValueError, RecursionError) as error:
        problems = _find_faults(data)
        if problems:
            raise BadRequestError(422, problems) from None
        reason = "it is nested too deep" if isinstance(error, RecursionError) else str(error)
        raise _not_json(reason) from None


def check_beginning(data: bytes, max_values: int, max_items: int) -> None:
    """Refuse a body by its first bytes, while the rest is still to come, if `parse` would for its size.

    Raises
    ------
    BadRequestError
        If they hold too many values already, or are nested too deep.

    Examples
    --------
    >>> check_beginning(b'{"known": {"chol', max_values=100, max_items=100)
    >>> try:
    ...     check_beginning(b"[" * 1000, max_values=10_000, max_items=100)
    ... except BadRequestError as error:
    ...     error.problems[0].kind
    'json'
    """
    try:
        check_bounds(data, max_values, max_items)
    except TooManyValuesError:
        raise _too_many(max_values, max_items) from None
    except ValueError as error:
        raise _not_json(str(error)) from None


def _too_many(max_values: int, max_items: int) -> BadRequestError:
    message = (
        f"the body holds more than the model can use; at most {max_values} values are allowed, "
        f"{max_items} in one list"
    )
    return BadRequestError(422, [Problem((), message, "too_many")])


def _not_json(reason: str) -> BadRequestError:
    return BadRequestError(400, [Problem((), f"the body is not valid JSON: {reason}", "json")])


class _Invalid:
    """Placeholder in a parsed body for a value that strict JSON does not allow."""

    def __init__(self, message: str, kind: str) -> None:
        self.message = message
        self.kind = kind


def _find_faults(data: bytes) -> list[Problem]:
    """Parse once more, leniently, to find the fields at fault."""
    try:
        plain = json.loads(
            data.decode("utf-8"),
            parse_int=_integer,
            parse_float=_float,
            parse_constant=lambda name: _Invalid(f"{name} is not JSON; send null if it is missing", "number"),
            object_pairs_hook=_pairs,
        )
        return [problem for problem, _ in zip(_faults(plain, ()), range(MAX_PROBLEMS), strict=False)]
    except (ValueError, RecursionError):
        return []


def _integer(digits: str) -> object:
    # The length is checked first: converting a very long number takes quadratic time. Values are not needed
    # here, only whether they are valid.
    if len(digits) <= 20 and -(2**63) <= int(digits) < 2**64:
        return 0
    return _Invalid("the integer does not fit in 64 bits", "number")


def _float(digits: str) -> object:
    return (
        0.0
        if math.isfinite(float(digits))
        else _Invalid("the number is out of the range of a double", "number")
    )


def _pairs(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        counts = Counter(name for name, _ in pairs)
        found |= {name: _Invalid(f"{name!r} is given twice", "twice") for name in counts if counts[name] > 1}
    return found


def _faults(plain: Any, place: Place) -> Iterator[Problem]:
    if isinstance(plain, _Invalid):
        yield Problem(place, plain.message, plain.kind)
    elif isinstance(plain, str):
        if not _is_text(plain):
            yield Problem(place, "the text holds half of a character (a lone surrogate)", "text")
    elif isinstance(plain, dict):
        for name, item in plain.items():
            if not _is_text(name):
                yield Problem(place, "a name holds half of a character (a lone surrogate)", "text")
            yield from _faults(item, (*place, name))
    elif isinstance(plain, list):
        for position, item in enumerate(plain):
            yield from _faults(item, (*place, position))


def _is_text(text: str) -> bool:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True
