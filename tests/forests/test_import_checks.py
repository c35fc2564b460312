"""Imports are compared with their source; names, categories and linear models keep the contract."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn import ensemble, impute, linear_model, pipeline, preprocessing, tree
from threadpoolctl import threadpool_limits

from farthing import consult, load
from farthing.errors import ModelImportError, UnseenCategoryWarning
from farthing.forests import (
    ImportedLinearClassifier,
    ImportedLinearRegressor,
    ImportedRegressor,
    from_model,
)
from farthing.forests.imported.probes import check_same, probe_rows
from farthing.forests.imported.reading import read

RNG = np.random.default_rng(7)
N = 160
X, FRESH = RNG.normal(size=(2, N, 4)).round(2)
HOLES, FRESH_HOLES = (np.where(RNG.random(X.shape) < 0.2, np.nan, table) for table in (X, FRESH))
CODES, FRESH_CODES = RNG.integers(0, 6, size=(2, N))
KINDS = ["u", "v", "w", "x", "y", "z"]
LEVEL = X[:, 0] + X[:, 1] + (CODES % 2) - 0.5
BINARY = (LEVEL > 0).astype(int)
LABELS = np.array(["low", "mid", "top"])[np.searchsorted([-0.7, 0.8], LEVEL)]


def framed(table: np.ndarray, codes: np.ndarray) -> pd.DataFrame:
    """Return a table with a column of categories, and a name with a space."""
    kinds = pd.Categorical.from_codes(codes, KINDS)
    return pd.DataFrame({"mean dose": table[:, 0], "kind": kinds, "b": table[:, 1]})


FRAME, FRESH_FRAME = framed(HOLES, CODES), framed(FRESH_HOLES, FRESH_CODES)
TEXT, FRESH_TEXT = (frame.astype({"kind": str}) for frame in (FRAME, FRESH_FRAME))
LGB = {"n_estimators": 5, "n_jobs": 1, "verbose": -1, "min_child_samples": 5}
CAT_LGB = {**LGB, "min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.0}
XGB = {"n_estimators": 5, "n_jobs": 1, "max_depth": 3}
CATB = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Keep the libraries from waiting for each other's threads on a busy machine."""
    with threadpool_limits(1):
        yield


class Shifted(ensemble.RandomForestRegressor):
    """Predicts otherwise than its trees."""

    def predict(self, X: Any) -> np.ndarray:
        return np.asarray(super().predict(X)) + 0.25


class Cautious(ensemble.RandomForestClassifier):
    """Predicts otherwise than its probabilities."""

    def predict(self, X: Any) -> np.ndarray:
        return np.zeros(len(X), dtype=int)


def test_an_import_that_differs_from_its_source_is_refused_with_the_largest_difference() -> None:
    with pytest.raises(ModelImportError, match=r"Shifted.* (\d+) of \1 probe rows, by up to 0\.25"):
        from_model(Shifted(3, random_state=0).fit(X, LEVEL))
    with pytest.raises(ModelImportError, match=r"Cautious.*other labels"):
        from_model(Cautious(3, random_state=0).fit(X, BINARY))


def test_one_threshold_that_is_off_by_one_bit_is_noticed() -> None:
    model = tree.DecisionTreeRegressor(max_depth=3, random_state=0).fit(X, LEVEL)
    source = read(model)
    imported = from_model(model).fitted_
    check_same("tree", source, imported)
    threshold = imported.forest.threshold.copy()
    inner = int(np.flatnonzero(imported.forest.feature >= 0)[-1])
    threshold[inner] = np.nextafter(np.float32(threshold[inner]), np.float32(np.inf))
    moved = replace(imported, forest=replace(imported.forest, threshold=threshold))
    with pytest.raises(ModelImportError, match="differs from the source"):
        check_same("tree", source, moved)


def test_probe_rows_lie_below_at_and_above_each_threshold() -> None:
    source = read(lightgbm.LGBMRegressor(**LGB).fit(HOLES, LEVEL))
    rows, forest = probe_rows(source), source.parts.forest
    for column in range(4):
        at = np.unique(forest.threshold[forest.feature == column])
        entries = rows[:, column]
        assert np.isnan(entries).any()
        assert (entries == 0).any()
        for threshold in at:
            assert np.isin([np.nextafter(threshold, side) for side in (-np.inf, np.inf)], entries).all()
            assert threshold in entries


