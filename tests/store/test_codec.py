"""Values survive the way to plain data and back, bit for bit; anything else is refused by name."""

import fractions
import math
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from farthing.costs import CostSheet, Group
from farthing.errors import FileError
from farthing.store import codec, strict_json
from farthing.store.codec import decode, encode, register_codec
from farthing.table import Column, Schema
from farthing.trees import Forest


def round_trip(value: Any) -> Any:
    plain, arrays = encode({"value": value})
    copies = {name: array.copy() for name, array in arrays.items()}
    return decode(strict_json.loads(strict_json.dumps(plain)), copies)["value"]


def same(one: Any, two: Any) -> bool:  # noqa: PLR0911
    """Tell whether two values have the same types and bits throughout."""
    if type(one) is not type(two):
        return False
    if isinstance(one, np.str_):
        return str(one) == str(two)  # NumPy gives the empty one a character's worth of arbitrary bytes
    if isinstance(one, np.ndarray | np.generic):
        if one.dtype != two.dtype or one.shape != two.shape:
            return False
        if one.dtype == object:
            return same(one.tolist(), two.tolist())
        return bool(one.tobytes() == two.tobytes())
    if isinstance(one, float):
        return struct.pack("d", one) == struct.pack("d", two) or (math.isnan(one) and math.isnan(two))
    if isinstance(one, list | tuple):
        return len(one) == len(two) and all(map(same, one, two))
    if isinstance(one, dict):
        return same(list(one), list(two)) and same(list(one.values()), list(two.values()))
    return bool(one == two)


labels = st.none() | st.booleans() | st.integers(-(2**63), 2**64 - 1) | st.floats() | st.text()
number_arrays = hnp.arrays(
    dtype=st.sampled_from(sorted(codec.ARRAY_DTYPES)).map(np.dtype),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
string_arrays = hnp.arrays(
    dtype=hnp.unicode_string_dtypes(endianness="=", min_len=1, max_len=6),
    shape=st.integers(0, 5),
    elements={"alphabet": st.characters(exclude_categories=["Cs"])},  # lone surrogates are refused, see below
)
label_arrays = st.lists(labels, max_size=5).map(lambda items: np.array([*items, None], dtype=object)[:-1])
scalars = hnp.arrays(dtype=st.sampled_from(sorted(codec.ARRAY_DTYPES)).map(np.dtype), shape=1).map(
    lambda a: a[0]
)
values = st.recursive(
    labels | number_arrays | string_arrays | label_arrays | scalars | st.text(max_size=5).map(np.str_),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.lists(inner, max_size=3).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.just("$"), inner, max_size=3)
        | st.dictionaries(labels.filter(lambda key: str(key) != "nan"), inner, max_size=3)
    ),
    max_leaves=12,
)


@given(values)
def test_round_trip_is_exact(value: Any) -> None:
    assert same(round_trip(value), value)


@pytest.mark.parametrize("value", [Path("prices.toml"), {}, [], (), {"$": 1}, {"$": "array", "entry": "x"}])
def test_round_trip_of_the_odd_ones(value: Any) -> None:
    assert same(round_trip(value), value)


def test_order_and_byte_order_do_not_matter() -> None:
    array = np.arange(12.0).reshape(3, 4)
    for odd in (np.asfortranarray(array), array.astype(">f8"), np.repeat(array, 2, axis=1)[:, ::2]):
        assert same(round_trip(odd), array)


def test_equal_states_give_equal_bytes() -> None:
    state = {"b": np.arange(3), "a": (1, {"x": np.float32(2)})}
    assert strict_json.dumps(encode(state)[0]) == strict_json.dumps(encode(dict(state))[0])


def small_forest() -> Forest:
    return Forest.from_arrays(
        n_features=2,
        feature=[1, -1, -1],
        threshold=[0, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        category=[0, -1, -1],
        category_words=np.array([1, 2**63], np.uint64),
        category_widths=[0, 1],
        value=[[0.1, 0.9], [-0.0, 1.0], [5e-324, 1e308]],
    )


@pytest.mark.parametrize(
    "value",
    [
        CostSheet({"b": 0.1, "a": 1 / 3, "c": 0}, {"blood": Group(2.1, ["c", "b"])}, unit="USD"),
        CostSheet([1.0, 2.0]),
        Schema((Column("x", "numeric"), Column("é", "categorical", ("a", 1, 2.5, False))), True),
        small_forest(),
    ],
    ids=lambda value: type(value).__name__,
)
def test_round_trip_of_own_types(value: Any) -> None:
    back = round_trip({"deep": [value]})["deep"][0]
    assert type(back) is type(value)
    assert back == value
    if isinstance(value, CostSheet):
        assert back.features == value.features
        assert back.own.tobytes() == value.own.tobytes()


class Strange:
    pass


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (Strange(), r"fitted\.a\[1\]\.b cannot be saved: Strange is not a type"),
        (np.array([Strange()]), "holds a Strange"),
        (np.zeros(2, dtype=complex), r"fitted\.a\[1\]\.b cannot be saved: an array of complex128"),
        (np.zeros(2, dtype="M8[s]"), "an array of datetime64"),
        (np.complex128(1), "a NumPy scalar of complex128"),
        ({(1, 2): 3}, "a key of it is a tuple"),
        ({1, 2}, "set is not a type"),
        (np.random.RandomState(0), "RandomState is not a type"),
    ],
)
def test_what_cannot_be_saved_is_named(value: Any, message: str) -> None:
    with pytest.raises(TypeError, match=message):
        encode({"fitted": {"a": [0, {"b": value}]}})


