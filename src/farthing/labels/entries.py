"""The entries of a sheet of labels: those of a feature and of a class."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from numbers import Real
from types import MappingProxyType
from typing import Any, Final, TypeAlias, TypeVar

from farthing.costs.validation import brief, quoted
from farthing.errors import LabelError

Range: TypeAlias = tuple[float, float]
"""The lowest and the highest value; infinite where there is no bound."""

_MAX_TEXT: Final = 1000
_COLOUR: Final = re.compile(r"#[0-9a-fA-F]{6}")


@dataclass(frozen=True)
class FeatureLabel:
    """What a feature means.

    Parameters
    ----------
    title : str
        Its name for people; empty means the name of the column.
    question : str
        What to ask for.
    unit : str
        The unit of its values.
    allowed : pair of float, optional
        The lowest and the highest value that can be right; a value outside is refused. None means any.
    usual : pair of float, optional
        Between which values most lie; a value outside is asked back.
    categories : mapping
        The text of each category or code, by category or by its text.

    Examples
    --------
    >>> chol = FeatureLabel(title="Cholesterol", unit="mg/dl", allowed=(50, 1000), usual=(150, 350))
    >>> chol.shown(233.0), chol.doubt(400.0)
    ('233 mg/dl', 'unusual: most values lie between 150 and 350 mg/dl')
    >>> FeatureLabel(categories={1: "typical angina"}).shown(1.0)
    'typical angina'
    """

    title: str = ""
    question: str = ""
    unit: str = ""
    allowed: Range | None = None
    usual: Range | None = None
    categories: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("title", "question", "unit"):
            check_text(getattr(self, name), name)
        put = object.__setattr__
        put(self, "allowed", _range(self.allowed, "allowed"))
        put(self, "usual", _range(self.usual, "usual"))
        if not isinstance(self.categories, Mapping):
            raise LabelError(f"categories is {brief(self.categories)}; expected texts by category")
        texts = {key_of(one): check_text(text, "a category") for one, text in self.categories.items()}
        put(self, "categories", MappingProxyType(texts))

    def __hash__(self) -> int:
        texts = (self.title, self.question, self.unit, *self.categories.items())
        return hash((*texts, self.allowed, self.usual))

    def __reduce__(self) -> tuple[Any, ...]:
        return from_fields, (type(self), self.to_dict(), "a feature")  # a mapping proxy does not pickle

    def text(self, category: object) -> str:
        """Return the text of a category, or the category itself as text."""
        return self.categories.get(key_of(category), str(category))

    def shown(self, value: object) -> str:
        """Return a value as text: that of its category, or a number with its unit."""
        if key_of(value) in self.categories:
            return self.text(value)
        number = f"{value:.6g}" if isinstance(value, float) else str(value)
        return f"{number} {self.unit}" if self.unit else number

    def fault(self, value: object) -> str | None:
        """Return why a value cannot be right, None if it can."""
        if self.allowed is None or not _is_outside(value, self.allowed):
            return None
        return f"not possible: it is {self._bounds(self.allowed)}"

    def doubt(self, value: object) -> str | None:
        """Return why a value should be asked back, None if it is usual."""
        if self.usual is None or not _is_outside(value, self.usual):
            return None
        return f"unusual: most values lie {self._bounds(self.usual)}"

    def _bounds(self, bounds: Range) -> str:
        low, high = (f"{bound:.6g}" for bound in bounds)
        unit = f" {self.unit}" if self.unit else ""
        if not math.isfinite(bounds[0]):
            return f"at most {high}{unit}"
        return f"between {low} and {high}{unit}" if math.isfinite(bounds[1]) else f"at least {low}{unit}"

    def to_dict(self) -> dict[str, Any]:
        """Return what is set, as strings, numbers and lists."""
        return _set_fields(self)


@dataclass(frozen=True)
class ClassLabel:
    """What a class means.

    Parameters
    ----------
    name : str
        Its name for people; empty means the label itself.
    colour : str
        As ``#rrggbb``; empty means one of the page's own.

    Examples
    --------
    >>> ClassLabel("healthy", "#1d6b45").to_dict()
    {'name': 'healthy', 'colour': '#1d6b45'}
    """

    name: str = ""
    colour: str = ""

    def __post_init__(self) -> None:
        check_text(self.name, "name")
        if self.colour and not (isinstance(self.colour, str) and _COLOUR.fullmatch(self.colour)):
            raise LabelError(f"colour is {brief(self.colour)}; expected #rrggbb, such as #1d6b45")

    def to_dict(self) -> dict[str, Any]:
        """Return what is set, as strings."""
        return _set_fields(self)


Entry = TypeVar("Entry", FeatureLabel, ClassLabel)


def key_of(label: object) -> str:
    """Return the text by which a category or a class is found: whole numbers without a decimal point.

    Examples
    --------
    >>> key_of(1), key_of(1.0), key_of("yes"), key_of(True)
    ('1', '1', 'yes', 'True')
    """
    if isinstance(label, float) and label.is_integer():
        label = int(label)
    return str(label)


def from_fields(kind: type[Entry], plain: object, what: str) -> Entry:
    """Build an entry from a mapping, which may come from a file."""
    if isinstance(plain, kind):
        return plain
    names = [one.name for one in fields(kind)]
    if not isinstance(plain, Mapping):
        raise LabelError(f"{what} is {brief(plain)}; expected entries such as {quoted(names)}")
    unknown = [name for name in plain if name not in names]
    if unknown:
        raise LabelError(f"{what} has the unknown entry {quoted(unknown)}; expected {quoted(names)}")
    try:
        return kind(**plain)
    except LabelError as error:
        raise LabelError(f"{what}: {error}") from None


def check_text(text: object, what: str) -> str:
    """Return a text that can be shown anywhere: not long, and without control characters."""
    if not isinstance(text, str):
        raise LabelError(f"{what} is {brief(text)}; expected text")
    if len(text) > _MAX_TEXT:
        raise LabelError(f"{what} has {len(text)} characters; at most {_MAX_TEXT} can be shown")
    # They could move the cursor of a terminal, or hide what is written.
    if any(unicodedata.category(character) in ("Cc", "Cf", "Cs") for character in text):
        raise LabelError(f"{what} is {brief(text)}, which has control characters; remove them")
    return text


def _range(bounds: object, what: str) -> Range | None:
    if bounds is None:
        return None
    if not isinstance(bounds, list | tuple) or len(bounds) != 2:
        raise LabelError(f"{what} is {brief(bounds)}; expected the lowest and the highest value, [0, 100]")
    if not all(isinstance(bound, Real) and not isinstance(bound, bool) for bound in bounds):
        raise LabelError(f"{what} is {brief(bounds)}; expected two numbers")
    low, high = (float(bound) for bound in bounds)
    if not low < high:  # written so that NaN fails, too
        raise LabelError(f"{what} is {brief(bounds)}; the first must be below the second")
    return low, high


def _is_outside(value: object, bounds: Range) -> bool:
    return isinstance(value, Real) and not bounds[0] <= float(value) <= bounds[1]


def _set_fields(entry: Any) -> dict[str, Any]:
    plain: dict[str, Any] = {}
    for one in fields(entry):
        value = getattr(entry, one.name)
        if isinstance(value, Mapping):
            value = dict(value)
        if value:
            plain[one.name] = list(value) if isinstance(value, tuple) else value
    return plain
