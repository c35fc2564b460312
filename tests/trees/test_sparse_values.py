"""Sparse values of nodes against their dense twins: the same bits in a fraction of the memory."""

from __future__ import annotations

import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.ensemble import RandomForestClassifier

import farthing
from farthing.base import normalise, row_sums
from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet
from farthing.errors import FileError
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier, from_model, prune_path
from farthing.trees import Forest, Predictor, SparseRows, compact, explained_shares, pruned, same_values
from farthing.walks import ForestPolicy

N_CLASSES = 200


def table(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Many classes around centres of their own, with gaps."""
    rng = np.random.default_rng(seed)
    y = np.concatenate([np.arange(N_CLASSES), rng.integers(0, N_CLASSES, 400)])
    X = rng.normal(size=(N_CLASSES, 6))[y] + 0.5 * rng.normal(size=(len(y), 6))
    X[rng.random(X.shape) < 0.05] = np.nan
    return X, y


@pytest.fixture(scope="module", params=[{}, {"max_leaf_nodes": 60}], ids=["deep", "small"])
def model(request: pytest.FixtureRequest) -> BudgetForestClassifier:
    settings = {"n_estimators": 10, "random_state": 1, "n_jobs": 1} | request.param
    return BudgetForestClassifier(**settings).fit(*table())


def with_zeros(forest: Forest) -> Forest:
    """The naive twin: the same trees with a dense matrix."""
    return replace(forest, node_values=forest.value)


counts = arrays(
    np.float64,
    st.tuples(st.integers(1, 12), st.integers(1, 40)),
    elements=st.sampled_from([0.0] * 6 + [1.0, 3.0, 0.1, 1e-300]),
).map(lambda values: np.where(values.any(axis=1, keepdims=True), values, 1.0))


@given(values=counts, data=st.data())
def test_rows_are_those_of_the_dense_matrix(values: np.ndarray, data: st.DataObject) -> None:
    rows = SparseRows.of(values)
    rows.validate()
    mask = data.draw(arrays(np.bool_, len(values)))
    assert np.array_equal(rows.dense(), values)
    assert np.array_equal(rows[mask].dense(), values[mask])
    assert np.array_equal(rows[1:3].dense(), values[1:3])
    assert np.array_equal(SparseRows.concat([rows, rows[mask]]).dense(), np.vstack([values, values[mask]]))
    assert rows.sums().tobytes() == row_sums(values).tobytes()
    assert np.array_equal(rows.argmax(), values.argmax(axis=1))
    # A row alone is normalised by other code, to the same bits.
    twin = normalise(np.vstack([values, values]))[: len(values)]
    assert rows.normalised().dense().tobytes() == twin.tobytes()


def test_growth_and_files_hold_no_zeros(model: BudgetForestClassifier, tmp_path: Path) -> None:
    forest = model.forest_
    assert isinstance(forest.node_values, SparseRows)
    dense = 8 * forest.n_nodes * N_CLASSES
    assert forest.node_values.nbytes < dense / 4
    model.save(tmp_path / "model.farthing")
    assert (tmp_path / "model.farthing").stat().st_size < dense / 4 + 60 * forest.n_nodes + 60_000
    loaded = farthing.load(tmp_path / "model.farthing")
    assert isinstance(loaded.forest_.node_values, SparseRows)
    assert loaded.forest_ == forest == with_zeros(forest)
    X, _ = table(1)
    assert loaded.predict_proba(X).tobytes() == model.predict_proba(X).tobytes()


def test_grown_values_are_the_class_weights_of_the_rows() -> None:
    X, y = table()
    tree = BudgetTreeClassifier(max_leaf_nodes=50).fit(X, y).forest_
    assert isinstance(tree.node_values, SparseRows)
    expected = np.zeros((tree.n_nodes, N_CLASSES))
    for row, label in zip(X, y, strict=True):
        node: int | None = 0
        while node is not None:
            expected[node, label] += 1
            node = tree.route(node, row[tree.feature[node]]) if tree.feature[node] >= 0 else None
    assert np.array_equal(tree.value, expected)


@pytest.mark.parametrize("aggregation", ["distribution", "vote", "count"])
def test_predictions_keep_their_bits(model: BudgetForestClassifier, aggregation: str) -> None:
    sparse = replace(model.fitted_, aggregation=aggregation)
    dense = replace(sparse, forest=with_zeros(sparse.forest))
    X, _ = table(2)
    X = X[:150]
    assert isinstance(sparse.node_scores(), SparseRows)
    assert same_values(sparse.node_scores(), dense.node_scores())
    budget = np.linspace(0, 6, len(X))
    for limit in (None, budget):
        for mine, twin in zip(
            sparse.outputs(X, budget=limit), dense.outputs(X, budget=limit, n_threads=2), strict=True
        ):
            assert mine.tobytes() == twin.tobytes()
    refused = np.tile([True, False, False, False, False, True], (len(X), 1))
    mine, twin = (each.outputs_refused(X, refused)[0] for each in (sparse, dense))
    assert mine.tobytes() == twin.tobytes()
    assert np.allclose(sparse.feature_importances, dense.feature_importances, rtol=1e-12, atol=0)


def test_a_walk_adds_the_same_bits(model: BudgetForestClassifier) -> None:
    forest, X = model.forest_, np.nan_to_num(table(3)[0])
    for row in X[:5]:
        sums = []
        for each in (forest, with_zeros(forest)):
            policy = ForestPolicy.of(Predictor(each))
            policy.hear_ahead(dict(enumerate(row.tolist())))
            sums.append(policy.output())
        assert sums[0].tobytes() == sums[1].tobytes()


def test_forests_are_cut_and_joined_as_their_twins(model: BudgetForestClassifier) -> None:
    forest = model.forest_
    twin = with_zeros(forest)
    kept = np.random.default_rng(0).random(forest.n_nodes) < 0.9
    assert forest.trees(2, 5) == twin.trees(2, 5)
    assert pruned(forest, kept) == pruned(twin, kept)
    mixed = Forest.concat([forest.trees(0, 4), twin.trees(4, 10)])
    assert mixed == forest
    assert isinstance(mixed.node_values, SparseRows)
    assert forest.trees(0, 3).begins(forest)
    assert twin.trees(0, 3).begins(forest)
    assert pickle.loads(pickle.dumps(forest)) == forest
    assert hash(forest) == hash(twin)
    assert np.allclose(
        explained_shares(forest, forest.node_values), explained_shares(twin, twin.value), rtol=1e-12
    )


def test_what_does_not_pay_stays_dense() -> None:
    few = np.eye(20)
    negative = np.eye(100) - 2 * np.eye(100)
    empty = np.eye(100)
    empty[3] = 0.0
    minus_zero = np.where(np.eye(100) > 0, 1.0, -0.0)
    for values in (few, negative, empty, minus_zero, np.ones((100, 100))):
        assert compact(values) is values
    # A stump: its nodes hold most classes.
    stump = BudgetTreeClassifier(max_leaf_nodes=2).fit(*table()).forest_
    assert isinstance(stump.node_values, np.ndarray)


def test_imported_forests_are_sparse() -> None:
    X, y = table()
    X = np.nan_to_num(X)
    source = RandomForestClassifier(n_estimators=3, random_state=0).fit(X, y)
    imported = from_model(source)
    assert isinstance(imported.forest_.node_values, SparseRows)
    assert np.allclose(imported.predict_proba(X), source.predict_proba(X), rtol=1e-12)


def test_prunings_are_those_of_the_twin(model: BudgetForestClassifier) -> None:
    X, y = table(4)
    fitted = model.fitted_
    twin = model.variant({}, replace(fitted, forest=with_zeros(fitted.forest)))
    mine, theirs = (prune_path(each, X[:60], y[:60]) for each in (model, twin))
    assert np.array_equal(mine.drop, theirs.drop)
    assert [point.spend for point in mine] == [point.spend for point in theirs]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"starts": [0, 1, 1]}, "number of entries"),
        ({"starts": [0, 3, 3]}, "every row"),
        ({"starts": [1, 2, 3]}, "starts must run"),
        ({"columns": [0, 2, 40]}, "between 0 and 39"),
        ({"columns": [-1, 2, 1]}, "between 0 and 39"),
        ({"columns": [2, 2, 1]}, "ascend"),
        ({"columns": [2, 3]}, "2 columns"),
        ({"entries": [1.0, 0.0, 1.0]}, "positive"),
        ({"entries": [1.0, np.inf, 1.0]}, "positive"),
        ({"entries": [1.0, -1.0, 1.0]}, "positive"),
    ],
)
def test_hostile_rows_are_refused(changes: dict[str, list[float]], message: str) -> None:
    fields = {"starts": [0, 2, 3], "columns": [0, 2, 1], "entries": [1.0, 2.0, 3.0]} | changes
    dtypes = {"starts": np.int64, "columns": np.int32, "entries": np.float64}
    rows = SparseRows(40, **{name: np.array(fields[name], dtype=dtypes[name]) for name in dtypes})
    forest = Forest.from_arrays(
        n_features=1,
        offsets=[0, 1, 2],
        feature=[-1, -1],
        threshold=[0, 0],
        left=[-1, -1],
        right=[-1, -1],
        value=rows,
    )
    with pytest.raises(ValueError, match=message):
        forest.validate()


def test_zeros_that_no_machine_holds_are_refused() -> None:
    one = SparseRows(2**31 - 1, np.arange(10_001), np.zeros(10_000, dtype=np.int32), np.ones(10_000))
    with pytest.raises(MemoryError, match="10000 nodes"):
        one.dense()


def test_models_that_read_every_value_refuse_sparse_ones(tmp_path: Path) -> None:
    X = np.arange(8.0).reshape(-1, 1)
    boosted = GradientBoostingRegressor(n_estimators=1, costs=CostSheet([1.0])).fit(X, np.arange(8.0))
    values = SparseRows.of(np.abs(boosted.fitted_.forest.value) + 1.0)
    broken = boosted.variant(
        {}, replace(boosted.fitted_, forest=replace(boosted.forest_, node_values=values))
    )
    broken.save(tmp_path / "model.farthing")
    with pytest.raises(FileError, match="no sparse values"):
        farthing.load(tmp_path / "model.farthing")
