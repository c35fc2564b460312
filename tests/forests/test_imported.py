"""Models of other libraries predict here what they predict there."""

from __future__ import annotations

import sys
from typing import Any

import lightgbm
import numpy as np
import pandas as pd
import pytest
import treelite
import xgboost
from sklearn.dummy import DummyClassifier
from sklearn.ensemble import (
    AdaBoostClassifier,
    ExtraTreesClassifier,
    ExtraTreesRegressor,
    GradientBoostingClassifier,
    GradientBoostingRegressor,
    HistGradientBoostingClassifier,
    HistGradientBoostingRegressor,
    IsolationForest,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor, ExtraTreeClassifier
from threadpoolctl import threadpool_limits

import farthing
from farthing import consult
from farthing.costs import CostSheet, Group
from farthing.errors import ModelImportError
from farthing.forests import ImportedClassifier, ImportedRegressor, from_model, prune_path

RNG = np.random.default_rng(0)
X, X_NAN = RNG.normal(size=(150, 5)), RNG.normal(size=(150, 5))
X_NAN[RNG.random(X_NAN.shape) < 0.2] = np.nan
LEVEL = np.nan_to_num(X_NAN[:, 0]) + np.nan_to_num(X_NAN[:, 1])
FRESH, FRESH_NAN = RNG.normal(size=(200, 5)), RNG.normal(size=(200, 5))
FRESH_NAN[RNG.random(FRESH_NAN.shape) < 0.3] = np.nan


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Keep the libraries from waiting for each other's threads on a busy machine."""
    with threadpool_limits(1):
        yield


def target(table: np.ndarray, kind: str) -> np.ndarray:
    level = np.nan_to_num(table[:, 0]) + np.nan_to_num(table[:, 1])
    if kind == "regression":
        return np.abs(level)
    three = np.searchsorted([-0.5, 1.0], level)
    return three if kind == "classes" else three > 0


EXACT = [
    (DecisionTreeClassifier(random_state=0), "classes", True),
    (ExtraTreeClassifier(random_state=0), "classes", True),
    (DecisionTreeRegressor(random_state=0), "regression", True),
    (RandomForestClassifier(8, random_state=0), "classes", True),
    (RandomForestClassifier(8, random_state=0), "binary", True),
    (RandomForestRegressor(8, random_state=0), "regression", True),
    (ExtraTreesClassifier(8, random_state=0), "classes", True),
    (ExtraTreesRegressor(8, random_state=0), "regression", True),
    (GradientBoostingClassifier(n_estimators=8), "classes", False),
    (GradientBoostingClassifier(n_estimators=8), "binary", False),
    (GradientBoostingRegressor(n_estimators=8), "regression", False),
    (HistGradientBoostingClassifier(max_iter=8), "classes", True),
    (HistGradientBoostingClassifier(max_iter=8), "binary", True),
    (HistGradientBoostingRegressor(max_iter=8), "regression", True),
    (HistGradientBoostingRegressor(max_iter=8, loss="poisson"), "regression", True),
    (lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1), "classes", True),
    (lightgbm.LGBMClassifier(n_estimators=8, verbose=-1, n_jobs=1), "binary", True),
    (lightgbm.LGBMRegressor(n_estimators=8, verbose=-1, n_jobs=1), "regression", True),
    (lightgbm.LGBMRegressor(n_estimators=8, verbose=-1, n_jobs=1, objective="poisson"), "regression", True),
]
XGBOOST = [  # adds in float32
    (xgboost.XGBClassifier(n_estimators=30, n_jobs=1), "classes", True),
    (xgboost.XGBClassifier(n_estimators=30, n_jobs=1), "binary", True),
    (xgboost.XGBClassifier(n_estimators=30, n_jobs=1, base_score=0.5), "binary", True),
    (xgboost.XGBRegressor(n_estimators=30, n_jobs=1), "regression", True),
    (xgboost.XGBRegressor(n_estimators=30, n_jobs=1, objective="count:poisson"), "regression", True),
]


