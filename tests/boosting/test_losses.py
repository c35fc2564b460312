"""Gradients and hessians are the derivatives of the losses."""

from __future__ import annotations

import numpy as np
import pytest

from farthing.learning import losses

RNG = np.random.default_rng(0)
CASES = {
    "squared": (losses.SQUARED, RNG.normal(size=9), RNG.normal(size=(1, 9))),
    "logistic": (losses.LOGISTIC, RNG.integers(0, 2, 9), RNG.normal(size=(1, 9))),
    "softmax": (losses.softmax_loss(4), RNG.integers(0, 4, 9), RNG.normal(size=(4, 9))),
}


@pytest.mark.parametrize("name", CASES)
def test_steps_are_derivatives(name):
    loss, target, scores = CASES[name]
    gradients, hessians = loss.steps(target, scores)
    h = 1e-4
    for output in range(len(scores)):
        up, down = scores.copy(), scores.copy()
        up[output] += h
        down[output] -= h
        before, at, after = (loss.values(target, s) for s in (down, scores, up))
        np.testing.assert_allclose(gradients[output], (before - after) / (2 * h), atol=1e-7)
        second = (before - 2 * at + after) / h**2
        expected = 1.0 if hessians is None else hessians[output]
        # Never below a tenth of the gradient, so that no step is longer than ten.
        floor = 0.0 if hessians is None else np.abs(gradients[output]) / 10
        np.testing.assert_allclose(expected, np.maximum(second, floor), atol=1e-6)


@pytest.mark.parametrize("name", CASES)
def test_the_start_is_the_best_constant(name):
    loss, target, _ = CASES[name]
    weights = np.arange(1.0, 10.0)
    start = loss.start(target, weights)
    gradients, _ = loss.steps(target, np.repeat(start[:, np.newaxis], 9, axis=1))
    np.testing.assert_allclose(gradients @ weights, 0, atol=1e-9)


def test_a_row_that_is_sure_and_wrong_has_a_bounded_step():
    gradients, hessians = losses.logistic_steps(np.array([1]), np.array([[-40.0]]))
    assert gradients[0, 0] / hessians[0, 0] == pytest.approx(10)


def test_a_class_without_rows_has_a_finite_start():
    assert np.isfinite(losses.softmax_loss(3).start(np.array([0, 1]), np.ones(2))).all()
