"""Each configuration of another library is imported with the same predictions, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import catboost
import lightgbm
import numpy as np
import pandas as pd
import pytest
import xgboost
from sklearn import ensemble, linear_model, pipeline, preprocessing, tree
from threadpoolctl import threadpool_limits

from farthing.errors import ModelImportError
from farthing.forests import from_model

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
        "xgb-3-vectors",
        lambda: xgboost.XGBClassifier(**XGB, multi_strategy="multi_output_tree").fit(HOLES, CLASSES),
        FRESH_HOLES,
    ),
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


SENTENCES = TEXT[["kind", "b"]].assign(kind=TEXT["kind"] + " word")


def residuals(y: np.ndarray, scores: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Gradient and curvature of a logistic loss, as a custom objective."""
    shares = 1 / (1 + np.exp(-scores))
    return shares - y, shares * (1 - shares)


def at_threshold(model: catboost.CatBoostClassifier) -> catboost.CatBoostClassifier:
    model.set_probability_threshold(0.2)
    return model


REFUSED = [
    (r"missing=0 ", lambda: xgboost.XGBRegressor(**XGB, missing=0.0).fit(X, LEVEL)),
    ("objective custom", lambda: lightgbm.LGBMClassifier(**LGB, objective=residuals).fit(X, BINARY)),
    ("regression sqrt", lambda: lightgbm.LGBMRegressor(**LGB, reg_sqrt=True).fit(X, LEVEL)),
    ("cross_entropy_lambda", lambda: lgb_booster({"objective": "cross_entropy_lambda"}, BINARY)),
    ("1 class", lambda: lightgbm.LGBMClassifier(**LGB).fit(X, np.zeros(N, dtype=int))),
    ("other labels", lambda: at_threshold(catboost.CatBoostClassifier(**CATB).fit(X, BINARY))),
    ("JSON", lambda: catboost.CatBoostClassifier(**CATB, text_features=["kind"]).fit(SENTENCES, BINARY)),
    (
        "predict_proba differs",
        lambda: linear_model.SGDClassifier(loss="log_loss", random_state=0).fit(X, CLASSES),
    ),
    ("no probabilities", lambda: linear_model.RidgeClassifier().fit(X, BINARY)),
    (
        "ends in a DecisionTreeClassifier",
        lambda: pipeline.make_pipeline(preprocessing.StandardScaler(), tree.DecisionTreeClassifier()).fit(
            X, BINARY
        ),
    ),
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