def test_names_with_spaces_survive_lightgbm() -> None:
    model = lightgbm.LGBMClassifier(**CAT_LGB).fit(FRAME, BINARY)
    expected = model.predict(FRESH_FRAME)
    plain = from_model(model)
    assert plain.schema_.names == ("mean_dose", "kind", "b")
    assert (plain.predict(FRESH_FRAME) == expected).all()
    priced = from_model(model, {"mean dose": 4.0, "kind": 2.0, "b": 1.0})
    assert priced.schema_.names == ("mean dose", "kind", "b")
    assert (priced.predict(FRESH_FRAME) == expected).all()
    assert priced.spend(FRESH_FRAME).max() == 7.0


def many_categories() -> tuple[pd.DataFrame, np.ndarray]:
    """Return a frame with 150 categories, more than two words of codes, and a target that needs them."""
    codes = np.random.default_rng(5).integers(0, 150, size=600)
    kinds = pd.Categorical.from_codes(codes, [f"k{code}" for code in range(150)])
    return pd.DataFrame({"kind": kinds, "a": np.arange(600) % 7.0}), ((codes * 7) % 11 > 5).astype(int)


@pytest.mark.parametrize("library", ["hist", "lgb", "xgb"])
def test_many_categories_walks_and_files(library: str, tmp_path: Any) -> None:
    frame, y = many_categories()
    model: Any = {
        "hist": ensemble.HistGradientBoostingClassifier(max_iter=4, min_samples_leaf=1),
        "lgb": lightgbm.LGBMClassifier(**{**CAT_LGB, "min_child_samples": 1, "max_cat_threshold": 150}),
        "xgb": xgboost.XGBClassifier(**XGB, enable_categorical=True),
    }[library]
    imported = from_model(model.fit(frame, y))
    np.testing.assert_allclose(imported.predict_proba(frame), model.predict_proba(frame), rtol=3e-6)
    assert len(np.unique(imported.predict_proba(frame))) > 4
    row = frame.iloc[3].to_dict()
    walked = consult(imported, row)
    assert list(walked.probabilities.values()) == imported.predict_proba(frame[3:4])[0].tolist()
    imported.save(tmp_path / "model")
    assert (load(tmp_path / "model").predict_proba(frame) == imported.predict_proba(frame)).all()
    # A missing category is one like any other; one that is new counts as missing.
    hole = frame[:1].assign(kind=pd.Categorical([None], categories=frame["kind"].cat.categories))
    np.testing.assert_allclose(imported.predict_proba(hole), model.predict_proba(hole), rtol=3e-6)
    unseen = pd.DataFrame({"kind": ["new"], "a": frame["a"][:1]})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UnseenCategoryWarning)  # issued if the row buys it
        answered = imported.predict_proba(unseen)
    assert (answered == imported.predict_proba(hole)).all()


def test_linear_models_buy_the_columns_with_a_coefficient(tmp_path: Any) -> None:
    frame = pd.DataFrame(X, columns=["a", "b", "c", "d"])
    model = linear_model.Lasso(0.2).fit(frame, X[:, 0] - X[:, 1])
    imported = from_model(model, {"a": 2.0, "b": 3.0, "c": 50.0, "d": 50.0})
    assert imported.spend(frame).tolist() == [5.0] * N
    assert imported.acquired(frame)[0].tolist() == [True, True, False, False]
    walked = consult(imported, {"a": 1.5, "b": -0.5})
    expected = model.predict(pd.DataFrame([[1.5, -0.5, 9.0, 9.0]], columns=list("abcd")))[0]
    assert walked.prediction == pytest.approx(expected, rel=1e-12)
    assert walked.spent == 5.0
    imported.save(tmp_path / "model")
    assert (load(tmp_path / "model").predict(frame) == imported.predict(frame)).all()


