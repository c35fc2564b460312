"""The softmax kernels against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.special import logsumexp

from farthing import _core
from farthing.learning.calibration import temper

# NumPy's exp has the same bits as that of the C library on some processors only.
CLOSE = {"rtol": 1e-13, "atol": 1e-15}


@pytest.fixture(params=[(2, 1), (3, 40), (6, 1000), (19, 257)])
def problem(request):
    n_classes, n_rows = request.param
    rng = np.random.default_rng(n_rows)
    scores = rng.normal(size=(n_classes, n_rows)) * rng.choice([0.1, 1.0, 30.0], size=n_rows)
    # Rows with tied scores, and some so far apart that exp underflows.
    scores[:, rng.random(n_rows) < 0.2] = 0.5
    scores[0, rng.random(n_rows) < 0.1] += 800.0
    return rng.integers(n_classes, size=n_rows), scores


def test_gradients_and_hessians(problem):
    codes, scores = problem
    p = np.exp(scores - scores.max(axis=0))
    p /= p.sum(axis=0)
    expected = -p
    expected[codes, np.arange(len(codes))] += 1
    gradients, hessians = _core.softmax_steps(codes, scores)
    np.testing.assert_allclose(gradients, expected, **CLOSE)
    np.testing.assert_allclose(hessians, np.maximum(p * (1 - p), 0.1 * np.abs(expected)), **CLOSE)


def test_losses(problem):
    codes, scores = problem
    expected = logsumexp(scores, axis=0) - scores[codes, np.arange(len(codes))]
    np.testing.assert_allclose(_core.softmax_losses(codes, scores), expected, **CLOSE)


@pytest.mark.parametrize("temperature", [0.1, 0.9, 3.0])
def test_tempered_probabilities(problem, temperature):
    codes, scores = problem
    probabilities = np.exp(scores - scores.max(axis=0)).T + 1e-300
    probabilities = np.ascontiguousarray(probabilities / probabilities.sum(axis=1, keepdims=True))
    logs = np.log(np.maximum(probabilities, 1e-12))
    # A single row is tempered by Python's own arithmetic, with the same result.
    expected = temper(probabilities, temperature)[np.arange(len(codes)), codes]
    np.testing.assert_allclose(_core.tempered_probabilities(codes, logs, temperature), expected, **CLOSE)


@pytest.mark.parametrize("codes", [[0, 1], [0, 1, 3], [0, 1, -1]])
def test_wrong_codes_are_refused(codes):
    given = np.array(codes, dtype=np.int64)
    with pytest.raises(ValueError, match="codes"):
        _core.softmax_steps(given, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="codes"):
        _core.softmax_losses(given, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="codes"):
        _core.tempered_probabilities(given, np.zeros((3, 3)), 1.0)
    with pytest.raises(ValueError, match="temperature"):
        _core.tempered_probabilities(np.zeros(3, dtype=np.int64), np.zeros((3, 3)), 0.0)
