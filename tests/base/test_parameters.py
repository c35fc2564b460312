"""Checks of parameters: what was found to be valid is not asked again, and nothing else passes for it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from farthing.base.inputs import distinct
from farthing.forests import BudgetTreeClassifier, OptimalTreeClassifier

X, Y = [[0.0], [1.0], [2.0], [3.0]], [0, 0, 1, 1]


@pytest.mark.parametrize(
    ("valid", "wrong"), [({"max_depth": 2}, {"max_depth": 2.0}), ({"tradeoff": 0.5}, {"tradeoff": "0.5"})]
)
def test_a_value_of_another_type_is_not_known_to_be_valid(valid, wrong):
    OptimalTreeClassifier(**valid).fit(X, Y)
    OptimalTreeClassifier(**valid).fit(X, Y)
    name = next(iter(wrong))
    for _ in range(2):  # a refusal is not remembered as a success
        with pytest.raises(ValueError, match=f"The '{name}' parameter of OptimalTreeClassifier must be"):
            OptimalTreeClassifier(**wrong).fit(X, Y)


def test_a_value_is_known_for_its_parameter_and_class_alone():
    OptimalTreeClassifier(max_depth=0, tradeoff=0.25).fit(X, Y)
    with pytest.raises(ValueError, match="'max_values'"):
        OptimalTreeClassifier(max_values=0).fit(X, Y)
    with pytest.raises(ValueError, match="'max_depth' parameter of BudgetTreeClassifier"):
        BudgetTreeClassifier(max_depth=0.25).fit(X, Y)


@given(
    st.sampled_from([np.int64, np.int8, np.uint8, np.uint64, np.dtype(">i4")]).flatmap(
        lambda dtype: arrays(dtype, st.integers(1, 12))
    )
)
def test_distinct_whole_numbers_are_those_of_numpy(values):
    for given_values in (values, values % 3):
        found, codes = distinct(given_values)
        expected, places = np.unique(given_values, return_inverse=True)
        assert found.dtype == expected.dtype
        assert codes.dtype == np.int64
        np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(codes, places)
