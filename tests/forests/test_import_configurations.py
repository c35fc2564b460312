"""Each configuration of another library is imported with the same predictions, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
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
from farthing.errors import ModelImportError
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
X = RNG.normal(size=(N, 4)).round(2)
X[RNG.random(X.shape) < 0.15] = 0.0
CODES = RNG.integers(0, 6, size=2 * N)
LEVEL = X[:, 0] + X[:, 1] + (CODES[:N] % 2) - 0.5
BINARY, CLASSES = (LEVEL > 0).astype(int), np.searchsorted([-0.7, 0.8], LEVEL)
POSITIVE = np.abs(LEVEL) + 0.1
HOLES = np.where(RNG.random(X.shape) < 0.2, np.nan, X)
FRESH = RNG.normal(size=(N, 4)).round(2)
FRESH[RNG.random(FRESH.shape) < 0.15] = 0.0
FRESH_HOLES = np.where(RNG.random(FRESH.shape) < 0.2, np.nan, FRESH)


def framed(table: np.ndarray, codes: np.ndarray) -> pd.DataFrame:
    """Return a table with a column of categories, and a name with a space."""
    kinds = pd.Categorical.from_codes(codes, ["u", "v", "w", "x", "y", "z"])
    return pd.DataFrame({"mean dose": table[:, 0], "kind": kinds, "b": table[:, 1]})


FRAME, FRESH_FRAME = framed(HOLES, CODES[:N]), framed(FRESH_HOLES, CODES[N:])
CODED = np.column_stack([CODES[:N], X[:, :2]]).astype(float)
FRESH_CODED = np.column_stack([CODES[N:], FRESH[:, :2]]).astype(float)
TEXT, FRESH_TEXT = (frame.astype({"kind": str}) for frame in (FRAME, FRESH_FRAME))
KINDS = ["u", "v", "w", "x", "y", "z"]
LABELS = np.array(["low", "mid", "top"])[CLASSES]

FEW = {"n_estimators": 5, "n_jobs": 1}
LGB = {**FEW, "verbose": -1, "min_child_samples": 5}
CAT_LGB = {**LGB, "min_data_per_group": 1, "cat_smooth": 1.0, "cat_l2": 0.0}
XGB = {**FEW, "max_depth": 3}
CATB = {"iterations": 5, "depth": 3, "verbose": 0, "allow_writing_files": False, "thread_count": 1}
BAGGED = {"boosting_type": "rf", "subsample": 0.7, "subsample_freq": 1}


def xgb_booster(objective: str, y: np.ndarray, **params: Any) -> xgboost.Booster:
    data = xgboost.DMatrix(X, y)
    return xgboost.train({"objective": objective, "nthread": 1, "max_depth": 3, **params}, data, 4)


def stopped(model: Any) -> Any:
    """Fit on labels of which a third is wrong, so that the best iteration comes before the last."""
    noise = np.where(np.random.default_rng(3).random(N) < 0.3, 1 - BINARY, BINARY)
    truth = (FRESH[:, 0] + FRESH[:, 1] > 0).astype(int)
    if isinstance(model, lightgbm.LGBMClassifier):
        calls = [lightgbm.early_stopping(6, verbose=False)]
        model.fit(X, noise, eval_set=[(FRESH, truth)], callbacks=calls)
        assert 1 < model.best_iteration_ < model.n_estimators - 1
    elif isinstance(model, catboost.CatBoostClassifier):
        model.fit(X, noise, eval_set=(FRESH, truth))
        assert 1 < model.get_best_iteration() < model.get_all_params()["iterations"] - 1
    else:
        model.fit(X, noise, eval_set=[(FRESH, truth)], verbose=False)
        assert 1 < model.best_iteration < model.get_booster().num_boosted_rounds() - 1
    return model


def lgb_booster(params: dict[str, Any], y: np.ndarray) -> lightgbm.Booster:
    quiet = {"verbose": -1, "num_threads": 1, "min_data_in_leaf": 5}
    return lightgbm.train({**quiet, **params}, lightgbm.Dataset(X, y), num_boost_round=4)


def with_xgb_codes(model: Any) -> Any:
    return model.set_params(feature_types=["c", "q", "q"]).fit(CODED, BINARY)


Make = Callable[[], Any]
# The name, the fitted model, fresh rows, and further arguments of from_model.
Case = tuple[str, Make, Any, dict[str, Any]]


def case(name: str, make: Make, fresh: Any = FRESH, **options: Any) -> Case:
    return name, make, fresh, options


SKLEARN = [
    case(
        "tree",
        lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0).fit(HOLES, CLASSES),
        FRESH_HOLES,
    ),
    case("tree-labels", lambda: tree.DecisionTreeClassifier(max_depth=4, random_state=0).fit(X, LABELS)),
    case(
        "tree-weights",
        lambda: tree.DecisionTreeClassifier(max_depth=3, class_weight="balanced", random_state=0).fit(
            X, CLASSES
        ),
    ),
    case(
        "tree-absolute",
        lambda: tree.DecisionTreeRegressor(max_depth=3, criterion="absolute_error", random_state=0).fit(
            X, LEVEL
        ),
    ),
    case(
        "forest", lambda: ensemble.RandomForestClassifier(4, random_state=0).fit(HOLES, BINARY), FRESH_HOLES
    ),
    case(
        "forest-poisson",
        lambda: ensemble.RandomForestRegressor(4, criterion="poisson", random_state=0).fit(X, POSITIVE),
    ),
    case(
        "extra-trees", lambda: ensemble.ExtraTreesClassifier(4, max_depth=4, random_state=0).fit(X, CLASSES)
    ),
    case("gradient-boosting", lambda: ensemble.GradientBoostingClassifier(n_estimators=5).fit(X, BINARY)),
    case("gradient-boosting-3", lambda: ensemble.GradientBoostingClassifier(n_estimators=5).fit(X, CLASSES)),
    case(
        "gradient-boosting-exponential",
        lambda: ensemble.GradientBoostingClassifier(n_estimators=5, loss="exponential").fit(X, BINARY),
    ),
    case(
        "gradient-boosting-zero",
        lambda: ensemble.GradientBoostingClassifier(n_estimators=5, init="zero").fit(X, BINARY),
    ),
    case(
        "gradient-boosting-stopped",
        lambda: ensemble.GradientBoostingRegressor(n_estimators=90, n_iter_no_change=2, random_state=0).fit(
            X, LEVEL
        ),
    ),
    case(
        "gradient-boosting-huber",
        lambda: ensemble.GradientBoostingRegressor(n_estimators=5, loss="huber").fit(X, LEVEL),
    ),
    case(
        "gradient-boosting-quantile",
        lambda: ensemble.GradientBoostingRegressor(n_estimators=5, loss="quantile", alpha=0.8).fit(X, LEVEL),
    ),
]
HISTOGRAM = [
    case(
        "hist", lambda: ensemble.HistGradientBoostingClassifier(max_iter=4).fit(HOLES, CLASSES), FRESH_HOLES
    ),
    case(
        "hist-gamma",
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=4, loss="gamma").fit(X, POSITIVE),
    ),
    case(
        "hist-poisson",
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=4, loss="poisson").fit(X, POSITIVE),
    ),
    case(
        "hist-quantile",
        lambda: ensemble.HistGradientBoostingRegressor(max_iter=4, loss="quantile", quantile=0.3).fit(
            X, LEVEL
        ),
    ),
    case(
        "hist-stopped",
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=30, early_stopping=True, random_state=0).fit(
            X, BINARY
        ),
    ),
    case(
        "hist-categories",
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5).fit(FRAME, BINARY),
        FRESH_FRAME,
    ),
    case(
        "hist-categories-3",
        lambda: ensemble.HistGradientBoostingClassifier(max_iter=5, min_samples_leaf=5).fit(FRAME, CLASSES),
        FRESH_FRAME,
    ),
    case(
        "hist-codes",
        lambda: ensemble.HistGradientBoostingRegressor(
            max_iter=5, min_samples_leaf=5, categorical_features=[0]
        ).fit(CODED, LEVEL),
        FRESH_CODED,
    ),
]
LIGHTGBM = [
    case("lgb", lambda: lightgbm.LGBMClassifier(**LGB).fit(HOLES, BINARY), FRESH_HOLES),
    case("lgb-no-missing-seen", lambda: lightgbm.LGBMClassifier(**LGB).fit(X, CLASSES), FRESH_HOLES),
    case("lgb-labels", lambda: lightgbm.LGBMClassifier(**LGB).fit(X, LABELS)),
    case(
        "lgb-no-missing",
        lambda: lightgbm.LGBMRegressor(**LGB, use_missing=False).fit(HOLES, LEVEL),
        FRESH_HOLES,
    ),
    case("lgb-rf", lambda: lightgbm.LGBMClassifier(**LGB, **BAGGED).fit(X, BINARY)),
    case("lgb-rf-3", lambda: lightgbm.LGBMClassifier(**LGB, **BAGGED).fit(X, CLASSES)),
    case("lgb-rf-regressor", lambda: lightgbm.LGBMRegressor(**LGB, **BAGGED).fit(X, LEVEL)),
    case(
        "lgb-dart", lambda: lightgbm.LGBMClassifier(**LGB, boosting_type="dart", drop_rate=0.5).fit(X, BINARY)
    ),
    case("lgb-sigmoid", lambda: lightgbm.LGBMClassifier(**LGB, sigmoid=2.0).fit(X, BINARY)),
    case("lgb-stopped", lambda: stopped(lightgbm.LGBMClassifier(**{**LGB, "n_estimators": 40}))),
    case("lgb-gamma", lambda: lightgbm.LGBMRegressor(**LGB, objective="gamma").fit(X, POSITIVE)),
    case("lgb-tweedie", lambda: lightgbm.LGBMRegressor(**LGB, objective="tweedie").fit(X, POSITIVE)),
    case(
        "lgb-quantile", lambda: lightgbm.LGBMRegressor(**LGB, objective="quantile", alpha=0.7).fit(X, LEVEL)
    ),
    case("lgb-cross-entropy", lambda: lgb_booster({"objective": "cross_entropy"}, BINARY)),
    case(
        "lgb-categories",
        lambda: lightgbm.LGBMClassifier(**CAT_LGB).fit(FRAME, BINARY),
        FRESH_FRAME,
        feature_names=list(FRAME),
    ),
    case(
        "lgb-codes",
        lambda: lightgbm.LGBMClassifier(**CAT_LGB).fit(CODED, CLASSES, categorical_feature=[0]),
        FRESH_CODED,
    ),
    case("lgb-booster", lambda: lgb_booster({"objective": "multiclass", "num_class": 3}, CLASSES)),
]
XGBOOST = [
    case("xgb", lambda: xgboost.XGBClassifier(**XGB).fit(HOLES, BINARY), FRESH_HOLES),
    case("xgb-3", lambda: xgboost.XGBClassifier(**XGB).fit(HOLES, CLASSES), FRESH_HOLES),
    case(
        "xgb-stopped",
        lambda: stopped(xgboost.XGBClassifier(**{**XGB, "n_estimators": 40}, early_stopping_rounds=6)),
    ),
    case("xgb-reg-logistic", lambda: xgboost.XGBRegressor(**XGB, objective="reg:logistic").fit(X, BINARY)),
    case("xgb-poisson", lambda: xgboost.XGBRegressor(**XGB, objective="count:poisson").fit(X, POSITIVE)),
    case("xgb-gamma", lambda: xgboost.XGBRegressor(**XGB, objective="reg:gamma").fit(X, POSITIVE)),
    case("xgb-tweedie", lambda: xgboost.XGBRegressor(**XGB, objective="reg:tweedie").fit(X, POSITIVE)),
    case("xgb-absolute", lambda: xgboost.XGBRegressor(**XGB, objective="reg:absoluteerror").fit(X, LEVEL)),
    case("xgb-base-score", lambda: xgboost.XGBClassifier(**XGB, base_score=0.2).fit(X, BINARY)),
    case("xgb-base-score-value", lambda: xgboost.XGBRegressor(**XGB, base_score=3.0).fit(X, LEVEL)),
    case("xgb-dart", lambda: xgboost.XGBClassifier(**XGB, booster="dart", rate_drop=0.5).fit(X, BINARY)),
    case("xgb-dart-3", lambda: xgboost.XGBClassifier(**XGB, booster="dart", rate_drop=0.5).fit(X, CLASSES)),
    case(
        "xgb-parallel",
        lambda: xgboost.XGBClassifier(**XGB, num_parallel_tree=3, subsample=0.5).fit(X, CLASSES),
    ),
    case("xgb-rf", lambda: xgboost.XGBRFRegressor(**XGB).fit(X, LEVEL)),
    case(
        "xgb-categories",
        lambda: xgboost.XGBClassifier(**XGB, enable_categorical=True).fit(FRAME, BINARY),
        FRESH_FRAME,
    ),
    case(
        "xgb-one-hot",
        lambda: xgboost.XGBRegressor(**XGB, enable_categorical=True, max_cat_to_onehot=9).fit(FRAME, LEVEL),
        FRESH_FRAME,
    ),
    case(
        "xgb-codes",
        lambda: with_xgb_codes(xgboost.XGBClassifier(**XGB, enable_categorical=True)),
        FRESH_CODED,
        categories={0: range(6)},
    ),
    case("xgb-logitraw-booster", lambda: xgb_booster("binary:logitraw", BINARY)),
    case("xgb-softmax-booster", lambda: xgb_booster("multi:softmax", CLASSES, num_class=3)),
    case("xgb-softprob-booster", lambda: xgb_booster("multi:softprob", CLASSES, num_class=3)),
    case("xgb-ranker", lambda: xgboost.XGBRanker(**XGB).fit(X, CLASSES, group=[80, 80])),
    case(
        "xgb-linear-3",
        lambda: xgboost.XGBClassifier(n_estimators=5, n_jobs=1, booster="gblinear").fit(X, CLASSES),
    ),
    case(
        "xgb-linear", lambda: xgboost.XGBRegressor(n_estimators=5, n_jobs=1, booster="gblinear").fit(X, LEVEL)
    ),
]
CATBOOST = [
    case("cat", lambda: catboost.CatBoostClassifier(**CATB).fit(HOLES, BINARY), FRESH_HOLES),
    case("cat-3", lambda: catboost.CatBoostClassifier(**CATB).fit(HOLES, LABELS), FRESH_HOLES),
    case(
        "cat-nan-max",
        lambda: catboost.CatBoostRegressor(**CATB, nan_mode="Max").fit(HOLES, LEVEL),
        FRESH_HOLES,
    ),
    case("cat-poisson", lambda: catboost.CatBoostRegressor(**CATB, loss_function="Poisson").fit(X, POSITIVE)),
    case(
        "cat-depthwise",
        lambda: catboost.CatBoostRegressor(**CATB, grow_policy="Depthwise").fit(HOLES, LEVEL),
        FRESH_HOLES,
    ),
    case(
        "cat-lossguide-3",
        lambda: catboost.CatBoostClassifier(**CATB, grow_policy="Lossguide").fit(X, CLASSES),
    ),
    case(
        "cat-stopped",
        lambda: stopped(catboost.CatBoostClassifier(**{**CATB, "iterations": 60, "learning_rate": 0.5})),
    ),
    case(
        "cat-one-hot",
        lambda: catboost.CatBoostClassifier(**CATB, one_hot_max_size=9, cat_features=["kind"]).fit(
            TEXT, BINARY
        ),
        FRESH_TEXT,
        categories={"kind": KINDS},
    ),
]
SCALED = pipeline.make_pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
LINEAR = [
    case("least-squares", lambda: linear_model.LinearRegression().fit(X, LEVEL)),
    case("ridge", lambda: linear_model.Ridge().fit(X, LEVEL)),
    case("lasso", lambda: linear_model.Lasso(0.1).fit(X, LEVEL)),
    case(
        "elastic-net-frame",
        lambda: linear_model.ElasticNet(0.1).fit(pd.DataFrame(X, columns=list("abcd")), LEVEL),
        pd.DataFrame(FRESH, columns=list("abcd")),
    ),
    case("logistic", lambda: linear_model.LogisticRegression().fit(X, BINARY)),
    case("logistic-3", lambda: linear_model.LogisticRegression().fit(X, LABELS)),
    case("logistic-scaled", lambda: SCALED.fit(X, BINARY)),
    case("poisson-glm", lambda: linear_model.PoissonRegressor().fit(X, POSITIVE)),
]
SAME = [*SKLEARN, *HISTOGRAM, *LIGHTGBM, *XGBOOST, *CATBOOST, *LINEAR]


@pytest.fixture(autouse=True)
def one_thread() -> Any:
    """Keep the libraries from waiting for each other's threads on a busy machine."""
    with threadpool_limits(1):
        yield


