"""Moments against their definitions, and what follows from them against fits over rows."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import LinearRegression, Ridge

from farthing.learning.moments import Moments


def table(n_rows: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Four terms and two outputs, one of them far from zero, and weights."""
    random = np.random.default_rng(seed)
    terms = random.normal(size=(4, n_rows)) + random.normal(size=n_rows)
    outputs = random.normal(size=(2, 4)) @ terms + random.normal(size=(2, n_rows)) + np.array([[0.0], [1e4]])
    return np.vstack([terms, outputs]), random.uniform(0.5, 2.0, size=n_rows)


def assert_moments(found: Moments, entries: np.ndarray, weights: np.ndarray) -> None:
    """Compare with the definition."""
    means = np.average(entries, axis=1, weights=weights)
    apart = entries - means[:, np.newaxis]
    np.testing.assert_allclose(found.weight, weights.sum())
    np.testing.assert_allclose(found.means, means, rtol=1e-12, atol=1e-12)
    products = (apart * weights) @ apart.T
    np.testing.assert_allclose(found.products, products, rtol=1e-9, atol=1e-9 * np.abs(products).max())


# The last has more than one block of rows.
@pytest.mark.parametrize("n_rows", [1, 50, 10_000])
def test_moments_are_those_of_the_rows(n_rows: int) -> None:
    entries, weights = table(n_rows, seed=n_rows)
    assert_moments(Moments.of(entries, 4), entries, np.ones(n_rows))
    assert_moments(Moments.of(entries, 4, weights), entries, weights)


@pytest.mark.parametrize("weighted", [False, True])
def test_some_rows_and_some_terms(weighted: bool) -> None:
    entries, weights = table(300, seed=1)
    weights = weights if weighted else np.ones(300)
    rows, others = np.arange(0, 300, 3), np.setdiff1d(np.arange(300), np.arange(0, 300, 3))
    kept = np.array([0, 2, 4, 5])
    of_rows = Moments.of(entries, 2, weights[rows] if weighted else None, rows, kept)
    assert_moments(of_rows, entries[np.ix_(kept, rows)], weights[rows])
    whole = Moments.of(entries, 4, weights if weighted else None)
    assert_moments(whole.part(np.array([0, 2])), entries[kept], weights)
    assert_moments(
        whole.part(np.array([0, 2])).without(of_rows), entries[np.ix_(kept, others)], weights[others]
    )
    # Rows 0 to 149, then 150 more and 50 fewer.
    first = Moments.of(entries, 2, weights[:150] if weighted else None, np.arange(150), kept)
    moved = np.r_[0:50, 150:300]
    changed = first.changed(entries, np.where(moved < 50, -1.0, 1.0) * weights[moved], moved, kept)
    assert_moments(changed, entries[kept][:, 50:], weights[50:])


@pytest.mark.parametrize("penalty", [0.0, 3.0])
def test_ridge_is_that_of_the_rows(penalty: float) -> None:
    entries, weights = table(200, seed=2)
    moments = Moments.of(entries, 4, weights)
    slopes = moments.ridge(penalty)
    rival = LinearRegression() if penalty == 0 else Ridge(alpha=penalty)
    rival.fit(entries[:4].T, entries[4:].T, sample_weight=weights)
    np.testing.assert_allclose(slopes.T, rival.coef_, rtol=1e-8)
    np.testing.assert_allclose(moments.intercept(slopes), rival.intercept_, rtol=1e-8)


def test_without_terms_the_mean_is_left() -> None:
    entries, _ = table(50, seed=3)
    moments = Moments.of(entries, 4).part(np.arange(0))
    assert moments.ridge(1.0).shape == (0, 2)
    np.testing.assert_allclose(moments.intercept(moments.ridge(1.0)), entries[4:].mean(axis=1))


def test_dependent_terms_need_a_penalty() -> None:
    entries = np.array([[0.0, 1.0, 2.0], [3.0, 3.0, 3.0], [1.0, 0.0, 0.0]])
    moments = Moments.of(entries, 2)
    with pytest.raises(np.linalg.LinAlgError, match="positive definite"):
        moments.ridge(0.0)
    assert moments.ridge(1.0).shape == (2, 1)
