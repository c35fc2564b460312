"""JSON of answers and log lines: strict, and equal to that of the standard library."""

from __future__ import annotations

import json
import logging
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.service.fast_json import encoded
from farthing.service.logs import JsonFormatter

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
trees = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4)
)


def finite(plain: Any) -> bool:
    if isinstance(plain, dict):
        plain = list(plain.values())
    if isinstance(plain, list):
        return all(map(finite, plain))
    return not isinstance(plain, float) or math.isfinite(plain)


@given(trees)
def test_it_is_the_json_of_the_standard_library(plain: Any) -> None:
    if finite(plain):
        text = encoded(plain)
        assert json.dumps(json.loads(text)) == json.dumps(plain)
    else:
        with pytest.raises(ValueError, match="not JSON compliant"):
            encoded(plain)


@pytest.mark.parametrize("text", ["NaN", "-Infinity", "half of a character: \ud800"])
def test_words_in_texts_are_no_numbers(text: str) -> None:
    assert json.loads(encoded({text: [text]})) == {text: [text]}


def test_a_log_line_takes_whatever_a_field_holds() -> None:
    fields = {"ms": float("nan"), "error": ValueError("a secret"), "kind": int}
    record = logging.makeLogRecord({"levelname": "INFO", "msg": "request", "fields": fields})
    assert json.loads(JsonFormatter().format(record))["kind"] == "<class 'int'>"
