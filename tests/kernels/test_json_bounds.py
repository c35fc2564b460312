"""The bounds of a JSON text, found in one pass, against a naive count."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from farthing._core import json_excess

LIMITS = st.integers(0, 6)


def naive_excess(text: bytes, max_values: int, max_items: int, max_depth: int) -> str:
    """Take strings out, then keep a list of the commas of each open bracket."""
    bare = re.sub(rb'"(?:[^"\\]|\\.)*("|\\?$)', b"s", text, flags=re.DOTALL).decode("latin-1")
    values, depth = 0, 0
    commas = {0: 0}
    for character in bare:
        if character in "[{":
            depth += 1
            commas[depth] = 0
            values += 1
            if depth > max_depth:
                return "depth"
        elif character in "]}":
            depth -= 1
        elif character == ",":
            values += 1
            if values <= max_values and depth >= 0:
                commas[depth] = commas.get(depth, 0) + 1
                if commas[depth] + 1 > max_items:
                    return "items"
        if values > max_values:
            return "values"
    return ""


pieces = st.lists(
    st.sampled_from([b"[", b"{", b"]", b"}", b",", b'"', b"\\", b'\\"', b"1", b'"a,[":', b"\x00", b"\xff"]),
    max_size=40,
)


@given(pieces, LIMITS, LIMITS, LIMITS)
def test_excess_as_counted_by_hand(parts: list[bytes], values: int, items: int, depth: int) -> None:
    text = b"".join(parts)
    assert json_excess(text, values, items, depth) == naive_excess(text, values, items, depth)


@given(pieces, LIMITS, LIMITS, LIMITS)
def test_a_beginning_in_excess_is_enough(parts: list[bytes], values: int, items: int, depth: int) -> None:
    whole = b"".join(parts)
    found = json_excess(whole[: len(whole) // 2], values, items, depth)
    if found:
        assert json_excess(whole, values, items, depth) == found
