"""The softmax kernels against NumPy and SciPy."""

import numpy as np
import pytest
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from farthing import _core
from farthing.learning.calibration import temper, temperature_of

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
@pytest.mark.parametrize("weighted", [False, True])
def test_tempered_log_loss(problem, temperature, weighted):
    codes, scores = problem
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(codes))
    scaled = scores / temperature
    losses = logsumexp(scaled, axis=0) - scaled[codes, np.arange(len(codes))]
    expected = np.minimum(losses, -np.log(1e-12))
    others = np.array([np.delete(scores[:, i], codes[i]) - scores[codes[i], i] for i in range(len(codes))])
    found = _core.tempered_log_loss(others, weights if weighted else None, temperature, 1e-12)
    np.testing.assert_allclose(found, expected @ (weights if weighted else np.ones(len(codes))), rtol=1e-12)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("bounds", [(-3.0, 3.0), (-0.2, 0.1), (1.0, 2.0)])
def test_the_search_is_that_of_scipy(problem, weighted, bounds):
    _, scores = problem
    margins = np.ascontiguousarray(scores.T[:, 1:])
    weights = np.random.default_rng(0).uniform(0.5, 2.0, size=len(margins)) if weighted else None

    def loss(log_temperature):
        return _core.tempered_log_loss(margins, weights, np.exp(log_temperature), 1e-12) / 7.0

    expected = minimize_scalar(loss, bounds=bounds, method="bounded", options={"xatol": 1e-5}).x
    found = _core.best_log_temperature(margins, weights, 1e-12, 7.0, *bounds, 1e-5)
    np.testing.assert_allclose(found, expected, rtol=1e-8)


@pytest.mark.parametrize("truth", [0.4, 2.5])
def test_the_temperature_is_that_of_the_least_loss(truth):
    rng = np.random.default_rng(1)
    scores = 2 * rng.normal(size=(500, 3))
    true = np.exp(scores / truth) / np.exp(scores / truth).sum(axis=1, keepdims=True)
    codes = (true.cumsum(axis=1) < rng.random((500, 1))).sum(axis=1)
    probabilities = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)

    def loss(temperature):
        return -np.log(temper(probabilities, temperature)[np.arange(500), codes]).mean()

    found = temperature_of(probabilities, codes)
    assert loss(found) < min(loss(found * 0.99), loss(found * 1.01))
    assert found == pytest.approx(truth, rel=0.3)


@pytest.mark.parametrize("codes", [[0, 1], [0, 1, 3], [0, 1, -1]])
def test_wrong_codes_are_refused(codes):
    given = np.array(codes, dtype=np.int64)
    with pytest.raises(ValueError, match="codes"):
        _core.softmax_steps(given, np.zeros((3, 3)))
    with pytest.raises(ValueError, match="codes"):
        _core.softmax_losses(given, np.zeros((3, 3)))


def test_wrong_arguments_of_a_tempered_loss_are_refused():
    with pytest.raises(ValueError, match="temperature"):
        _core.tempered_log_loss(np.zeros((3, 2)), None, 0.0, 1e-12)
    with pytest.raises(ValueError, match="weights"):
        _core.tempered_log_loss(np.zeros((3, 2)), np.ones(2), 1.0, 1e-12)
    with pytest.raises(ValueError, match="least"):
        _core.tempered_log_loss(np.zeros((3, 2)), None, 1.0, 0.0)
    with pytest.raises(ValueError, match="bounds"):
        _core.best_log_temperature(np.zeros((3, 2)), None, 1e-12, 1.0, 1.0, 0.0, 1e-5)
    with pytest.raises(ValueError, match="weights"):
        _core.best_log_temperature(np.zeros((3, 2)), np.ones(2), 1e-12, 1.0, 0.0, 1.0, 1e-5)
