"""Draws with replacement: by content, in the right numbers, even."""

from __future__ import annotations

import numpy as np
import pytest

from farthing.learning.bootstrap import SamplingUnits
from farthing.table import content_keys


def some_rows(n_rows: int = 200, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 3)), 1)
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, rng.integers(0, 3, n_rows)


def test_a_whole_weight_is_a_repetition_wherever_the_rows_stand() -> None:
    X, y = some_rows()
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    copies = np.random.default_rng(2).permutation(np.repeat(np.arange(len(y)), weights.astype(int)))
    weighed = SamplingUnits.of(content_keys(X), y, weights)
    repeated = SamplingUnits.of(content_keys(X[copies]), y[copies], np.ones(len(copies)))
    content = np.unique(np.column_stack([np.nan_to_num(X, nan=99.0), y]), axis=0, return_inverse=True)[1]
    for tree in range(3):
        once = np.bincount(content, weights=weighed.bootstrap(7, tree))
        twice = np.bincount(content[copies], weights=repeated.bootstrap(7, tree))
        assert once.tolist() == twice.tolist()
        assert once.sum() == weights.sum()


def test_other_weights_multiply_the_number_of_draws() -> None:
    X, y = some_rows()
    weights = np.random.default_rng(1).random(len(y)) + 0.5
    drawn = SamplingUnits.of(content_keys(X), y, weights).bootstrap(0, 0) / weights
    np.testing.assert_allclose(drawn, np.round(drawn), atol=1e-12)
    assert round(drawn.sum()) == len(y)


def test_each_row_is_out_of_the_bag_in_a_share_of_one_over_e() -> None:
    X, y = some_rows()
    units = SamplingUnits.of(content_keys(X), y, np.ones(len(y)))
    bags = np.array([units.bootstrap(3, tree) for tree in range(400)])
    assert (bags.sum(axis=1) == len(y)).all()
    assert abs((bags == 0).mean() - np.exp(-1)) < 0.01
    assert np.abs(bags.mean(axis=0) - 1).max() < 5 / np.sqrt(400)  # five standard errors
    assert len({bag.tobytes() for bag in bags}) == 400


@pytest.mark.parametrize("share", [0.001, 0.3, 0.999])
def test_the_parts_are_disjoint_and_whole(share: float) -> None:
    X, y = some_rows(50)
    weights = np.random.default_rng(1).integers(1, 4, len(y)).astype(float)
    rest, held = SamplingUnits.of(content_keys(X), y, weights).split(share, 5)
    assert (rest.row_weights() + held.row_weights() == weights).all()
    assert len(held.rows) == min(max(round(share * weights.sum()), 1), weights.sum() - 1)


def test_keys_know_content_only() -> None:
    X, _ = some_rows()
    keys = content_keys(X)
    assert (content_keys(X[::-1]) == keys[::-1]).all()
    assert (content_keys(np.where(X == 0, -0.0, X)) == keys).all()
    assert (content_keys(np.asfortranarray(X)) == keys).all()
    rows = np.unique(np.nan_to_num(X, nan=99.0), axis=0)
    assert len(np.unique(keys)) == len(rows)
    assert len(np.unique(content_keys(X[:, ::-1]))) == len(rows)
    assert not (content_keys(X[:, ::-1]) == keys).all()
