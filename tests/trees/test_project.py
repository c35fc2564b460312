"""Projection of trees on some columns, against the recursive definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from farthing.boosting import GreedyMiserClassifier
from farthing.trees import Forest, Predictor, projected


def expected_sum(forest: Forest, row: NDArray[Any], columns: set[int]) -> NDArray[np.float64]:
    """Return the sum over the trees of the mean value by training rows, given some columns of one row."""

    def value(begin: int, node: int) -> NDArray[np.float64]:
        if forest.feature[node] < 0:
            return forest.value[node]
        left, right = begin + int(forest.left[node]), begin + int(forest.right[node])
        if int(forest.feature[node]) in columns:
            way = forest.route(node, float(row[forest.feature[node]]))
            if way is None:
                raise AssertionError("the trees of this test have a way for every value")
            return value(begin, way)
        weights = forest.cover[left], forest.cover[right]
        return (weights[0] * value(begin, left) + weights[1] * value(begin, right)) / sum(weights)

    outputs = np.zeros(forest.n_outputs)
    for begin, target in zip(forest.offsets[:-1].tolist(), forest.target.tolist(), strict=True):
        outputs[target : target + forest.width] += value(begin, begin)
    return outputs


def table(seed: int) -> tuple[NDArray[Any], NDArray[Any]]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(150, 4))
    X[:, 3] = rng.integers(0, 5, size=150)
    y = np.searchsorted([-0.6, 0.7], X[:, 0] + X[:, 1] * (X[:, 2] > 0) + (X[:, 3] == 2))
    X[rng.random(X.shape) < 0.1] = np.nan
    return X, y


@pytest.fixture(scope="module")
def forests() -> list[Forest]:
    X, y = table(0)
    shared = {"n_estimators": 6, "max_depth": 4}
    return [
        GreedyMiserClassifier(**shared).fit(X, y > 0).forest_,
        GreedyMiserClassifier(**shared, multi_strategy="one_output_per_tree").fit(X, y).forest_,
        GreedyMiserClassifier(**shared, multi_strategy="multi_output_tree").fit(X, y).forest_,
    ]


@given(which=st.integers(0, 2), columns=st.sets(st.integers(0, 3)), seed=st.integers(0, 50))
def test_projected_trees_are_conditional_means(
    forests: list[Forest], which: int, columns: set[int], seed: int
) -> None:
    forest, X = forests[which], table(seed)[0][:8]
    found = projected(forest, forest.value, np.array(sorted(columns), dtype=np.int64)).validate()
    assert set(found.feature[found.feature >= 0].tolist()) <= columns
    outputs, acquired = Predictor(found).predict(X)
    assert not acquired[:, sorted(set(range(4)) - columns)].any()
    for row, output in zip(X, outputs, strict=True):
        np.testing.assert_allclose(output, expected_sum(forest, row, columns), rtol=1e-9, atol=1e-12)


def test_all_columns_give_the_same_trees(forests: list[Forest]) -> None:
    X = table(7)[0]
    for forest in forests:
        same = projected(forest, forest.value, np.arange(4))
        assert (same.n_trees, same.n_nodes) == (forest.n_trees, forest.n_nodes)
        np.testing.assert_array_equal(Predictor(same).predict(X)[0], Predictor(forest).predict(X)[0])


def test_sets_of_categories_are_kept() -> None:
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.choice(["a", "b", "c"], 200), rng.choice(["u", "v"], 200)]).astype(object)
    y = (X[:, 0] == "b") ^ (X[:, 1] == "v")
    model = GreedyMiserClassifier(n_estimators=4, max_depth=3).fit(X, y)
    forest = model.forest_
    found = projected(forest, forest.value, np.array([0])).validate()
    codes = np.array([[0.0, np.nan], [1.0, np.nan], [2.0, np.nan]])
    for row, output in zip(codes, Predictor(found).predict(codes)[0], strict=True):
        np.testing.assert_allclose(output, expected_sum(forest, row, {0}), rtol=1e-9)


def test_without_covers_both_sides_count_alike() -> None:
    stump = Forest.from_arrays(
        n_features=1, feature=[0, -1, -1], threshold=[0.5, 0, 0], left=[1, -1, -1], right=[2, -1, -1],
        value=[[0.0], [2.0], [6.0]],
    )  # fmt: skip
    assert projected(stump, stump.value, np.array([], dtype=np.int64)).value.tolist() == [[4.0]]
