"""Two threads give the bits that one gives, on tables large enough that they share the work."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels import naive
from tests.kernels.strategies import Table

from farthing.costs import CostSheet, Group
from farthing.trees import Grower, Grown, Predictor

N_ROWS = 70_000
SHEET = CostSheet(np.arange(1.0, 13.0))


@pytest.fixture(scope="module")
def table() -> Table:
    rng = np.random.default_rng(0)
    values = rng.normal(size=(N_ROWS, 12))
    values[:, 3] = rng.integers(0, 300, N_ROWS)
    values[rng.random(values.shape) < 0.05] = np.nan
    return Table(values, (0, 0, 0, 300) + (0,) * 8)


def assert_same(one: Grown, two: Grown) -> None:
    assert one.tree == two.tree
    np.testing.assert_array_equal(one.leaf_of_row, two.leaf_of_row)
    np.testing.assert_array_equal(one.owned, two.owned)


@pytest.mark.parametrize(
    "options",
    [
        {"ledger": "row", "cost_rule": "ratio"},
        {"ledger": "model", "cost_rule": "penalty", "tradeoff": 3.0, "budget": 30.0},
    ],
)
def test_growing(table: Table, options: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    gradients, hessians = rng.normal(size=N_ROWS), rng.random(N_ROWS)
    labels, weights = rng.integers(0, 3, N_ROWS), rng.random(N_ROWS)
    growers = [Grower(table.fast(n), SHEET, max_leaf_nodes=40, n_threads=n, **options) for n in (1, 2)]
    assert_same(*(grower.gradient(gradients) for grower in growers))
    assert_same(*(grower.gradient(gradients, hessians) for grower in growers))
    assert_same(*(grower.classes(labels, weights, 3, impurity="pairs") for grower in growers))


def test_predicting(table: Table) -> None:
    rng = np.random.default_rng(2)
    gradients = rng.normal(size=N_ROWS)
    groups = {"pair": Group(2.0, ["x0", "x1"])}
    sheet = CostSheet({f"x{j}": 0.1 + j for j in range(12)}, groups=groups)
    predictor = Predictor(
        Grower(table.fast(2), sheet, max_leaf_nodes=60, n_threads=2).gradient(gradients).tree
    )
    budget = rng.uniform(0, 20, N_ROWS)
    for arguments in ({}, {"sheet": sheet, "budget": budget}):
        one, two = (predictor.predict(table.values, n_threads=n, **arguments) for n in (1, 2))
        np.testing.assert_array_equal(one[0], two[0])
        np.testing.assert_array_equal(one[1], two[1])


@pytest.mark.parametrize("n_rows", [2**19 - 1, 2**19])
def test_sums_of_more_rows_than_fit_beside_the_gradients(n_rows: int) -> None:
    """From 2**19 rows on, gradients and numbers of rows are summed apart; the answer does not change."""
    rng = np.random.default_rng(3)
    values = rng.integers(0, 4, (n_rows, 2)).astype(np.float32)
    gradients = rng.integers(-100, 101, n_rows) + 50.0 * (values[:, 1] > 1)
    grown = Grower(Table(values, (0, 0)).fast(2), SHEET_OF_TWO, max_leaf_nodes=2, n_threads=2).gradient(
        gradients
    )
    right = values[:, 1] > 1
    assert grown.tree.feature.tolist() == [1, -1, -1]
    assert grown.tree.threshold[0] == 1.5
    assert grown.tree.cover.tolist() == [n_rows, (~right).sum(), right.sum()]
    means = [gradients.mean(), gradients[~right].mean(), gradients[right].mean()]
    np.testing.assert_allclose(grown.tree.value[:, 0], means, rtol=1e-12)
    np.testing.assert_array_equal(grown.leaf_of_row, np.where(right, 2, 1))


SHEET_OF_TWO = CostSheet([1.0, 1.0])


def test_a_large_table_equals_the_twin() -> None:
    """The threaded paths against the twin itself, on few leaves."""
    rng = np.random.default_rng(4)
    values = rng.integers(0, 3, (N_ROWS, 3)).astype(float)
    table = Table(values, (0,) * 3)
    gradients = rng.integers(-4, 5, N_ROWS).astype(float) + values[:, 0] * values[:, 2]
    grown = Grower(table.fast(2), CostSheet([1.0] * 3), max_leaf_nodes=4, n_threads=2).gradient(gradients)
    slow = naive.Grower(table.slow(), naive.Gradients(gradients), naive.Sheet([1.0] * 3), max_leaf_nodes=4)
    slow.grow(np.arange(N_ROWS))
    assert grown.tree.value.tolist() == [node.value for node in slow.nodes]
    assert grown.tree.feature.tolist() == [node.feature for node in slow.nodes]
    assert grown.tree.threshold.tolist() == [node.threshold for node in slow.nodes]
