"""Tables of many columns, whose small nodes read the codes of eight columns at once."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from tests.kernels import naive
from tests.kernels.comparison import assert_same_tree, fast_and_slow
from tests.kernels.strategies import Table

from farthing.costs import CostSheet

N_ROWS, N_COLUMNS = 220, 29


@pytest.fixture(scope="module")
def table() -> Table:
    """Numbers, categories, columns that are mostly zero, some in between, and missing entries."""
    rng = np.random.default_rng(0)
    values = np.round(rng.normal(size=(N_ROWS, N_COLUMNS)), 2)
    values[:, 4] = rng.integers(0, 6, N_ROWS)
    values[:, 11] = np.where(rng.random(N_ROWS) < 0.95, 0.0, values[:, 11])
    values[:, 20] = 3.0
    values[rng.random(values.shape) < 0.05] = np.nan
    return Table(values, (0,) * 4 + (6,) + (0,) * (N_COLUMNS - 5))


def gradients(table: Table, hessians: bool) -> dict[str, Any]:
    rng = np.random.default_rng(1)
    some = np.nan_to_num(table.values)
    steps = some[:, 3] * (some[:, 12] > 0) + (some[:, 4] == 2) + some[:, 28] + rng.normal(size=N_ROWS)
    return {
        "gradients": steps,
        "hessians": rng.random(N_ROWS) + 0.1 if hessians else None,
        "l2_regularization": 0.5,
    }


def classes(table: Table) -> dict[str, Any]:
    labels = (np.nan_to_num(table.values)[:, [3, 12]] > 0) @ np.array([1, 2])
    known = {"labels": labels, "weights": np.ones(N_ROWS), "n_classes": 4}
    return {**known, "kind": "gini", "alpha": 0.0, "power": 2.0}


@pytest.mark.parametrize("columns", [None, np.r_[0:6, 9:16, 17:20, 22:29], np.arange(0, 29, 2)])
@pytest.mark.parametrize("kind", ["plain", "newton", "classes"])
def test_growing(table, columns, kind):
    target = classes(table) if kind == "classes" else gradients(table, kind == "newton")
    own = np.arange(1.0, N_COLUMNS + 1)
    prices = CostSheet(own), naive.Sheet(own.tolist())
    options = {
        "max_depth": 3,
        "max_leaf_nodes": 6,
        "min_samples_leaf": 2,
        "ledger": "model",
        "cost_rule": "penalty",
        "tradeoff": 0.01,
        "budget": None,
    }
    assert_same_tree(*fast_and_slow(table, prices, options, target, columns=columns))