def name(case: Any) -> str:
    return f"{type(case).__name__}" if hasattr(case, "fit") else str(case)


def answers(model: Any, table: np.ndarray) -> np.ndarray:
    return np.asarray(model.predict_proba(table) if hasattr(model, "predict_proba") else model.predict(table))


@pytest.mark.filterwarnings("ignore:X does not have valid feature names")
@pytest.mark.parametrize(("model", "kind", "missing"), EXACT, ids=name)
def test_the_same_answers_to_the_last_float32_bit(model: Any, kind: str, missing: bool) -> None:
    for table, fresh in ((X, FRESH), (X_NAN, FRESH_NAN))[: 1 + missing]:
        model.fit(table, target(table, kind))
        ours, theirs = answers(from_model(model), fresh), answers(model, fresh)
        assert (ours.astype(np.float32) == theirs.astype(np.float32)).all()
        np.testing.assert_allclose(ours, theirs, rtol=1e-14, atol=1e-15)
        if kind != "regression":
            assert (from_model(model).predict(fresh) == model.predict(fresh)).all()


@pytest.mark.parametrize(("model", "kind", "missing"), XGBOOST, ids=name)
def test_sums_in_float32_are_the_same_bits(model: Any, kind: str, missing: bool) -> None:
    for table, fresh in ((X, FRESH), (X_NAN, FRESH_NAN))[: 1 + missing]:
        model.fit(table, target(table, kind).astype(float))
        imported = from_model(model)
        sums = imported.fitted_.predictor.predict(fresh)[0]
        assert (np.squeeze(sums) == model.predict(fresh, output_margin=True)).all()
        ours, theirs = answers(imported, fresh), answers(model, fresh)
        # The nearest float32 to an exponential is not always that of the C library.
        assert (ours == theirs).mean() >= 0.99
        np.testing.assert_array_max_ulp(ours.astype(np.float32), theirs, maxulp=2)
        if kind != "regression":
            assert (imported.predict(fresh) == model.predict(fresh)).all()
        names = imported.schema_.names
        for row, whole in zip(fresh[:20], ours, strict=False):
            walked = consult(imported, dict(zip(names, row, strict=True)))
            given = walked.prediction if kind == "regression" else list(walked.probabilities.values())
            assert given == (whole if kind == "regression" else whole.tolist())


def test_values_at_a_threshold_go_where_the_source_sends_them() -> None:
    """Float64 entries that round to a float32 threshold, or lie next to it, on either side."""
    for model in (RandomForestClassifier(5, random_state=0), xgboost.XGBClassifier(n_estimators=5, n_jobs=1)):
        model.fit(X, target(X, "classes"))
        forest = from_model(model).forest_
        inner = forest.feature >= 0
        edges = np.concatenate(
            [
                np.nextafter(np.float32(forest.threshold[inner]), np.float32(side)).astype(np.float64)
                for side in (-np.inf, 0.0, np.inf)
            ]
            + [forest.threshold[inner], np.nextafter(forest.threshold[inner], np.inf)]
        )
        table = np.tile(X[:1], (len(edges), 1))
        table[np.arange(len(edges)), np.tile(forest.feature[inner], 5)] = edges
        np.testing.assert_allclose(answers(from_model(model), table), answers(model, table), rtol=3e-6)


