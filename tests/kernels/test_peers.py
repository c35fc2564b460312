"""Best-first trees agree with scikit-learn's on data of few values, where binning loses nothing."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor
from tests.kernels.strategies import Table

from farthing.costs import CostSheet
from farthing.trees import Grower


def few_values(seed: int) -> tuple[np.random.Generator, Table]:
    rng = np.random.default_rng(seed)
    return rng, Table(rng.integers(0, 8, (250, 4)).astype(float), (0,) * 4)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(
    "limits", [{"max_leaf_nodes": 12}, {"max_depth": 4}, {"max_leaf_nodes": 30, "min_samples_leaf": 5}]
)
def test_regression_trees_are_scikit_learns(seed: int, limits: dict[str, int]) -> None:
    rng, table = few_values(seed)
    y = rng.normal(size=250)  # no two splits gain the same
    weights = rng.random(250) + 0.1
    grown = Grower(table.fast(), CostSheet([1.0] * 4), **limits).gradient(y * weights, weights)
    peer = DecisionTreeRegressor(
        max_leaf_nodes=limits.get("max_leaf_nodes"),
        max_depth=limits.get("max_depth"),
        min_samples_leaf=limits.get("min_samples_leaf", 1),
        random_state=0,
    ).fit(table.values, y, sample_weight=weights)
    assert grown.tree.n_nodes == peer.tree_.node_count
    expected = peer.predict(table.values)
    np.testing.assert_allclose(grown.tree.value[grown.leaf_of_row, 0], expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("impurity", ["entropy", "gini"])
def test_classification_trees_are_scikit_learns(seed: int, impurity: str) -> None:
    rng, table = few_values(seed)
    labels = rng.integers(0, 3, 250)
    weights = rng.random(250) + 0.1  # no two splits gain the same
    grown = Grower(table.fast(), CostSheet([1.0] * 4), max_leaf_nodes=15).classes(
        labels, weights, 3, impurity=impurity
    )
    peer = DecisionTreeClassifier(criterion=impurity, max_leaf_nodes=15, random_state=0)
    peer.fit(table.values, labels, sample_weight=weights)
    assert grown.tree.n_nodes == peer.tree_.node_count
    shares = grown.tree.value / grown.tree.value.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(shares[grown.leaf_of_row], peer.predict_proba(table.values), atol=1e-9)