def test_fits_are_compared_with_their_learner() -> None:
    learner = linear_model.SGDClassifier(loss="modified_huber", random_state=0)
    with pytest.raises(ModelImportError, match=r"SGDClassifier.*predict_proba differs"):
        ImportedLinearClassifier(learner).fit(FRAME, BINARY)
    with pytest.raises(ModelImportError, match=r"Shifted.*by up to 0\.25"):
        ImportedRegressor(Shifted(3, random_state=0)).fit(FRAME, LEVEL)
    fitted = ImportedLinearClassifier(linear_model.LogisticRegression(C=9.0)).fit(FRAME, LABELS)
    assert fitted.score(FRAME, LABELS) > 0.7
    with pytest.raises(ModelImportError, match="must be made of trees"):
        ImportedRegressor(linear_model.Ridge()).fit(X, LEVEL)
    with pytest.raises(ModelImportError, match="must be a linear model"):
        ImportedLinearRegressor(tree.DecisionTreeRegressor()).fit(X, LEVEL)


def test_a_pipeline_fills_and_scales_as_its_steps_do() -> None:
    steps = [
        impute.SimpleImputer(strategy="median"),
        preprocessing.MinMaxScaler(),
        preprocessing.StandardScaler(),
    ]
    model = pipeline.make_pipeline(*steps, linear_model.LogisticRegression()).fit(HOLES, LABELS)
    imported = from_model(model)
    np.testing.assert_allclose(
        imported.predict_proba(FRESH_HOLES), model.predict_proba(FRESH_HOLES), rtol=1e-10
    )
    # What cannot be bought is filled, too.
    filled = model.predict_proba(np.full((1, 4), np.nan))
    np.testing.assert_allclose(imported.predict_proba(FRESH[:1], budget=0), filled, rtol=1e-10)


def test_categories_are_given_by_name_or_position() -> None:
    model = catboost.CatBoostClassifier(**CATB, one_hot_max_size=9, cat_features=["kind"]).fit(TEXT, BINARY)
    by_name, by_place = (from_model(model, categories={key: KINDS}) for key in ("kind", 1))
    assert (by_name.predict_proba(FRESH_TEXT) == by_place.predict_proba(FRESH_TEXT)).all()
    with pytest.raises(ModelImportError, match="list all"):
        from_model(model, categories={"kind": KINDS[:1]})
    with pytest.raises(ValueError, match="no column 'knd'; expected one of mean dose, kind, b"):
        from_model(model, categories={"knd": KINDS})


def test_codes_as_categories_of_catboost_and_xgboost() -> None:
    coded = pd.DataFrame({"kind": CODES, "a": X[:, 0]})
    fresh = pd.DataFrame({"kind": FRESH_CODES, "a": FRESH[:, 0]})
    model = catboost.CatBoostRegressor(**CATB, one_hot_max_size=9, cat_features=["kind"]).fit(coded, LEVEL)
    imported = from_model(model, categories={"kind": range(6)})
    np.testing.assert_allclose(imported.predict(fresh), model.predict(fresh), rtol=1e-10)
    booster = xgboost.XGBRegressor(**XGB, enable_categorical=True, feature_types=["c", "q"])
    booster.fit(coded.to_numpy(), LEVEL)
    with pytest.raises(ModelImportError, match="list all"):
        from_model(booster, categories={0: range(3)})


def test_names_may_be_an_index() -> None:
    model = tree.DecisionTreeRegressor(max_depth=2).fit(X, LEVEL)
    assert from_model(model, feature_names=pd.Index(list("abcd"))).schema_.names == ("a", "b", "c", "d")


class Silent(ensemble.RandomForestRegressor):
    """Does not predict."""

    def predict(self, X: Any) -> np.ndarray:
        raise RuntimeError("the disk is full")


def test_a_source_that_does_not_predict_is_refused() -> None:
    with pytest.raises(ModelImportError, match=r"Silent.*the disk is full"):
        from_model(Silent(2).fit(X, LEVEL))


def test_catboost_can_be_trained_here() -> None:
    model = ImportedRegressor(catboost.CatBoostRegressor(**CATB)).fit(FRAME, LEVEL)
    assert model.score(FRAME, LEVEL) > 0.1
