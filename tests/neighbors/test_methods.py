"""FMCC, VoC and the random order: the thesis's example, the models they stand on, and their parameters."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.ensemble import AdaBoostClassifier as ForeignAdaBoost
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.svm import LinearSVC

import farthing
from farthing.boosting import AdaBoostClassifier
from farthing.costs import CostSheet, Group
from farthing.errors import FileError
from farthing.learning.voting import LinearVotes
from farthing.neighbors import MarginNeighborsClassifier, RandomOrderClassifier, ValueOfClassifier
from farthing.neighbors.acquisition.margins import Margins
from farthing.store import read, write

# Figure 2.1: eight points, and the coefficients and the intercept of its caption.
POINTS = np.array([[1, -1, -1]] * 2 + [[-1, 1, 1]] * 2 + [[-1, 1, -1]] + [[1, 1, 1]] * 3, dtype=float)
LABELS = np.array([-1] * 4 + [1] * 4)


def caption_svm():
    svm = LinearSVC().fit(POINTS, LABELS)
    svm.coef_, svm.intercept_ = np.array([[0.9995, 1.4998, -0.5002]]), np.array([-0.9997])
    return svm


def gains(model, *answers):
    """Return the share of the neighbours that each feature would set right (2.5), after some answers."""
    policy = model.fitted_.policy()
    for column, value in answers:
        policy.hear(column, value)
    return policy._row.gains(), policy.output()[1]


def tables(seed=0, n_rows=120, n_features=4):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, n_features)), 2)
    return X, (X @ np.arange(1.0, n_features + 1) + rng.normal(size=n_rows) > 0).astype(int)


class TestFigure21:
    model = MarginNeighborsClassifier(caption_svm(), n_neighbors="exact").fit(POINTS, LABELS)

    def test_the_first_feature_sets_four_six_and_four_points_right(self):
        first, _ = gains(self.model)
        assert (first * 8).tolist() == [4, 6, 4]

    def test_after_x2_is_1_the_next_are_right_in_five_and_three_of_six(self):
        second, _ = gains(self.model, (1, 1.0))
        assert second[0] == 5 / 6
        assert second[2] == 3 / 6

    def test_after_x2_is_minus_1_the_estimated_accuracy_is_1(self):
        _, accuracy = gains(self.model, (1, -1.0))
        assert accuracy == 1

    def test_it_asks_for_x2_then_x1_then_x3(self):
        walk = self.model.walk()
        for feature, value in (("x1", 1.0), ("x0", -1.0), ("x2", -1.0)):  # columns are counted from 0
            assert walk.ask.feature == feature
            walk.tell(value)
        assert walk.ask is None
        assert walk.decision.prediction == 1

    def test_all_points_are_classified_and_easy_ones_stop_early(self):
        assert np.array_equal(self.model.predict(POINTS), LABELS)
        assert self.model.spend(POINTS).tolist() == [1, 1, 3, 3, 3, 2, 2, 2]
        assert (self.model.estimated_accuracy(POINTS) == 1).all()


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        LinearSVC(),
        RidgeClassifier(),
        AdaBoostClassifier(n_estimators=40),
        AdaBoostClassifier(n_estimators=40, intercept=False),
        ForeignAdaBoost(n_estimators=30),
        None,
    ],
)
@pytest.mark.parametrize("unmeasured", ["zero", "missing"])
def test_with_all_features_it_is_the_model_that_it_stands_on(estimator, unmeasured):
    X, y = tables()
    plain = clone(AdaBoostClassifier(n_estimators=300) if estimator is None else estimator).fit(X, y)
    model = MarginNeighborsClassifier(estimator, confidence=1.0, unmeasured=unmeasured).fit(X, y)
    fresh, _ = tables(1)
    assert np.array_equal(model.predict(fresh), plain.predict(fresh))
    assert model.acquired(fresh)[:, model.margins_.used].all()


def test_a_fitted_model_is_used_as_it_is_and_survives_a_clone_frozen():
    X, y = tables()
    other = LogisticRegression(C=1e-3).fit(X, y)
    model = MarginNeighborsClassifier(FrozenEstimator(other), confidence=1.0).fit(X, 1 - y)
    assert np.array_equal(model.predict(X), other.predict(X))


def test_margins_of_stumps_know_missing_values_and_categories():
    X, y = tables()
    frame = pd.DataFrame(X, columns=list("abcd"))
    frame["kind"] = pd.cut(X[:, 3], 5, labels=["v", "w", "x", "y", "z"]).astype(object)
    frame.loc[::7, "a"] = np.nan
    frame.loc[::11, "kind"] = None
    booster = AdaBoostClassifier(n_estimators=60).fit(frame, y)
    model = MarginNeighborsClassifier(booster, confidence=1.0).fit(frame, y)
    margins = model.margins_.table(model.schema_.encode(frame).values)
    assert margins.sum(axis=1) + model.margins_.intercept == pytest.approx(booster.decision_function(frame))


def test_margins_of_single_precision_trees_round_as_they_do():
    X = np.float32([[0.1], [0.2], [0.3]]).astype(np.float64)
    y = np.array([0, 0, 1])
    foreign = ForeignAdaBoost(n_estimators=2).fit(X, y)
    model = MarginNeighborsClassifier(foreign, confidence=1.0).fit(X, y)
    edge = foreign.estimators_[0].tree_.threshold[0]
    near = np.array([[edge], [np.nextafter(edge, 1)], [edge + 1e-9], [edge + 1e-7], [edge - 1e-9], [1e300]])
    with np.errstate(over="ignore"):
        expected = foreign.predict(np.minimum(near, 1e30))
    assert np.array_equal(model.predict(near), expected)


def test_shifting_a_feature_changes_nothing_if_unmeasured_is_missing():
    X, y = tables()
    shifted = X + 64.0
    kind = {"estimator": LogisticRegression(C=1e6, tol=1e-10, max_iter=10_000), "unmeasured": "missing"}
    one, other = (MarginNeighborsClassifier(**kind).fit(table, y) for table in (X, shifted))
    assert np.array_equal(one.acquired(X), other.acquired(shifted))
    assert one.decision_function(X) == pytest.approx(other.decision_function(shifted), abs=1e-3)


def test_prices_decide_between_equals_and_the_tradeoff_weighs_them():
    X, y = tables()
    twice = np.column_stack([X[:, 3], X[:, 3], X[:, 0]])
    votes = LinearVotes(np.ones(3), np.arange(3), np.array([1.0, 1.0, 0.2]), np.zeros(3), 3)
    for tradeoff, first in ((0.0, "x0"), (1e-6, "x1"), (10.0, "x2")):
        model = MarginNeighborsClassifier(votes, tradeoff=tradeoff, costs=[2.0, 1.0, 0.0]).fit(twice, y)
        assert model.walk().ask.feature == first


def test_a_shared_cost_counts_once():
    X, y = tables()
    sheet = CostSheet([1.0, 1.0, 1.0, 1.0], groups={"lab": Group(50.0, ["x1", "x3"])})
    votes = LinearVotes(np.ones(4), np.arange(4), np.array([0.01, 0.5, 0.01, 1.0]), np.zeros(4), 4)
    model = MarginNeighborsClassifier(votes, tradeoff=0.02, confidence=1.0, costs=sheet).fit(X, y)
    assert model.walk().ask.feature not in {"x1", "x3"}  # 51 each
    walk = model.walk(known={"x3": 0.5})
    assert walk.ask.feature == "x1"  # for 1, since the laboratory is paid
    assert walk.ask.price == 1


def test_features_without_a_vote_are_not_bought():
    X, y = tables()
    votes = LinearVotes(np.ones(1), np.array([2]), np.ones(1), np.zeros(1), 4)
    model = MarginNeighborsClassifier(votes, confidence=1.0).fit(X, y)
    assert model.acquired(X).sum(axis=0).tolist() == [0, 0, len(X), 0]


@pytest.mark.parametrize("n_neighbors", ["exact", 7])
def test_a_weight_is_a_row_that_many_times(n_neighbors):
    X, y = tables(n_rows=40)
    weights = np.random.default_rng(0).integers(1, 4, len(y))
    votes = AdaBoostClassifier(n_estimators=20).fit(X, y)
    kind = {"estimator": votes, "n_neighbors": n_neighbors, "standardize": False}
    weighed = MarginNeighborsClassifier(**kind).fit(X, y, sample_weight=weights)
    repeated = MarginNeighborsClassifier(**kind).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    fresh, _ = tables(1)
    assert np.array_equal(weighed.acquired(fresh), repeated.acquired(fresh))
    assert np.array_equal(weighed.estimated_accuracy(fresh), repeated.estimated_accuracy(fresh))


def test_a_radius_takes_all_rows_within_it_and_the_nearest_where_there_are_none():
    """Footnote 2 of chapter 2, counted by hand after one answer: equation 2.4 over the rows near it."""
    X, y = tables()
    votes = AdaBoostClassifier(n_estimators=20).fit(X, y)
    model = MarginNeighborsClassifier(votes, n_neighbors=1, radius=0.3, standardize=False).fit(X, y)
    margins = model.margins_.table(X)[:, 3] + model.margins_.intercept
    right = np.sign(margins) == 2 * y - 1
    for value, n_near in ((0.0, 10), (9.0, 1)):
        apart = np.abs(X[:, 3] - value)
        near = apart <= max(0.3, apart.min())
        assert near.sum() >= n_near
        assert gains(model, (3, value))[1] == right[near].mean()


def test_a_radius_of_all_rows_is_all_rows_as_neighbours():
    X, y = tables()
    votes = AdaBoostClassifier(n_estimators=20).fit(X, y)
    wide, many = (
        MarginNeighborsClassifier(votes, **kind).fit(X, y)
        for kind in ({"n_neighbors": 1, "radius": 1e6}, {"n_neighbors": len(y)})
    )
    assert np.array_equal(wide.acquired(X), many.acquired(X))
    assert np.array_equal(wide.estimated_accuracy(X), many.estimated_accuracy(X))


def test_units_do_not_matter_to_distances():
    X, y = tables()
    scaled = X * [1.0, 1024.0, 0.25, 8.0]
    stumps = AdaBoostClassifier(n_estimators=30)
    one, other = (MarginNeighborsClassifier(stumps).fit(table, y) for table in (X, scaled))
    assert np.array_equal(one.acquired(X), other.acquired(scaled))


def test_max_rows_keeps_a_part_of_the_rows():
    X, y = tables()
    model = MarginNeighborsClassifier(max_rows=50, random_state=0).fit(X, y)
    assert model.kept_.values.shape == (50, 4)
    assert len({tuple(row) for row in model.kept_.values} - {tuple(row) for row in X}) == 0


class TestRandomOrder:
    def test_each_seed_has_an_order_and_each_feature_comes_first_equally_often(self):
        X, y = tables()
        stumps = AdaBoostClassifier(n_estimators=20)
        model = RandomOrderClassifier(stumps, confidence=1.0, random_state=0).fit(X, y)
        rows = np.repeat(X[:1], 2000, axis=0)
        first = model.acquired(rows, budget=1, seeds=np.arange(2000))
        assert (first.sum(axis=1) == 1).all()
        assert np.abs(first.sum(axis=0) - 500).max() < 100  # 5 standard deviations
        assert len(np.unique(model.acquired(X, budget=2), axis=0)) == 1  # rows share the model's seed

    def test_it_ends_with_the_vote_of_all(self):
        X, y = tables()
        booster = AdaBoostClassifier(n_estimators=20).fit(X, y)
        model = RandomOrderClassifier(booster, confidence=1.0).fit(X, y)
        assert np.array_equal(model.predict(X, seeds=np.arange(len(X))), booster.predict(X))


class TestValueOfClassifier:
    def test_before_the_first_answer_it_gives_the_prior(self):
        X, y = tables()
        assert ValueOfClassifier().fit(X, y).walk().decision.probabilities[1] == pytest.approx(y.mean())

    def test_it_asks_first_for_the_feature_that_tells_most(self):
        X, y = tables(n_rows=400)
        walk = ValueOfClassifier(confidence=1.0).fit(X, y).walk()
        assert walk.ask.feature == "x3"

    def test_it_stops_where_nothing_is_worth_its_price(self):
        X, y = tables(n_rows=400)
        models = [ValueOfClassifier(tradeoff=t, confidence=1.0).fit(X, y) for t in (0, 0.02, 0.1, 9)]
        spent = [model.spend(X).mean() for model in models]
        assert spent[0] == 4
        assert spent[0] > spent[1] > spent[2] > spent[3] == 0

    def test_a_category_stands_for_the_mean_label_of_its_rows(self):
        frame = pd.DataFrame({"kind": ["a", "a", "b", "b", "c"] * 20})
        y = np.array([0, 1, 1, 1, 0] * 20)
        model = ValueOfClassifier(confidence=1.0, l2_regularization=1e-9).fit(frame, y)
        assert model.predict(frame[2:5]).tolist() == [1, 1, 0]
        assert model.standard_.level.tolist() == pytest.approx([0.0, 1.0, -1.0])


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_neighbors": 0}, "'n_neighbors' parameter .* Got 0 instead"),
        ({"n_neighbors": "near"}, "'n_neighbors' parameter .* Got 'near' instead"),
        ({"radius": 0.0}, "'radius' parameter .* Got 0.0 instead"),
        ({"radius": 1.0, "n_neighbors": "exact"}, "radius=1.0 has no meaning with n_neighbors='exact'"),
        ({"tradeoff": -1.0}, "'tradeoff' parameter .* Got -1.0 instead"),
        ({"tradeoff": "much"}, "'tradeoff' parameter .* Got 'much' instead"),
        ({"confidence": 1.5}, "'confidence' parameter .* Got 1.5 instead"),
        ({"unmeasured": "mean"}, "'unmeasured' parameter .* Got 'mean' instead"),
        ({"max_rows": 0}, "'max_rows' parameter .* Got 0 instead"),
        ({"estimator": AdaBoostClassifier(n_estimators=3, max_depth=2)}, "looks at 'x"),
    ],
)
def test_bad_parameters(params, message):
    X, y = tables()
    with pytest.raises(ValueError, match=message):
        MarginNeighborsClassifier(**params).fit(X, y)


def test_a_bad_l2_regularization():
    X, y = tables()
    with pytest.raises(ValueError, match=r"'l2_regularization' parameter .* Got 0 instead"):
        ValueOfClassifier(l2_regularization=0).fit(X, y)


@pytest.mark.parametrize(
    ("method", "change"),
    [
        (MarginNeighborsClassifier, lambda fitted: fitted["kept_"].signs.__setitem__(0, 0.5)),
        (MarginNeighborsClassifier, lambda fitted: fitted.__setitem__("n_neighbors_", 0)),
        (MarginNeighborsClassifier, lambda fitted: fitted.__setitem__("radius_", float("nan"))),
        (MarginNeighborsClassifier, lambda fitted: fitted.__setitem__("confidence_", 7.0)),
        (MarginNeighborsClassifier, lambda fitted: fitted["kept_"].weights.__setitem__(0, -1.0)),
        (MarginNeighborsClassifier, lambda fitted: fitted["margins_"].begin.__setitem__(1, 10**6)),
        (ValueOfClassifier, lambda fitted: fitted.__setitem__("l2_regularization_", 0.0)),
        (ValueOfClassifier, lambda fitted: fitted["local_"].values.__setitem__((0, 0), np.nan)),
        (ValueOfClassifier, lambda fitted: fitted["standard_"].begin.__setitem__(1, 10**6)),
    ],
)
def test_a_file_that_does_not_fit_together_is_refused(method, change, tmp_path):
    X, y = tables()
    path = tmp_path / "model.farthing"
    method().fit(X, y).save(path)
    kind, state = read(path)
    for array in vars(state["fitted"].get("kept_", state["fitted"].get("local_"))).values():
        array.flags.writeable = True
    change(state["fitted"])
    write(path, kind, state)
    with pytest.raises(FileError):
        farthing.load(path)


def test_margins_refuse_what_is_no_step_function():
    good = {"slope": np.zeros(1), "missing": np.zeros(1), "begin": np.array([0, 2]), "level": np.zeros(2)}
    Margins(intercept=0.0, edges=np.array([1.0, np.inf]), **good)
    for edges in ([1.0, 2.0], [np.inf, np.inf], [np.nan, np.inf]):
        with pytest.raises(ValueError, match=r"edge|finite"):
            Margins(intercept=0.0, edges=np.array(edges), **good)


@pytest.mark.parametrize("value", [1e308, -1e308, np.inf])
def test_huge_and_infinite_values(value):
    """The largest floats are far away, as any far value is; an infinite one is missing."""
    X = np.random.default_rng(0).normal(size=(60, 4))
    y = (X[:, 0] + X[:, 2] > 0).astype(int)
    model = ValueOfClassifier(costs=[1, 1, 1, 1]).fit(X, y)
    for column in range(4):
        rows = X[:1].copy()
        rows[0, column] = value
        found = model.predict_proba(rows)
        assert np.isfinite(found).all()
        if np.isfinite(value):
            rows[0, column] = np.sign(value) * 1e60
            np.testing.assert_array_equal(found, model.predict_proba(rows))
    X[3, 1], X[4, 1] = value, -value
    assert np.isfinite(ValueOfClassifier(costs=[1, 1, 1, 1]).fit(X, y).predict_proba(X)).all()
