"""Strict JSON: what is refused, and that bounds hold before parsing."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.store import strict_json

plain_data = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=20,
)


@given(plain_data)
def test_round_trip(plain: Any) -> None:
    back = strict_json.loads(strict_json.dumps(plain))
    assert repr(back) == repr(plain)  # repr tells 1 from 1.0 and 0.0 from -0.0


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "Expecting value"),
        (b"{", "Expecting"),
        (b'{"a":1,"a":1}', "'a' occurs twice"),
        (b"NaN", "NaN is not JSON"),
        (b"-Infinity", "-Infinity is not JSON"),
        (b"1e999", "out of the range"),
        (b"18446744073709551616", "64 bits"),
        (b"-9223372036854775809", "64 bits"),
        (b"9" * 100_000, "64 bits"),
        (b'"\\ud800"', "surrogates not allowed"),
        (b'{"\\ud800":1}', "surrogates not allowed"),
        (b'[["\\udfff"]]', "surrogates not allowed"),
        (b"\xff", "invalid start byte"),
        (b"[" * 10**6, "nested too deep"),
        (b"[" * 129 + b"]" * 129, "nested too deep"),
        (b'{"a":' * 129 + b"1" + b"}" * 129, "nested too deep"),
        (b"[" + b"0," * 2**21 + b"0]", "too many values"),
        (b'"' + b"a" * 2**24 + b'"', "at most 16777216"),
    ],
)
def test_refused(data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        strict_json.loads(data)


def test_brackets_in_strings_are_no_depth() -> None:
    names = ["[[[[" * 100, '\\"[[[' * 100, "\\\\[{" * 100, '"[' * 200, "(0, 1]"]
    data = strict_json.dumps({"names": names})
    assert strict_json.loads(data) == {"names": names}
    assert strict_json.loads(json.dumps(names).encode()) == names


def test_the_deepest_allowed() -> None:
    data = b"[" * 128 + b"]" * 128
    assert strict_json.dumps(strict_json.loads(data)) == data


def test_what_could_not_be_read_is_not_written() -> None:
    deep: list[Any] = []
    for _ in range(200):
        deep = [deep]
    with pytest.raises(ValueError, match="nested too deep"):
        strict_json.dumps(deep)
