"""Exported ONNX models predict what the library does, in onnxruntime."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.export.walking import fitted

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.errors import ExportError
from farthing.export import export_model
from farthing.forests import BudgetForestClassifier, BudgetTreeClassifier, from_model
from farthing.trees import Forest

pytest.importorskip("onnx", reason="ONNX is an extra")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime runs what is exported")

SUMS = (
    "AdaBoostBTClassifier", "AdaBoostClassifier", "BudgetForestClassifier", "BudgetForestRanker",
    "BudgetTreeClassifier", "DiagnosticPolicyClassifier", "GradientBoostingRegressor",
    "GreedyMiserClassifier", "GreedyMiserRanker", "GreedyMiserRegressor", "ImportedClassifier",
    "ImportedRegressor", "OptimalTreeClassifier", "PrunedForestClassifier",
)  # fmt: skip

ROWS = np.random.default_rng(1).normal(size=(60, 4))
ROWS[::7, 1] = np.nan
ROWS[::5, 0] = np.nan


def run(model: Any, folder: Path, rows: Any) -> list[Any]:
    (path,) = export_model(model, folder, to="onnx").paths
    session = runtime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
    return list(session.run(None, {"X": np.ascontiguousarray(rows, dtype=np.float64)}))


def assert_same(model: Any, folder: Path, rows: Any) -> None:
    """Sums are rounded to floats; labels must be the same unless two classes are equal in floats."""
    found = run(model, folder, rows)
    if not hasattr(model, "classes_"):
        np.testing.assert_allclose(found[0][:, 0], model.predict(rows), rtol=2e-7, atol=1e-7)
        return
    shares = model.predict_proba(rows)
    np.testing.assert_allclose(found[1], shares, rtol=1e-5, atol=3e-7)
    best = np.sort(shares, axis=1)
    clear = np.flatnonzero(best[:, -1] - best[:, -2] > 1e-6) if shares.shape[1] > 1 else range(len(rows))
    assert len(clear) > len(rows) / 2
    expected = model.predict(rows)
    assert [str(found[0][i]) for i in clear] == [str(expected[i]) for i in clear]


def table(n_classes: int = 3) -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 4))
    X[::9, 1] = np.nan
    score = X[:, 0] + X[:, 2] * X[:, 3]
    return X, np.digitize(score, np.quantile(score, np.linspace(0, 1, n_classes + 1)[1:-1]))


@pytest.mark.parametrize("method", SUMS)
def test_sums_over_trees_agree(method: str, tmp_path: Path) -> None:
    model, fresh = fitted(method, 0, table=0)
    assert_same(model, tmp_path, np.asarray(fresh, dtype=np.float64))


@pytest.mark.parametrize("method", ["ASTCClassifier", "EarlyExitClassifier", "ImportedLinearRegressor"])
def test_other_methods_say_why_not(method: str, tmp_path: Path) -> None:
    model, _ = fitted(method, 0, table=0)
    with pytest.raises(ExportError, match=f"^{method} cannot be exported to ONNX: which trees a row passes"):
        export_model(model, tmp_path, to="onnx")


@pytest.mark.parametrize("n_classes", [2, 3])
def test_forests_boosters_and_missing_values(n_classes: int, tmp_path: Path) -> None:
    X, y = table(n_classes)
    for model in (
        GreedyMiserClassifier(n_estimators=6),
        BudgetForestClassifier(n_estimators=5, random_state=0),
        BudgetTreeClassifier(),
    ):
        assert_same(model.fit(X, np.array(["a", "b", "c"])[y]), tmp_path, ROWS)
    assert_same(GreedyMiserRegressor(n_estimators=6).fit(X, X[:, 0] ** 2), tmp_path, ROWS)


def test_imported_models_of_single_precision(tmp_path: Path) -> None:
    xgboost = pytest.importorskip("xgboost")
    X, y = table(2)
    theirs = xgboost.XGBClassifier(n_estimators=5, max_depth=3).fit(X, y)
    found = run(from_model(theirs), tmp_path, ROWS)
    np.testing.assert_allclose(found[1], theirs.predict_proba(ROWS), rtol=1e-6)


def test_costs_of_errors_decide_the_label(tmp_path: Path) -> None:
    X, y = table(3)
    model = GreedyMiserClassifier(n_estimators=4, error_costs=[[0, 1, 5], [9, 0, 1], [2, 30, 0]]).fit(X, y)
    plain = GreedyMiserClassifier(n_estimators=4).fit(X, y)
    assert (model.predict(ROWS) != plain.predict(ROWS)).any()
    assert_same(model, tmp_path, ROWS)


def test_a_missing_value_that_stays_ends_at_the_inner_node(tmp_path: Path) -> None:
    X, _ = table()
    model = GreedyMiserRegressor(n_estimators=3).fit(X, X[:, 0])
    forest = model.fitted_.forest
    stays = Forest.from_arrays(
        n_features=4,
        offsets=forest.offsets,
        feature=forest.feature,
        threshold=forest.threshold,
        left=forest.left,
        right=forest.right,
        missing=np.full(forest.n_nodes, 2),
        value=forest.value,
        comparator="<",
    )
    model.fitted_ = replace(model.fitted_, forest=stays)
    assert_same(model, tmp_path, ROWS)


def test_a_model_that_looks_at_nothing(tmp_path: Path) -> None:
    X, _ = table()
    assert_same(GreedyMiserRegressor(n_estimators=2).fit(X, np.full(len(X), 3.5)), tmp_path, ROWS)


def test_what_cannot_be_written_says_why(tmp_path: Path) -> None:
    X, y = table(2)
    with pytest.raises(ExportError, match="GreedyMiserClassifier with a hard budget"):
        run(GreedyMiserClassifier(n_estimators=2, budget=2.0).fit(X, y), tmp_path, ROWS)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"kind": np.array(["x", "y", "z"])[y + (X[:, 0] > 0)], "size": X[:, 2]})
    with pytest.raises(ExportError, match="categories of 'kind'"):
        run(GreedyMiserClassifier(n_estimators=2).fit(frame, y), tmp_path, ROWS)
    assert not list(tmp_path.glob("*.onnx"))