def test_names_classes_prices_and_the_account() -> None:
    frame = pd.DataFrame(X, columns=["age", "dose", "pulse", "chol", "fbs"])
    labels = np.array(["low", "mid", "top"])[target(X, "classes")]
    sheet = CostSheet(
        {"age": 1.0, "dose": 2.0, "pulse": 0.5, "chol": 3.0, "fbs": 1.0},
        groups={"blood": Group(2.0, ["chol", "fbs"])},
    )
    forest = RandomForestClassifier(3, max_depth=2, random_state=0).fit(frame, labels)
    model = from_model(forest, sheet)
    assert isinstance(model, ImportedClassifier)
    assert model.classes_.tolist() == ["low", "mid", "top"]
    assert list(model.feature_names_in_) == list(frame.columns)
    assert (model.predict(frame) == forest.predict(frame)).all()
    tested = np.zeros((len(X), 5), dtype=bool)
    for tree in forest.estimators_:
        for node in range(tree.tree_.node_count):
            if tree.tree_.feature[node] >= 0:
                passed = np.asarray(tree.decision_path(X.astype(np.float32))[:, [node]].todense())[:, 0] > 0
                tested[passed, tree.tree_.feature[node]] = True
    assert (model.acquired(frame) == tested).all()
    assert (model.spend(frame) == sheet.total_rows(tested)).all()
    walk = model.walk()
    while (ask := walk.ask) is not None:
        walk.tell(frame[ask.feature].iloc[7])
    assert walk.decision.prediction == forest.predict(frame)[7]
    assert walk.decision.spent == model.spend(frame)[7]


def test_bare_boosters_and_treelite_models() -> None:
    y = target(X, "classes")
    lgb = lightgbm.train(
        {"objective": "multiclass", "num_class": 3, "verbose": -1, "num_threads": 1},
        lightgbm.Dataset(X, y),
        num_boost_round=4,
    )
    model = from_model(lgb, classes=["a", "b", "c"])
    np.testing.assert_allclose(model.predict_proba(FRESH), lgb.predict(FRESH), rtol=1e-14)
    assert set(model.predict(FRESH)) == {"a", "b", "c"}
    xgb = xgboost.train({"objective": "reg:squarederror", "nthread": 1}, xgboost.DMatrix(X, y), 4)
    assert (from_model(xgb).predict(FRESH) == xgb.predict(xgboost.DMatrix(FRESH))).all()
    forest = RandomForestRegressor(4, random_state=0).fit(X, y)
    again = from_model(treelite.sklearn.import_model(forest), feature_names=list("abcde"))
    named = pd.DataFrame(FRESH, columns=list("abcde"))
    np.testing.assert_allclose(again.predict(named), forest.predict(FRESH), rtol=1e-12)
    ranker = lightgbm.LGBMRanker(n_estimators=3, verbose=-1, n_jobs=1).fit(X, y, group=[50, 50, 50])
    assert isinstance(from_model(ranker), ImportedRegressor)
    np.testing.assert_allclose(from_model(ranker).predict(FRESH), ranker.predict(FRESH), rtol=1e-14)


def test_inner_nodes_have_the_mean_of_their_rows() -> None:
    """Of a forest without limits each node's value is that of the training rows that reach it."""
    y = target(X, "classes")
    tree = DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, y)
    model = from_model(tree)
    assert model.forest_.n_nodes == tree.tree_.node_count
    by_cover = {float(v.sum()): v for v in model.forest_.value * model.forest_.cover[:, None]}
    assert max(by_cover) == pytest.approx(len(y))
    np.testing.assert_allclose(model.forest_.value[0], np.bincount(y) / len(y))
    np.testing.assert_allclose(model.predict_proba(X, budget=0), np.tile(np.bincount(y) / len(y), (150, 1)))
    shares = np.sort(model.forest_.value.round(9), axis=0)
    np.testing.assert_allclose(shares, np.sort(tree.tree_.value[:, 0].round(9), axis=0))


@pytest.mark.parametrize("kind", ["binary", "regression"])
def test_a_file_holds_the_trees_and_not_the_model(kind: str, tmp_path: Any) -> None:
    learner: Any = GradientBoostingClassifier if kind == "binary" else HistGradientBoostingRegressor
    model = from_model(learner().fit(X, target(X, kind)), costs=np.arange(5.0))
    model.save(tmp_path / "model")
    loaded = farthing.load(tmp_path / "model")
    assert loaded.model is None
    assert (answers(loaded, FRESH) == answers(model, FRESH)).all()
    assert (loaded.spend(FRESH) == model.spend(FRESH)).all()