def test_values_out_of_range_are_named() -> None:
    for value in (2**64, "\ud800", np.array(["\ud800"], dtype=object)):
        with pytest.raises(ValueError, match="params"):
            encode({"params": {"x": value}})
    loop: list[Any] = []
    loop.append(loop)
    with pytest.raises(ValueError, match="nested too deep to save, or contains itself"):
        encode({"loop": loop})
    with pytest.raises(ValueError, match=r"names in a state must be strings other than '\$'"):
        encode({"$": 1})


FOREST_FIELDS = encode({"forest": small_forest()})[0]["forest"]["fields"]


@pytest.mark.parametrize(
    ("plain", "message"),
    [
        ({"$": "pickle"}, "x is of an unknown type, 'pickle'"),
        ({"$": None}, "unknown type"),
        ({"$": ["tuple"]}, "unknown type"),
        ({"$": "tuple"}, "x is not a valid tuple"),
        ({"$": "tuple", "items": {}}, "expected a list; got dict"),
        ({"$": "tuple", "items": [], "self": 1}, "not a valid tuple"),
        ({"$": "float", "value": "1e5"}, "not a valid float"),
        ({"$": "float", "value": []}, "not a valid float"),
        ({"$": "dict", "items": [[1, 2], [1, 3]]}, "a key occurs twice"),
        ({"$": "dict", "items": [[[1], 2]]}, "got list"),
        ({"$": "dict", "items": [[1]]}, "not a valid dict"),
        ({"$": "scalar", "dtype": "<f8", "value": "00"}, "wrong bytes"),
        ({"$": "scalar", "dtype": "|b1", "value": "02"}, "wrong bytes"),
        ({"$": "scalar", "dtype": "|O8", "value": "0000000000000000"}, "unknown dtype"),
        ({"$": "scalar", "dtype": "<f8", "value": 5}, "must be a string"),
        ({"$": "array", "entry": "arrays/099.bin"}, "no array 'arrays/099.bin' is left"),
        ({"$": "array", "entry": ["a"]}, "is left"),
        ({"$": "objects", "shape": [3], "items": []}, "not a valid objects"),
        ({"$": "objects", "shape": [-1], "items": []}, "integers of at least 0"),
        ({"$": "objects", "shape": [0, 2**40], "items": []}, "no dimension over"),
        ({"$": "objects", "shape": [1], "items": [[]]}, "got list"),
        ({"$": "strings", "shape": [1], "items": ["ab"], "width": 1}, "at least 2"),
        ({"$": "strings", "shape": [1], "items": [1], "width": 1}, "strings only"),
        ({"$": "strings", "shape": [1], "items": ["a"], "width": 2**31}, "more than 67108864"),
        ({"$": "path", "value": 5}, "a path must be a string"),
        ({"$": "Schema", "fields": {"columns": 1, "named": True}}, "not a valid Schema"),
        ({"$": "Schema", "columns": []}, "fields and nothing else"),
        ({"$": "Schema", "fields": []}, "fields and nothing else"),
        ({"$": "CostSheet", "fields": {}}, "not a valid CostSheet"),
        ({"$": "Forest", "fields": FOREST_FIELDS | {"__class__": 1}}, "not a valid Forest"),
        ({"$": "Forest", "fields": FOREST_FIELDS | {"left": [1, -1, -1]}}, "left must be a NumPy array"),
    ],
)
def test_malformed_data_is_a_file_error(plain: Any, message: str) -> None:
    arrays = encode({"forest": small_forest()})[1]  # those that FOREST_FIELDS refers to
    with pytest.raises(FileError, match=message):
        decode({"x": plain}, arrays)


def test_a_forest_that_would_loop_is_a_file_error() -> None:
    plain, arrays = encode({"forest": small_forest()})
    arrays[plain["forest"]["fields"]["right"]["entry"]] = np.array([0, -1, -1])
    with pytest.raises(FileError, match=r"forest is not a valid Forest: right must come after its parent"):
        decode(plain, arrays)


def test_every_array_is_used_once() -> None:
    plain, arrays = encode({"a": np.zeros(2), "b": np.zeros(2)})
    with pytest.raises(FileError, match="nothing refers to"):
        decode({"a": plain["a"]}, arrays)
    with pytest.raises(FileError, match="each is used once"):
        decode({"a": plain["a"], "b": plain["a"]}, arrays)


class Half(fractions.Fraction):
    pass


def test_codecs_can_be_registered(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codec, "_by_class", dict(codec._by_class))
    monkeypatch.setattr(codec, "_by_tag", dict(codec._by_tag))

    def fields(value: Half) -> dict[str, object]:
        return {"array": np.array([value.numerator, value.denominator])}

    register_codec("Half", Half, fields, lambda found: Half(*found["array"].tolist()))
    assert round_trip(Half(1, 2)) == Half(1, 2)
    with pytest.raises(ValueError, match="the tag 'Half' is taken"):
        register_codec("Half", Strange, lambda _: {}, lambda _: Strange())
    with pytest.raises(ValueError, match="the tag 'tuple' is taken"):
        register_codec("tuple", Strange, lambda _: {}, lambda _: Strange())
    with pytest.raises(ValueError, match="Half has a codec already, with the tag 'Half'"):
        register_codec("Other", Half, fields, lambda _: Half(1))
    with pytest.raises(FileError, match="not a valid Half"):
        decode({"x": {"$": "Half", "fields": {}}}, {})
