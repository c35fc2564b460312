"""Links are right, and give a row the same bits alone and among others, in any layout."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import array_shapes, arrays
from scipy.special import softmax as scipy_softmax

from farthing.base import normalise, row_sums, sigmoid, softmax

scores = arrays(np.float64, array_shapes(min_dims=2, max_dims=2, max_side=40), elements=st.floats(-800, 800))


@pytest.mark.parametrize("link", [row_sums, softmax, sigmoid, lambda outputs: normalise(np.abs(outputs))])
@settings(deadline=None)
@given(outputs=scores)
def test_a_row_alone_has_the_same_bits(link: Callable[[Any], Any], outputs: Any) -> None:
    together = link(outputs)
    assert together.tobytes() == link(np.asfortranarray(outputs)).tobytes()
    for row in range(len(outputs)):
        assert link(outputs[row : row + 1]).tobytes() == np.ascontiguousarray(together[row]).tobytes()


@settings(deadline=None)
@given(outputs=scores)
def test_softmax_is_softmax(outputs: Any) -> None:
    np.testing.assert_allclose(softmax(outputs), scipy_softmax(outputs, axis=1), rtol=1e-12, atol=1e-300)


def test_sigmoid_is_a_softmax_of_two() -> None:
    score = np.array([[-700.0], [-1.5], [0.0], [2.0], [40.0]])
    expected = softmax(np.hstack([np.zeros_like(score), score]))
    np.testing.assert_allclose(sigmoid(score), expected, rtol=1e-12)


def test_normalise() -> None:
    np.testing.assert_array_equal(
        normalise(np.array([[1.0, 2.0, 1.0], [0, 0, 0]])), [[0.25, 0.5, 0.25], [1 / 3] * 3]
    )