def test_imported_forests_can_be_pruned() -> None:
    y = target(X, "classes")
    model = from_model(RandomForestClassifier(5, random_state=0).fit(X, y))
    path = prune_path(model, FRESH, target(FRESH, "classes"), X_error=X, y_error=y)
    assert path.costs[0] == pytest.approx(model.spend(FRESH).mean())
    assert path.costs[-1] < path.costs[0]
    alone = prune_path(model, FRESH, target(FRESH, "classes"))
    assert alone.costs[-1] < alone.costs[0]


def test_fitting_one_trains_the_model_on_the_encoded_table() -> None:
    frame = pd.DataFrame({"a": X[:, 0], "b": np.where(X[:, 1] > 0, "up", "down")})
    labels = np.where((X[:, 0] > 0) & (X[:, 1] > 0), "yes", "no")
    model = ImportedClassifier(GradientBoostingClassifier(n_estimators=20)).fit(frame, labels)
    assert model.score(frame, labels) == 1.0
    shares = (labels == "yes").mean()
    np.testing.assert_allclose(model.predict_proba(frame[:1], budget=0), [[1 - shares, shares]])
    with pytest.raises(ValueError, match="classifier"):
        ImportedClassifier(RandomForestRegressor()).fit(frame, labels)


def categories() -> Any:
    frame = pd.DataFrame({"a": pd.Categorical(np.where(X[:, 0] > 0, "up", "down")), "b": X[:, 1]})
    settings = {
        "n_estimators": 3,
        "verbose": -1,
        "n_jobs": 1,
        "min_child_samples": 1,
        "min_data_per_group": 1,
    }
    return lightgbm.LGBMClassifier(**settings, cat_smooth=0, cat_l2=0).fit(frame, X[:, 0] > 0)


REFUSED = [
    (AdaBoostClassifier(n_estimators=2), "AdaBoostClassifier"),
    (IsolationForest(n_estimators=2), "outlier"),
    (DummyClassifier(), "DummyClassifier"),
    (
        lightgbm.LGBMClassifier(n_estimators=2, verbose=-1, n_jobs=1, objective="multiclassova"),
        "multiclass_ova",
    ),
    (GradientBoostingRegressor(n_estimators=2, init=DecisionTreeRegressor()), "init"),
]


@pytest.mark.parametrize(("model", "message"), REFUSED, ids=name)
def test_what_cannot_be_brought_over_is_named(model: Any, message: str) -> None:
    with pytest.raises(ModelImportError, match=message):
        from_model(model.fit(X, target(X, "classes")))


def test_more_that_cannot_be_brought_over() -> None:
    with pytest.raises(ModelImportError, match="categories"):
        from_model(treelite.frontend.from_lightgbm(categories().booster_))
    several = RandomForestRegressor(2).fit(X, X[:, :2])
    with pytest.raises(ModelImportError, match="several targets"):
        from_model(several)
    with pytest.raises(ModelImportError, match="dict of builtins"):
        from_model({})
    with pytest.raises(ValueError, match="not fitted"):
        from_model(RandomForestClassifier())
    forest = RandomForestClassifier(2).fit(X, target(X, "classes"))
    with pytest.raises(ValueError, match="3 labels"):
        from_model(forest, classes=["a", "b"])
    with pytest.raises(ValueError, match="feature_names"):
        from_model(forest, feature_names=["a"])


def test_treelite_is_needed_for_its_own_models_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "treelite", None)
    forest = RandomForestClassifier(2, random_state=0).fit(X, target(X, "classes"))
    assert (from_model(forest).predict(FRESH) == forest.predict(FRESH)).all()
