"""Sums that are carried from the leaves of one tree to the root of the next are those of all rows."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from farthing.costs import CostSheet
from farthing.table import Bins, Schema
from farthing.trees import Grower

RATE = 0.3
ROUNDS = 8


def table(n_rows: int, seed: int = 0) -> NDArray[np.float64]:
    """Columns: many values, few, one, mostly zero, with missing entries, and ten of noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 15))
    X[:, 1] = rng.integers(0, 4, n_rows)
    X[:, 2] = 1.0
    X[:, 3] = np.where(rng.random(n_rows) < 0.95, 0.0, X[:, 3])
    X[rng.random(n_rows) < 0.3, 4] = np.nan
    return X


def target(X: NDArray[np.float64], seed: int = 0) -> NDArray[np.float64]:
    noise = np.random.default_rng(seed).normal(size=len(X))
    steep = np.where(X[:, 3] > 0, 2.0, 0.0) + np.nan_to_num(X[:, 4], nan=3.0)
    return np.asarray(np.sin(2 * X[:, 0]) + (X[:, 1] == 2) * X[:, 5] + steep + 0.3 * noise)


def grower(X: NDArray[np.float64], **options: Any) -> Grower:
    prices = np.arange(1.0, X.shape[1] + 1)
    bins = Bins(X, Schema.learn(X), n_threads=options.get("n_threads", 1))
    return Grower(bins, CostSheet(prices), ledger="model", **options)


def assert_as_counted(X: NDArray[np.float64], y: NDArray[np.float64], **options: Any) -> int:
    """Boost with one grower and, round by round, with a new one that nothing is carried to."""
    one, scores, owned = grower(X, **options), np.zeros(len(y)), None
    for _ in range(ROUNDS):
        grown = one.gradient(y - scores, owned=owned, step=RATE)
        counted = grower(X, **options).gradient(y - scores, owned=owned, step=RATE)
        assert grown.tree == counted.tree
        assert np.array_equal(grown.leaf_of_row, counted.leaf_of_row)
        assert np.array_equal(grown.owned, counted.owned)
        scores, owned = scores + grown.tree.value[grown.leaf_of_row, 0], grown.owned
    return one.n_updated_roots


def test_carried_sums_beyond_packed_ones():
    """Of more than two million rows, sums and numbers of rows are separate integers."""
    X = np.random.default_rng(0).normal(size=(2**21, 2))
    y = X[:, 0] * (X[:, 1] > 0)
    assert assert_as_counted(X, y, max_depth=2) >= ROUNDS - 3


@pytest.mark.parametrize(
    "options",
    [
        {"max_depth": 3},
        {"max_depth": 3, "n_threads": 2},
        {"max_leaf_nodes": 4},
        {"max_leaf_nodes": 5, "max_depth": 4, "tradeoff": 20.0},
        {"max_depth": 3, "min_samples_leaf": 900},
        {"max_depth": 3, "tradeoff": 1e9},  # nothing is worth its price: the root stays a leaf
    ],
)
def test_carried_sums_are_counted_sums(options):
    X = table(20_000)
    n_updated_roots = assert_as_counted(X, target(X), **options)
    assert n_updated_roots >= ROUNDS - 3  # but for rounds in which the grid becomes finer


def test_outliers_are_put_right():
    """Targets that differ by many powers of two are rounded, now up and now down."""
    X = table(9000)
    y = target(X)
    y[::1000] *= 2.0**9 / 3
    assert assert_as_counted(X, y, max_depth=3) > 0


def test_a_grid_too_coarse_for_steps_carries_nothing():
    X = table(9000)
    y = target(X)
    y[0] = 2.0**40
    assert assert_as_counted(X, y, max_depth=3) == 0
    whole = np.round(10 * target(X))
    first = grower(X, max_depth=3).gradient(whole, step=RATE).tree
    plain = grower(X, max_depth=3).gradient(whole).tree
    assert first == plain.scaled(RATE)


def test_trees_of_many_leaves_carry_nothing():
    X = table(5000)
    assert assert_as_counted(X, target(X), max_leaf_nodes=60) == 0


def test_other_losses_carry_nothing():
    """Their gradients do not fall by the step."""
    X = table(9000)
    y = (target(X) > 1).astype(float)
    one, scores = grower(X, max_depth=3), np.zeros(len(y))
    for _ in range(ROUNDS):
        gradients = y - 1 / (1 + np.exp(-scores))
        grown = one.gradient(gradients, step=RATE)
        assert grown.tree == grower(X, max_depth=3).gradient(gradients, step=RATE).tree
        scores += grown.tree.value[grown.leaf_of_row, 0]
    assert one.n_updated_roots == 0


def test_a_round_taken_back_is_counted():
    X = table(9000)
    y = target(X)
    one = grower(X, max_depth=3)
    first = one.gradient(y, step=RATE).tree
    assert one.gradient(y, step=RATE).tree == first


@pytest.mark.parametrize("step", [0.0, -1.0, np.inf, np.nan])
def test_a_step_is_above_zero(step):
    with pytest.raises(ValueError, match="step"):
        grower(table(10)).gradient(np.ones(10), step=step)