def source_answers(model: Any, fresh: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """Return predictions and probabilities of a model of any of the libraries."""
    rows = xgboost.DMatrix(fresh) if isinstance(model, xgboost.Booster) else fresh
    predictions = np.asarray(model.predict(rows)).squeeze()
    if hasattr(model, "predict_proba"):
        return predictions, np.asarray(model.predict_proba(rows))
    if predictions.ndim == 2:  # a booster returns the probabilities of several classes
        return predictions.argmax(axis=1), predictions
    return predictions, None


@pytest.mark.filterwarnings("ignore:X does not have valid feature names", "ignore:The argument 'eval_set'")
@pytest.mark.parametrize(("name", "make", "fresh", "options"), SAME, ids=[made[0] for made in SAME])
def test_the_same_predictions(name: str, make: Make, fresh: Any, options: dict[str, Any]) -> None:
    model = make()
    imported = from_model(model, **options)
    predictions, probabilities = source_answers(model, fresh)
    rtol = 3e-6 if name.startswith("xgb") else 1e-10
    if probabilities is None:
        np.testing.assert_allclose(imported.predict(fresh), predictions, rtol=rtol, atol=rtol)
    else:
        assert (imported.predict(fresh) == predictions).all()
        np.testing.assert_allclose(imported.predict_proba(fresh), probabilities, rtol=rtol, atol=rtol)
    assert len(np.unique(predictions)) > 1  # or the test would say little


REFUSED = [
    ("zero_as_missing", lambda: lightgbm.LGBMClassifier(**LGB, zero_as_missing=True).fit(X, BINARY)),
    (
        "missing=-999",
        lambda: xgboost.XGBClassifier(**XGB, missing=-999.0).fit(np.nan_to_num(HOLES, nan=-999.0), BINARY),
    ),
    ("binary:hinge", lambda: xgboost.XGBClassifier(**XGB, objective="binary:hinge").fit(X, BINARY)),
    ("binary:logitraw", lambda: xgboost.XGBClassifier(**XGB, objective="binary:logitraw").fit(X, BINARY)),
    ("several targets", lambda: xgboost.XGBRegressor(**XGB).fit(X, X[:, :2])),
    (
        "quantile",
        lambda: xgboost.XGBRegressor(**XGB, objective="reg:quantileerror", quantile_alpha=[0.2, 0.8]).fit(
            X, LEVEL
        ),
    ),
    ("categories", lambda: with_xgb_codes(xgboost.XGBClassifier(**XGB, enable_categorical=True))),
    ("multiclass_ova", lambda: lightgbm.LGBMClassifier(**LGB, objective="multiclassova").fit(X, CLASSES)),
    ("linear_tree", lambda: lightgbm.LGBMRegressor(**LGB, linear_tree=True).fit(X, LEVEL)),
    (
        "MultiClassOneVsAll",
        lambda: catboost.CatBoostClassifier(**CATB, loss_function="MultiClassOneVsAll").fit(X, CLASSES),
    ),
    (
        "several targets",
        lambda: catboost.CatBoostRegressor(**CATB, loss_function="MultiRMSE").fit(X, X[:, :2]),
    ),
    (
        "one_hot_max_size",
        lambda: catboost.CatBoostClassifier(**CATB, one_hot_max_size=2, cat_features=["kind"]).fit(
            TEXT, BINARY
        ),
    ),
    (
        "categories=",
        lambda: catboost.CatBoostClassifier(**CATB, one_hot_max_size=9, cat_features=["kind"]).fit(
            TEXT, BINARY
        ),
    ),
    (
        "PolynomialFeatures",
        lambda: pipeline.make_pipeline(preprocessing.PolynomialFeatures(), linear_model.Ridge()).fit(
            X, LEVEL
        ),
    ),
    ("AdaBoostClassifier", lambda: ensemble.AdaBoostClassifier(n_estimators=2).fit(X, BINARY)),
    (
        "init",
        lambda: ensemble.GradientBoostingClassifier(
            n_estimators=2, init=tree.DecisionTreeClassifier(max_depth=1)
        ).fit(X, BINARY),
    ),
]


@pytest.mark.parametrize(
    ("message", "make"), REFUSED, ids=[f"{n}-{made[0]}" for n, made in enumerate(REFUSED)]
)
def test_refused_by_name(message: str, make: Make) -> None:
    with pytest.raises(ModelImportError, match=message):
        from_model(make())


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
    assert (imported.predict_proba(unseen) == imported.predict_proba(hole)).all()


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
    with pytest.raises(ValueError, match="no column 'knd'; expected one of mean dose, kind, b"):
        from_model(model, categories={"knd": KINDS})
