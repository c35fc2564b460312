"""Encode Python values as JSON data and raw arrays, and decode them.

What JSON has (null, booleans, numbers, strings, lists, objects with string keys) is itself. Anything else is
an object whose key ``"$"`` names its type::

    (1, nan)                 {"$": "tuple", "items": [1, {"$": "float", "value": "nan"}]}
    np.array([0.5, 2.0])     {"$": "array", "entry": "arrays/000.bin"}
    CostSheet(...)           {"$": "CostSheet", "fields": {...}}

Other packages add their own types with `register_codec`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Any, Final, TypeAlias, TypeVar

import numpy as np
from numpy.typing import NDArray

from farthing.errors import FileError
from farthing.store.strict_json import MAX_DEPTH, check_integer

T = TypeVar("T")

# The path to a value, for messages: a name, or the path of what holds the value and its key or position. It
# is written out only for a message, since writing it for each item would copy all names above it each time.
Where: TypeAlias = "str | tuple[Where, object]"

ARRAY_DTYPES: Final = frozenset(
    ["|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8"]
)
"""The element types an array in a file may have, in NumPy's notation."""

DATA_ERRORS: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""What decoding raises for malformed data; reading a file turns these into FileError."""

_TAG: Final = "$"
_NOT_FINITE: Final = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# Bounds on the memory that a small hostile file can make a reader allocate.
_MAX_STRING_BYTES: Final = 2**26  # of all arrays of strings together
_MAX_DIMENSIONS: Final = 8
_MAX_SHOWN: Final = 40


@dataclass(frozen=True)
class _Codec:
    tag: str
    cls: type
    encode: Callable[[Any], Mapping[str, object]]
    decode: Callable[[dict[str, Any]], object]


_by_class: dict[type, _Codec] = {}
_by_tag: dict[str, _Codec] = {}


def register_codec(
    tag: str,
    cls: type[T],
    encode: Callable[[T], Mapping[str, object]],
    decode: Callable[[dict[str, Any]], T],
) -> None:
    """Add a type; the same tag and type given again replace the first.

    Parameters
    ----------
    tag : str
        Its name in files.
    cls : type
        The type; subclasses that have no codec of their own are encoded by this one too.
    encode : callable
        Returns the fields of the value by name, of any types that have a codec.
    decode : callable
        Builds the value from these fields. They may come from a hostile file: it must check everything it
        relies on, raise ValueError, TypeError or KeyError, and never run code that the fields name.

    Examples
    --------
    >>> import fractions
    >>> register_codec(
    ...     "Fraction",
    ...     fractions.Fraction,
    ...     lambda f: {"over": f.numerator, "under": f.denominator},
    ...     lambda fields: fractions.Fraction(fields["over"], fields["under"]))
    >>> plain, arrays = encode({"share": fractions.Fraction(2, 3)})
    >>> plain
    {'share': {'$': 'Fraction', 'fields': {'over': 2, 'under': 3}}}
    >>> decode(plain, arrays)
    {'share': Fraction(2, 3)}
    """
    if tag in _BUILT_IN or (tag in _by_tag and _by_tag[tag].cls is not cls):
        raise ValueError(f"the tag {tag!r} is taken; choose another for {cls.__name__}")
    if cls in _by_class and _by_class[cls].tag != tag:
        raise ValueError(f"{cls.__name__} has a codec already, with the tag {_by_class[cls].tag!r}")
    _by_class[cls] = _by_tag[tag] = _Codec(tag, cls, encode, decode)


def show_path(where: Where) -> str:
    """Return a path as text, such as ``fitted.forest_[3]``; long ones are cut.

    Examples
    --------
    >>> show_path((("fitted", "forests"), 3))
    'fitted.forests[3]'
    """
    parts: list[str] = []
    while isinstance(where, tuple):
        where, key = where
        parts.append(f"[{key}]" if isinstance(key, int) else f".{str(key)[:_MAX_SHOWN]}")
    shown = "".join([str(where)[:_MAX_SHOWN], *reversed(parts)])
    return shown if len(shown) <= 3 * _MAX_SHOWN else f"{shown[: 3 * _MAX_SHOWN]}..."


def array_name(index: int) -> str:
    """Return the name in the file of array number ``index``."""
    return f"arrays/{index:03d}.bin"


def encode(state: Mapping[str, object]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    """Encode a dict as JSON data and the arrays it refers to, by their names.

    Raises
    ------
    TypeError
        If a value has a type without a codec; the message names it, as ``fitted.forest_``.
    """
    if _TAG in state or not all(type(key) is str for key in state):
        raise ValueError(f"the names in a state must be strings other than {_TAG!r}; got {list(state)}")
    encoder = _Encoder()
    return {key: encoder.plain(value, key, 1) for key, value in state.items()}, encoder.arrays


class _Encoder:
    """Collects the arrays while it visits the values; ``where`` is the path to a value, for messages."""

    def __init__(self) -> None:
        self.arrays: dict[str, NDArray[Any]] = {}
        self.string_bytes = 0

    def plain(self, value: Any, where: Where, depth: int) -> Any:
        # Also ends the recursion of a value that contains itself.
        if depth > MAX_DEPTH:
            raise ValueError(f"{show_path(where)} is nested too deep to save, or contains itself")
        # By exact type: a subclass of int or dict would come back as its base.
        if (method := _PLAIN.get(type(value))) is not None:
            return method(self, value, where, depth)
        if isinstance(value, np.generic):
            return self.of_scalar(value, where)
        if isinstance(value, PurePath):
            return {_TAG: "path", "value": str(value)}
        return self._registered(value, where, depth)

    def itself(self, value: bool | None, _where: Where, _depth: int) -> bool | None:
        return value

    def of_integer(self, value: int, where: Where, _depth: int) -> int:
        try:
            return check_integer(value)
        except ValueError as error:
            raise ValueError(f"{show_path(where)} cannot be saved: {error}") from None

    def of_string(self, value: str, where: Where, _depth: int = 0) -> str:
        # Lone surrogates are valid in Python strings, but not in UTF-8.
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise ValueError(f"{show_path(where)} cannot be saved: {error}") from None
        return value

    def of_float(self, value: float, _where: Where, _depth: int) -> float | dict[str, Any]:
        # JSON writes the shortest digits that round-trip, so finite floats keep their bits.
        return value if math.isfinite(value) else {_TAG: "float", "value": str(value)}

    def of_list(self, value: list[Any], where: Where, depth: int) -> list[Any]:
        return self._items(value, where, depth)

    def of_tuple(self, value: tuple[Any, ...], where: Where, depth: int) -> dict[str, Any]:
        return {_TAG: "tuple", "items": self._items(value, where, depth + 1)}

    def _items(self, values: list[Any] | tuple[Any, ...], where: Where, depth: int) -> list[Any]:
        return [self.plain(item, (where, i), depth + 1) for i, item in enumerate(values)]

    def of_dict(self, value: dict[Any, Any], where: Where, depth: int) -> dict[str, Any]:
        if _TAG not in value and all(type(key) is str for key in value):
            return {
                self.of_string(key, where): self.plain(item, (where, key), depth + 1)
                for key, item in value.items()
            }
        for key in value:
            if key is not None and type(key) not in (bool, int, float, str):
                raise TypeError(f"{show_path(where)} cannot be saved: a key of it is a {type(key).__name__}")
        pairs = [list(pair) for pair in value.items()]
        return {_TAG: "dict", "items": self._items(pairs, where, depth + 1)}

    def of_scalar(self, value: np.generic, where: Where) -> dict[str, Any]:
        if isinstance(value, np.str_):
            return {_TAG: "scalar", "dtype": "str", "value": self.of_string(str(value), where)}
        little = value.dtype.newbyteorder("<")
        if little.str not in ARRAY_DTYPES:
            raise TypeError(f"{show_path(where)} cannot be saved: a NumPy scalar of {value.dtype}")
        # As bytes, which keeps any dtype and the payload of a NaN.
        return {_TAG: "scalar", "dtype": little.str, "value": np.asarray(value, dtype=little).tobytes().hex()}

    def of_array(self, value: NDArray[Any], where: Where, _depth: int) -> dict[str, Any]:
        if value.dtype.kind in "OU":
            return self._strings(value, where)
        little = value.dtype.newbyteorder("<")
        if little.str not in ARRAY_DTYPES:
            raise TypeError(f"{show_path(where)} cannot be saved: an array of {value.dtype}")
        check_shape(value.shape)
        name = array_name(len(self.arrays))
        # reshape, since ascontiguousarray gives an array without dimensions one
        self.arrays[name] = np.ascontiguousarray(value, dtype=little).reshape(value.shape)
        return {_TAG: "array", "entry": name}

    def _strings(self, value: NDArray[Any], where: Where) -> dict[str, Any]:
        """Encode an array of labels; text goes to JSON, since array entries have no dtype for it."""
        check_shape(value.shape)
        items = value.reshape(-1).tolist()
        for item in items:
            if item is not None and type(item) not in (bool, int, float, str):
                raise TypeError(
                    f"{show_path(where)} cannot be saved: an array that holds a {type(item).__name__}"
                )
        plain: dict[str, Any] = {
            _TAG: "objects",
            "shape": list(value.shape),
            "items": self._items(items, where, 2),
        }
        if value.dtype.kind == "U":
            width = value.dtype.itemsize // 4
            self.string_bytes = _add_string_bytes(self.string_bytes, width, len(items))
            plain |= {_TAG: "strings", "width": width}
        return plain

    def _registered(self, value: Any, where: Where, depth: int) -> dict[str, Any]:
        for cls in type(value).__mro__:
            if (codec := _by_class.get(cls)) is not None:
                fields = dict(codec.encode(value))
                plain = {key: self.plain(item, (where, key), depth + 2) for key, item in fields.items()}
                return {_TAG: codec.tag, "fields": plain}
        raise TypeError(
            f"{show_path(where)} cannot be saved: {type(value).__name__} is not a type that a model file can "
            "hold. Farthing stores numbers, strings, lists, dicts, NumPy arrays and its own types."
        )


_PLAIN: Final[dict[type, Callable[[_Encoder, Any, Where, int], Any]]] = {
    type(None): _Encoder.itself,
    bool: _Encoder.itself,
    int: _Encoder.of_integer,
    str: _Encoder.of_string,
    float: _Encoder.of_float,
    list: _Encoder.of_list,
    tuple: _Encoder.of_tuple,
    dict: _Encoder.of_dict,
    np.ndarray: _Encoder.of_array,
}


def decode(plain: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]]) -> dict[str, Any]:
    """Decode JSON data and the arrays it refers to into a dict of values.

    Raises
    ------
    FileError
        If `encode` could not have made the data; each array must be referred to exactly once.
    """
    decoder = _Decoder(arrays)
    state = {key: decoder.value(item, key) for key, item in plain.items()}
    if decoder.left:
        raise FileError(f"the file has arrays that nothing refers to: {sorted(decoder.left)[:3]}")
    return state


class _Decoder:
    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self.left = dict(arrays)
        self.string_bytes = 0

    def value(self, plain: Any, where: Where) -> Any:
        if isinstance(plain, list):
            return [self.value(item, (where, i)) for i, item in enumerate(plain)]
        if not isinstance(plain, dict):
            return plain
        if _TAG not in plain:
            return {key: self.value(item, (where, key)) for key, item in plain.items()}
        tag = plain[_TAG]
        body = {key: item for key, item in plain.items() if key != _TAG}
        try:
            if isinstance(tag, str) and tag in _BUILT_IN:
                return _BUILT_IN[tag](self, where, **body)
            return self._registered(tag, body, where)
        except FileError:
            raise
        except DATA_ERRORS as error:
            raise FileError(f"{show_path(where)} is not a valid {str(tag)[:40]}: {error}") from error

    def _registered(self, tag: Any, body: dict[str, Any], where: Where) -> object:
        codec = _by_tag.get(tag) if isinstance(tag, str) else None
        if codec is None:
            raise FileError(f"{show_path(where)} is of an unknown type, {str(tag)[:40]!r}")
        if set(body) != {"fields"} or not isinstance(body["fields"], dict):
            raise ValueError("it must have fields and nothing else")
        fields = {key: self.value(item, (where, key)) for key, item in body["fields"].items()}
        made = codec.decode(fields)
        if not isinstance(made, codec.cls):
            raise TypeError(f"it decoded to a {type(made).__name__}")
        return made

    def to_tuple(self, where: Where, *, items: Any) -> tuple[Any, ...]:
        return tuple(self.value(_list(items), where))

    def to_dict(self, where: Where, *, items: Any) -> dict[Any, Any]:
        pairs = [_list(pair) for pair in _list(items)]
        made = {_label(self.value(key, where)): self.value(item, (where, key)) for key, item in pairs}
        if len(made) < len(pairs):
            raise ValueError("a key occurs twice")
        return made

    def to_float(self, _where: Where, *, value: Any) -> float:
        return _NOT_FINITE[value]

    def to_scalar(self, _where: Where, *, dtype: Any, value: Any) -> np.generic:
        if not isinstance(value, str):
            raise TypeError("the value of a scalar must be a string")
        if dtype == "str":
            return np.str_(value)
        if not isinstance(dtype, str) or dtype not in ARRAY_DTYPES:
            raise ValueError(f"unknown dtype {str(dtype)[:40]!r}")
        data = bytes.fromhex(value)
        if len(data) != np.dtype(dtype).itemsize or (dtype == "|b1" and data[0] > 1):
            raise ValueError(f"wrong bytes for a {dtype}")
        native: np.generic = np.frombuffer(data, dtype=dtype).astype(np.dtype(dtype).newbyteorder("="))[0]
        return native

    def to_array(self, _where: Where, *, entry: Any) -> NDArray[Any]:
        # Once each: two values that share an array would change together.
        if not isinstance(entry, str) or entry not in self.left:
            raise ValueError(f"no array {str(entry)[:40]!r} is left; each is used once")
        return self.left.pop(entry)

    def to_objects(self, where: Where, *, shape: Any, items: Any) -> NDArray[Any]:
        labels = [_label(label) for label in self.value(_list(items), where)]
        # Filled, since np.array would infer a dtype from the labels.
        made = np.empty(len(labels), dtype=object)
        made[:] = labels
        return made.reshape(check_shape(_list(shape)))

    def to_strings(self, _where: Where, *, shape: Any, items: Any, width: Any) -> NDArray[np.str_]:
        labels = _list(items)
        longest = 0
        for label in labels:
            if not isinstance(label, str):
                raise TypeError("an array of strings must hold strings only")
            longest = max(longest, len(label))
        if type(width) is not int or width < max(longest, 1):
            raise ValueError(f"the width must be an integer of at least {max(longest, 1)}")
        self.string_bytes = _add_string_bytes(self.string_bytes, width, len(labels))
        return np.array(labels, dtype=f"<U{width}").reshape(check_shape(_list(shape)))

    def to_path(self, _where: Where, *, value: Any) -> Path:
        if not isinstance(value, str):
            raise TypeError("a path must be a string")
        return Path(value)


_BUILT_IN: Final[dict[str, Callable[..., Any]]] = {
    "tuple": _Decoder.to_tuple,
    "dict": _Decoder.to_dict,
    "float": _Decoder.to_float,
    "scalar": _Decoder.to_scalar,
    "array": _Decoder.to_array,
    "objects": _Decoder.to_objects,
    "strings": _Decoder.to_strings,
    "path": _Decoder.to_path,
}


def check_shape(shape: Any) -> tuple[int, ...]:
    """Return a shape if the file format can hold it.

    An empty array takes no memory whatever its other dimensions. These are bounded too, since other code may
    allocate by them.
    """
    if len(shape) > _MAX_DIMENSIONS:
        raise ValueError(f"an array must have at most {_MAX_DIMENSIONS} dimensions; got {len(shape)}")
    if not all(type(length) is int and length >= 0 for length in shape):
        raise ValueError("the lengths of an array must be integers of at least 0")
    if 0 in shape and max(shape) > 2**20:
        raise ValueError(f"an empty array must have no dimension over {2**20}")
    return tuple(shape)


def _add_string_bytes(before: int, width: int, count: int) -> int:
    """Return the bytes of all arrays of strings so far, with one more."""
    # A string shorter than the width takes no place in the file, so a small file could fill any memory.
    total = before + 4 * width * count
    if total > _MAX_STRING_BYTES:
        raise ValueError(
            f"arrays of strings take {total} bytes, more than {_MAX_STRING_BYTES}; use dtype=object"
        )
    return total


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise TypeError(f"expected a list; got {type(value).__name__}")
    return value


def _label(value: Any) -> Any:
    """Return a value that may be a label or a key."""
    if value is not None and type(value) not in (bool, int, float, str):
        raise TypeError(f"expected a number, a string or null; got {type(value).__name__}")
    return value
