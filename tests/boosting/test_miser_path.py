"""A path is what fitting and following each setting by hand gives."""

import numpy as np
import pytest
from sklearn.linear_model import Lasso, MultiTaskLasso

from farthing.boosting import (
    GradientBoostingRegressor,
    GreedyMiserClassifier,
    GreedyMiserRanker,
    GreedyMiserRegressor,
    l1_path,
    miser_path,
    subset_path,
)
from farthing.costs import CostSheet, Group
from farthing.metrics import ndcg
from farthing.table import PreparedTable

SHEET = CostSheet([1.0, 5.0, 20.0, 1.0, 5.0], groups={"lab": Group(3.0, ["x1", "x4"])})


@pytest.fixture(scope="module")
def table():
    rng = np.random.default_rng(4)
    X = np.round(rng.normal(size=(360, 5)), 2)
    X[rng.random(X.shape) < 0.05] = np.nan
    signal = np.nan_to_num(X) @ [1.0, 0.5, 1.5, 0.1, 0.2] + 0.3 * rng.normal(size=360)
    return X, np.digitize(signal, [0, 1, 2]), np.repeat(np.arange(36), 10)


def parts(table, queries=True):
    """Return training, validation and test rows."""
    return [
        tuple(a[rows] for a in table[: 3 if queries else 2]) for rows in np.split(np.arange(360), [160, 260])
    ]


def figures(path):
    """Return all that is known of the points; NaN fields, which are equal to nothing, left out."""
    return [(p.params, p.spend, p.max_spend, p.score, p.test_spend, p.test_score, p.details) for p in path]


def test_the_points_are_those_of_models_fitted_alone(table):
    train, validation, test = parts(table)
    model = GreedyMiserRanker(n_estimators=9, relative=True, costs=SHEET, max_depth=2, k=3)
    path = miser_path(
        model, train[0], train[1], qid=train[2], tradeoffs=[0.0, 1e-3, 1e-2], validation=validation, test=test
    )
    curves = path.by("tradeoff")
    assert list(curves) == [0.0, 1e-3, 1e-2]
    for tradeoff, curve in curves.items():
        alone = GreedyMiserRanker(n_estimators=9, relative=True, costs=SHEET, max_depth=2, k=3)
        alone.set_params(tradeoff=tradeoff).fit(train[0], train[1], train[2])
        assert curve[-1].model.forest_ == alone.forest_
        assert [point.details["n_rounds"] for point in curve] == list(range(10))
        spends = [spend.mean() for spend in alone.staged_spend(test[0])]
        scores = [ndcg(test[1], p, qid=test[2], k=3) for p in alone.staged_predict(test[0])]
        validation_scores = [
            ndcg(validation[1], p, qid=validation[2], k=3) for p in alone.staged_predict(validation[0])
        ]
        assert [point.test_spend for point in curve.points[1:]] == pytest.approx(spends)
        validation_spends = [spend.mean() for spend in alone.staged_spend(validation[0])]
        assert [point.spend for point in curve.points[1:]] == pytest.approx(validation_spends)
        assert [point.test_score for point in curve.points[1:]] == pytest.approx(scores)
        assert [point.score for point in curve.points[1:]] == pytest.approx(validation_scores)
        assert curve[-1].details["model_cost"] == SHEET.total(
            {f"x{column}" for column in alone.forest_.feature if column >= 0}
        )
        assert curve[0].test_spend == curve[0].details["model_cost"] == 0
        assert curve.best.score == max(point.score for point in curve)
    assert curves[0.0][-1].details["model_cost"] > curves[1e-2][-1].details["model_cost"]


@pytest.mark.parametrize(
    ("multi_strategy", "trees_per_round"), [("one_output_per_tree", 4), ("multi_output_tree", 1)]
)
def test_the_model_of_a_point_has_its_figures(table, multi_strategy, trees_per_round):
    train, validation, test = parts(table, queries=False)
    model = GreedyMiserClassifier(
        n_estimators=5,
        relative=True,
        costs=SHEET,
        max_depth=2,
        tree_cost=0.5,
        multi_strategy=multi_strategy,
    )
    path = miser_path(model, *train, tradeoffs=[1e-3], validation=validation, test=test)
    for point in path:
        fitted = point.model
        assert (fitted.n_rounds_, fitted.evaluation_cost_) == (
            point.details["n_rounds"],
            0.5 * point.details["n_rounds"] * trees_per_round,
        )
        assert fitted.spend(validation[0]).mean() == pytest.approx(point.spend)
        assert fitted.spend(validation[0]).max() == pytest.approx(point.max_spend)
        assert fitted.score(*test) == pytest.approx(point.test_score)


def test_a_prepared_table_is_as_good(table):
    train, validation, _ = parts(table, queries=False)
    model = GreedyMiserClassifier(n_estimators=3, relative=True, costs=SHEET)
    prepared = (PreparedTable.of(train[0]), train[1])
    settings = {"tradeoffs": [0.0, 1e-2], "validation": (PreparedTable.of(validation[0]), validation[1])}
    assert figures(miser_path(model, *prepared, **settings)) == figures(
        miser_path(model, *train, **{**settings, "validation": validation})
    )


