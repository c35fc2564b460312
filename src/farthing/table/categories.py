"""The categories of a column: which one a value means."""

import math
import re
from collections.abc import Iterable
from typing import Any, Final

from farthing.table.values import Scalar

# Plain decimal notation only: "1e5" or "0x1f" is more likely a name than a number.
_DECIMAL: Final = re.compile(r"[+-]?(\d{1,30})(?:\.(\d{0,30}))?", re.ASCII)
_BOOLEANS: Final = {True: ("True", "true", "TRUE"), False: ("False", "false", "FALSE")}


class CategoryIndex:
    """Find the code of the category that a value means.

    A value that equals a category is that category. Another one means a category if exactly one matches it
    when blanks around text are ignored, and numbers and text that reads as a number are compared as numbers.
    Text with leading zeros, such as "007", is a number only beside a number: "7" is another text.

    Parameters
    ----------
    categories : iterable of str, int, float or bool
        All different; the category at position c has the code c.

    Examples
    --------
    >>> index = CategoryIndex(["1", "2", "10", "?"])
    >>> index.code("10"), index.code(10), index.code(10.0), index.code(" 10"), index.code("eleven")
    (2.0, 2.0, 2.0, 2.0, nan)
    >>> CategoryIndex(["1", "1.0"]).code(1)  # either
    nan
    """

    __slots__ = ("_codes", "_numbers", "_plain_numbers", "_texts")

    def __init__(self, categories: Iterable[Scalar]) -> None:
        # Codes are kept as floats, the form in which they enter the table. NaN marks keys of two categories.
        self._codes: dict[Scalar, float] = {}
        self._texts: dict[str, float] = {}
        self._numbers: dict[float, float] = {}
        self._plain_numbers: dict[float, float] = {}
        for position, category in enumerate(categories):
            self._add(category, float(position))

    def __len__(self) -> int:
        return len(self._codes)

    def code(self, value: Scalar) -> float:
        """Return the code of the category that a value means, NaN if there is none or more than one."""
        code = self._codes.get(value)
        return self._near(value) if code is None else code

    def _add(self, category: Scalar, code: float) -> None:
        self._codes[category] = code
        if isinstance(category, str):
            text = category.strip()
            _enter(self._texts, text, code)
            number = _number(text)
            if number is not None:
                _enter(self._numbers, number, code)
                if not _has_leading_zero(text):
                    _enter(self._plain_numbers, number, code)
            return
        _enter(self._numbers, category, code)
        _enter(self._plain_numbers, category, code)
        if isinstance(category, bool):
            for text in _BOOLEANS[category]:
                _enter(self._texts, text, code)

    def _near(self, value: Scalar) -> float:
        if isinstance(value, str):
            text = value.strip()
            if text in self._texts:
                return self._texts[text]
            number = None if _has_leading_zero(text) else _number(text)
            return math.nan if number is None else self._plain_numbers.get(number, math.nan)
        if isinstance(value, bool):
            found = [self._texts[text] for text in _BOOLEANS[value] if text in self._texts]
            if value in self._numbers:
                found.append(self._numbers[value])
            return found[0] if len(set(found)) == 1 else math.nan
        return self._numbers.get(value, math.nan)


def reads_as_number(text: str) -> bool:
    """Return whether text is a number in plain decimal notation, blanks around it aside.

    Examples
    --------
    >>> reads_as_number(" 4.50"), reads_as_number("4.5 mg")
    (True, False)
    """
    return _number(text.strip()) is not None


def _enter(codes: dict[Any, float], key: Scalar, code: float) -> None:
    codes[key] = math.nan if key in codes else code


def _number(text: str) -> float | None:
    """Return the number that text reads as; an integer exactly, however long."""
    parts = _DECIMAL.fullmatch(text)
    if parts is None:
        return None
    fraction = parts[2] or ""
    return float(text) if fraction.strip("0") else int(text.partition(".")[0])


def _has_leading_zero(text: str) -> bool:
    digits = text.lstrip("+-")
    return len(digits) > 1 and digits[0] == "0" and digits[1].isdigit()
