"""Counts of whole numbers and exact sums by group in the core, against naive twins."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from farthing._core import distinct_integers, exact_group_sums
from farthing.base.inputs import distinct

_LARGEST = np.iinfo(np.int64).max
_SMALL = st.lists(st.integers(-20, 20), min_size=1, max_size=40)


@given(_SMALL, st.sampled_from([np.int8, np.int32, np.int64]))
def test_distinct_numbers_are_those_of_numpy(values: list[int], dtype: type[np.signedinteger]) -> None:
    array: NDArray[np.signedinteger] = np.array(values, dtype=dtype)
    found, codes = distinct(array)
    expected, places = np.unique(array, return_inverse=True)
    assert found.dtype == expected.dtype
    assert codes.dtype == np.int64
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(codes, places)


@pytest.mark.parametrize("values", [[], [0, 3], [-_LARGEST - 1, _LARGEST]])
def test_a_range_above_the_number_of_values_is_not_counted(values: list[int]) -> None:
    assert distinct_integers(np.array(values, dtype=np.int64)) is None
    array = np.array(values, dtype=np.int64)
    np.testing.assert_array_equal(distinct(array)[0], np.unique(array))


@pytest.mark.parametrize("first", [-_LARGEST - 1, _LARGEST - 1])
def test_numbers_at_the_ends_of_the_range_are_counted(first: int) -> None:
    found, codes = distinct(np.array([first + 1, first, first + 1], dtype=np.int64))
    assert found.tolist() == [first, first + 1]
    assert codes.tolist() == [1, 0, 1]


def test_unsigned_numbers_beyond_int64_are_sorted() -> None:
    found, codes = distinct(np.array([2**64 - 1, 2**64 - 2], dtype=np.uint64))
    assert found.tolist() == [2**64 - 2, 2**64 - 1]
    assert codes.tolist() == [1, 0]


@given(st.lists(st.tuples(st.integers(-1, 4), st.floats(-1e300, 1e300)), max_size=30))
def test_group_sums_are_rounded_once(rows: list[tuple[int, float]]) -> None:
    groups = np.array([group for group, _ in rows], dtype=np.int64)
    values = np.array([value for _, value in rows], dtype=np.float64)
    # Groups that are not asked for, such as -1 and 4, are left out.
    expected = [math.fsum(value for group, value in rows if group == asked) for asked in range(4)]
    assert exact_group_sums(groups, values, 4).tolist() == expected


def test_group_sums_need_a_group_for_each_value() -> None:
    with pytest.raises(ValueError, match="groups: one for each value"):
        exact_group_sums(np.zeros(2, dtype=np.int64), np.ones(3), 1)