def test_threads_and_steps_change_nothing(table):
    train, validation, _ = parts(table, queries=False)
    model = GreedyMiserClassifier(n_estimators=8, relative=True, costs=SHEET, max_depth=2)
    settings = {"tradeoffs": [0.0, 1e-2], "validation": validation}
    once = miser_path(model, *train, **settings)
    assert figures(miser_path(model, *train, **settings, n_jobs=2)) == figures(once)
    coarse = miser_path(model, *train, **settings, every=3)
    assert [point.details["n_rounds"] for point in coarse.by("tradeoff")[0.0]] == [0, 3, 6, 8]
    assert figures(p for p in once if p.details["n_rounds"] in (0, 3, 6, 8)) == figures(coarse)


def test_rows_of_weight_zero_are_not_there(table):
    train, validation, _ = parts(table, queries=False)
    weights = np.where(np.arange(160) % 4 == 0, 0.0, 1.0)
    model = GreedyMiserRegressor(n_estimators=4, costs=SHEET)
    with_zeros = miser_path(model, *train, tradeoffs=[0.1], validation=validation, sample_weight=weights)
    fewer = [a[weights > 0] for a in train]
    without = miser_path(model, *fewer, tradeoffs=[0.1], validation=validation)
    assert figures(with_zeros) == figures(without)


def test_a_subset_is_the_booster_without_the_dear_columns(table):
    train, validation, test = parts(table, queries=False)
    model = GreedyMiserRegressor(n_estimators=6, costs=SHEET, tradeoff=9.0)
    path = subset_path(model, *train, thresholds=[1.0, 8.0, 20.0], validation=validation, test=test)
    curves = path.by("threshold")
    assert list(curves) == [1.0, 8.0, 20.0]
    for curve, columns in zip(curves.values(), ([0, 3], [0, 1, 3, 4], [0, 1, 2, 3, 4]), strict=True):
        fitted = curve[-1].model
        alone = GreedyMiserRegressor(n_estimators=6).fit(train[0][:, columns], train[1])
        assert np.array_equal(fitted.predict(test[0]), alone.predict(test[0][:, columns]))
        assert set(fitted.forest_.feature) <= {-1, *columns}


def test_how_many_tradeoffs_is_any_whole_number(table):
    train, validation, _ = parts(table, queries=False)
    model = GreedyMiserRegressor(n_estimators=2, costs=SHEET, relative=True)
    path = miser_path(model, *train, tradeoffs=np.int64(3), validation=validation)
    same = miser_path(model, *train, tradeoffs=3, validation=validation)
    assert [(p.params, p.spend, p.score) for p in path] == [(p.params, p.spend, p.score) for p in same]
    assert len(path.by("tradeoff")) == 3
    for given in (0.5, np.float64(0.5), np.array(3)):
        with pytest.raises(TypeError, match="values of lambda, or how many"):
            miser_path(model, *train, tradeoffs=given, validation=validation)


def test_within_a_spend(table):
    train, validation, _ = parts(table, queries=False)
    model = GreedyMiserRegressor(n_estimators=10, costs=SHEET, relative=True)
    path = miser_path(model, *train, tradeoffs=[0.0, 1e-3, 1e-2, 1e-1], validation=validation)
    for spend in (0.0, 1.0, 10.0, 99.0):
        point = path.within(spend)
        assert point.spend <= spend
        assert point.score == max(p.score for p in path if p.spend <= spend)
    assert path.within(-1.0) is None


@pytest.mark.parametrize("classes", [False, True])
def test_the_lasso_is_that_of_scikit_learn(table, classes):
    train, validation, test = ((np.nan_to_num(X), y) for X, y in parts(table, queries=False))
    model = GreedyMiserClassifier(costs=SHEET) if classes else GreedyMiserRegressor(costs=SHEET)
    path = l1_path(model, *train, validation=validation, test=test, n_alphas=6)
    mean, scale = train[0].mean(axis=0), train[0].std(axis=0)
    Z, T = (train[0] - mean) / scale, (test[0] - mean) / scale
    for point in list(path)[1:5]:
        rival = (MultiTaskLasso if classes else Lasso)(alpha=point.params["alpha"], tol=1e-10, max_iter=10**5)
        rival.fit(Z, np.eye(4)[train[1]] if classes else train[1])
        used = (np.atleast_2d(rival.coef_) != 0).any(axis=0)
        assert point.spend == point.test_spend == point.details["model_cost"] == SHEET.total(used)
        out = rival.predict(T)
        expected = np.mean(out.argmax(axis=1) == test[1]) if classes else -np.mean((out - test[1]) ** 2)
        assert point.test_score == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize(
    ("change", "kind", "message"),
    [
        ({"estimator": GradientBoostingRegressor()}, TypeError, "Greedy Miser"),
        ({"estimator": GreedyMiserRegressor(validation_fraction=0.1)}, ValueError, "validation_fraction"),
        ({"every": 0}, ValueError, "every"),
        ({"validation": [1, 2]}, ValueError, "validation must be"),
        ({"qid": np.zeros(160)}, TypeError, "takes no queries"),
    ],
)
def test_what_makes_no_path_is_refused(table, change, kind, message):
    train, validation, _ = parts(table, queries=False)
    given = {
        "estimator": GreedyMiserRegressor(n_estimators=1),
        "validation": validation,
        "tradeoffs": [0.0],
        **change,
    }
    with pytest.raises(kind, match=message):
        miser_path(given.pop("estimator"), *train, **given)
