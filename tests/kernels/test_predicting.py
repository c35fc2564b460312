"""The predictor equals its naive twin, row by row, with and without budgets."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from tests.kernels import naive
from tests.kernels.strategies import SEEDS, WILD, Table, sheets

from farthing.costs import CostSheet
from farthing.trees import Forest, Grower, Predictor

THRESHOLDS = np.array([*WILD, 0.1, float(np.float32(0.1)), -0.1, 3.4e38])


def random_forest(
    rng: np.random.Generator,
    n_features: int,
    n_trees: int,
    comparator: str = "<=",
    dtype: str = "float64",
    width: int = 2,
) -> Forest:
    """Return trees of random shape and rules; every third feature is categorical, with 70 codes."""
    widths = np.where(np.arange(n_features) % 3 == 2, 2, 0)
    words: list[int] = []
    trees = []
    for _ in range(n_trees):
        nodes = [[-1, 0.0, -1, -1, 2, -1]]
        for _ in range(int(rng.integers(0, 12))):
            leaf = int(rng.choice([i for i, node in enumerate(nodes) if node[0] < 0]))
            feature = int(rng.integers(0, n_features))
            category = -1
            if widths[feature]:
                category = len(words)
                words += [int(word) for word in rng.integers(0, 2**64, 4, dtype=np.uint64)]
            n = len(nodes)
            nodes[leaf] = [
                feature,
                float(rng.choice(THRESHOLDS)),
                n,
                n + 1,
                int(rng.integers(0, 3)),
                category,
            ]
            nodes += [[-1, 0.0, -1, -1, 2, -1], [-1, 0.0, -1, -1, 2, -1]]
        trees.append(nodes)
    feature, threshold, left, right, missing, category = zip(
        *(node for t in trees for node in t), strict=True
    )
    return Forest.from_arrays(
        n_features=n_features,
        n_outputs=3,
        offsets=np.cumsum([0] + [len(nodes) for nodes in trees]),
        target=rng.integers(0, 2, n_trees),
        feature=feature,
        threshold=threshold,
        left=left,
        right=right,
        missing=missing,
        category=category,
        category_words=np.array(words, dtype=np.uint64),
        category_widths=widths,
        value=rng.normal(size=(len(feature), width)),
        comparator=comparator,
        dtype=dtype,
    ).validate()


def random_rows(rng: np.random.Generator, n_rows: int, forest: Forest) -> NDArray[np.float64]:
    X = rng.choice(np.append(THRESHOLDS, np.nan), size=(n_rows, forest.n_features))
    categorical = forest.category_widths > 0
    codes = rng.choice([*range(70), 127, 128, 500, -1, np.nan], size=X.shape)
    return np.where(categorical, codes, X)


def assert_same_answers(
    forest: Forest,
    X: NDArray[Any],
    answers: tuple[NDArray[np.float64], NDArray[np.bool_]],
    sheet: naive.Sheet | None = None,
    budgets: NDArray[np.float64] | None = None,
) -> None:
    for i, (output, acquired) in enumerate(zip(*answers, strict=True)):
        budget = math.inf if budgets is None else float(budgets[i])
        expected, owned = naive.predict_row(forest, X[i].astype(float).tolist(), sheet, budget)
        assert output.tolist() == expected
        assert set(np.flatnonzero(acquired).tolist()) == owned


FORESTS = {
    "comparator": st.sampled_from(["<=", "<"]),
    "dtype": st.sampled_from(["float64", "float32"]),
    "n_features": st.sampled_from([1, 2, 5, 70, 300]),
    "n_trees": st.integers(1, 5),
}


@given(st.fixed_dictionaries(FORESTS), st.integers(1, 20), SEEDS)
@settings(deadline=None)
def test_predictions_equal_the_twin(shape: dict[str, Any], n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, **shape)
    X = random_rows(rng, n_rows, forest)
    assert_same_answers(forest, X, Predictor(forest).predict(X))


MANY = {
    **FORESTS,
    "n_features": st.sampled_from([1, 5, 20]),
    "n_trees": st.integers(20, 60),
    "width": st.sampled_from([1, 2]),
}


@given(st.fixed_dictionaries(MANY), st.integers(20, 150), SEEDS)
def test_many_trees_for_many_rows_equal_the_twin(shape: dict[str, Any], n_rows: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, **shape)
    X = random_rows(rng, n_rows, forest)
    assert_same_answers(forest, X, Predictor(forest).predict(X))


@pytest.mark.parametrize(("n_features", "n_trees"), [(1, 150), (70, 60), (150, 80), (250, 90)])
@pytest.mark.parametrize("scale", [1.0, 600.0])
def test_thresholds_of_many_values_equal_the_twin(n_features: int, n_trees: int, scale: float) -> None:
    """More thresholds than a byte counts, sets of one to four words, thresholds on one scale and on many."""
    rng = np.random.default_rng(n_features)
    forest = random_forest(rng, n_features, n_trees, width=1)
    numeric = np.zeros(n_features, dtype=np.int64)
    spread = rng.normal(size=forest.n_nodes)
    forest = Forest.from_arrays(
        n_features=n_features,
        offsets=forest.offsets,
        feature=forest.feature,
        threshold=spread if scale == 1.0 else np.sign(spread) * np.exp(scale * rng.random(forest.n_nodes)),
        left=forest.left,
        right=forest.right,
        missing=forest.missing,
        category_widths=numeric,
        value=forest.value,
    ).validate()
    X = rng.choice(np.append(forest.threshold, [np.nan, np.inf, -np.inf]), size=(70, n_features))
    X[::2] = np.nextafter(X[::2], np.inf)
    answers = Predictor(forest).predict(X)
    assert_same_answers(forest, X, answers)
    # Alone, a row takes another way through the core.
    for i in range(4):
        outputs, acquired = Predictor(forest).predict(X[i : i + 1])
        assert np.array_equal(outputs[0], answers[0][i])
        assert np.array_equal(acquired[0], answers[1][i])


@given(
    st.data(), st.fixed_dictionaries({**FORESTS, "n_features": st.integers(1, 6)}), st.integers(1, 20), SEEDS
)
@settings(deadline=None)
def test_predictions_within_budgets_equal_the_twin(
    data: Any, shape: dict[str, Any], n_rows: int, seed: int
) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, **shape)
    sheet, slow_sheet = data.draw(sheets(forest.n_features))
    X = random_rows(rng, n_rows, forest)
    budgets = rng.choice([0.0, 0.5, 1.0, 2.0, 3.5, 1e6, np.inf], n_rows)
    outputs, acquired = Predictor(forest).predict(X, sheet=sheet, budget=budgets)
    assert_same_answers(forest, X, (outputs, acquired), slow_sheet, budgets)
    assert (sheet.total_rows(acquired) <= budgets * (1 + 1e-12)).all()


@given(st.fixed_dictionaries(FORESTS), SEEDS)
def test_an_unlimited_budget_is_none(shape: dict[str, Any], seed: int) -> None:
    rng = np.random.default_rng(seed)
    forest = random_forest(rng, **shape)
    X = random_rows(rng, 30, forest)
    predictor = Predictor(forest)
    free = predictor.predict(X)
    sheet = CostSheet(rng.random(forest.n_features))
    capped = predictor.predict(X, sheet=sheet, budget=np.full(30, np.inf))
    np.testing.assert_array_equal(capped[0], free[0])
    np.testing.assert_array_equal(capped[1], free[1])


@pytest.mark.parametrize("comparator", ["<=", "<"])
@pytest.mark.parametrize("x", [-math.inf, -5e-324, 0.0, 5e-324, 1.0, math.inf])
@pytest.mark.parametrize("threshold", [-math.inf, -0.0, 0.0, 5e-324, 1.0, math.inf])
def test_each_comparison_at_its_edge(comparator: str, x: float, threshold: float) -> None:
    forest = Forest.from_arrays(
        n_features=1,
        feature=[0, -1, -1],
        threshold=[threshold, 0, 0],
        left=[1, -1, -1],
        right=[2, -1, -1],
        value=[[0.0], [-1.0], [1.0]],
        comparator=comparator,
    )
    goes_left = x < threshold if comparator == "<" else x <= threshold
    outputs, _ = Predictor(forest).predict(np.array([[x]]))
    assert outputs[0, 0] == (-1.0 if goes_left else 1.0)


def test_every_layout_of_memory_gives_the_same_answers() -> None:
    rng = np.random.default_rng(0)
    forest = random_forest(rng, 6, 9)
    X = random_rows(rng, 333, forest)
    strided = np.empty((666, 18))[::2, ::3]
    strided[:] = X
    backwards = X[::-1, ::-1].copy()[::-1, ::-1]
    swapped = X.astype(X.dtype.newbyteorder())
    expected = Predictor(forest).predict(X)
    for layout in (np.asfortranarray(X), strided, backwards, swapped):
        answers = Predictor(forest).predict(layout)
        np.testing.assert_array_equal(answers[0], expected[0])
        np.testing.assert_array_equal(answers[1], expected[1])


def test_a_table_of_float32_is_compared_as_it_is() -> None:
    rng = np.random.default_rng(1)
    forest = random_forest(rng, 5, 9)
    with np.errstate(over="ignore"):
        X = random_rows(rng, 100, forest).astype(np.float32)
    assert_same_answers(forest, X, Predictor(forest).predict(X))


def test_training_rows_end_where_growing_put_them() -> None:
    rng = np.random.default_rng(2)
    values = np.column_stack([rng.normal(size=500), rng.integers(0, 300, 500), rng.choice(WILD, 500)])
    values[rng.random(values.shape) < 0.1] = np.nan
    table = Table(values, (0, 300, 0))
    grown = Grower(table.fast(), CostSheet([1.0] * 3), max_leaf_nodes=60).gradient(rng.normal(size=500))
    outputs, _ = Predictor(grown.tree).predict(values)
    np.testing.assert_array_equal(outputs[:, 0], grown.tree.value[grown.leaf_of_row, 0])
