"""The best model within a budget."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import farthing
from farthing import BudgetedClassifier, BudgetedRegressor, ErrorCosts
from farthing.base import Point
from farthing.datasets import load_heart_disease
from farthing.errors import BudgetWarning, FileError
from farthing.store.codec import decode, encode

FEW = [
    "BudgetTreeClassifier",
    ("GreedyMiserClassifier", {"tradeoff": [0.0, 0.01], "relative": [True], "n_estimators": [8]}),
]


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


def test_one_of_the_best_points_within_the_budget_is_taken(heart):
    model = BudgetedClassifier(heart.costs, 20.0, methods=FEW).fit(heart.X, heart.y)
    fitting = [p for p in model.frontier_ if p.spend <= 20]
    best = max(fitting, key=lambda p: p.score)
    assert model.chosen_.spend <= 20
    # The spend is that of the model on all rows; the score and the loss are those of a point.
    assert model.chosen_.loss in [p.loss for p in fitting]
    # The score is corrected for having been chosen.
    assert model.optimism_ >= 0
    assert any(abs(model.chosen_.score + model.optimism_ - p.score) < 1e-12 for p in fitting)
    assert model.chosen_.score + model.optimism_ >= best.score - 0.5 * best.error
    assert model.chosen_.loss <= best.loss
    assert type(model.model_).__name__ == model.chosen_.method


def test_a_hard_budget_holds_on_every_row(heart):
    model = BudgetedClassifier(heart.costs, 8.0, budget_kind="hard", methods=FEW).fit(heart.X, heart.y)
    assert 0 < model.spend(heart.X).max() <= 8.0


def test_a_share_of_the_full_cost(heart):
    model = BudgetedClassifier(heart.costs, "5 %", methods=["BudgetTreeClassifier"]).fit(heart.X, heart.y)
    assert model.chosen_.spend <= 0.05 * heart.costs.total(heart.costs.features)


def test_a_budget_too_small_says_so(heart):
    model = BudgetedClassifier(heart.costs, 0.5, methods=FEW)
    with pytest.warns(BudgetWarning, match="buys no feature"):
        model.fit(heart.X, heart.y)
    assert not model.acquired(heart.X).any()
    assert np.allclose(model.predict_proba(heart.X)[:, 1], np.mean(heart.y == 1))


def test_no_budget_takes_the_best_of_all(heart):
    model = BudgetedClassifier(heart.costs, methods=FEW, scoring="roc_auc").fit(heart.X, heart.y)
    assert model.chosen_.score == model.frontier_.best.score


def test_calibration_keeps_the_labels(heart):
    plain = BudgetedClassifier(heart.costs, 20.0, methods=FEW).fit(heart.X, heart.y)
    mild = BudgetedClassifier(heart.costs, 20.0, methods=FEW, calibrate=True).fit(heart.X, heart.y)
    assert mild.temperature_ != 1
    assert np.array_equal(plain.predict(heart.X), mild.predict(heart.X))
    assert not np.allclose(plain.predict_proba(heart.X), mild.predict_proba(heart.X))


def test_costs_of_errors_decide_the_label(heart, tmp_path):
    scoring = ErrorCosts([[0, 10], [1000, 0]])
    model = BudgetedClassifier(heart.costs, methods=FEW, scoring=scoring).fit(heart.X, heart.y)
    sure = model.predict_proba(heart.X)[:, 1] > 10 / 1010
    looked = model.acquired(heart.X).any(axis=1)
    assert np.array_equal(model.predict(heart.X)[looked] == 1, sure[looked])
    model.save(tmp_path / "model.farthing")
    again = farthing.load(tmp_path / "model.farthing")
    assert np.array_equal(again.predict(heart.X), model.predict(heart.X))


def test_a_file_keeps_the_point_that_was_chosen(heart, tmp_path):
    model = BudgetedClassifier(heart.costs, 20.0, methods=FEW).fit(heart.X, heart.y)
    model.save(tmp_path / "model.farthing")
    again = farthing.load(tmp_path / "model.farthing")
    kept, chosen = again.chosen_, model.chosen_
    assert (kept.method, kept.spend, kept.score) == (chosen.method, chosen.spend, chosen.score)
    assert str(kept) == str(chosen)
    assert kept.estimator is None


@pytest.mark.parametrize("wrong", [{"score": "high"}, {"params": {"x": []}}, {"method": 1}, {"more": 1.0}])
def test_a_point_that_is_none_is_refused(wrong):
    plain, arrays = encode({"point": Point("Tree", {"max_depth": 3}, 1.0, 2.0, 0.9)})
    assert decode(plain, arrays)["point"].params == {"max_depth": 3}
    plain["point"]["fields"] |= wrong
    with pytest.raises(FileError, match="point"):
        decode(plain, arrays)


def test_a_walk_says_the_same(heart):
    model = BudgetedClassifier(heart.costs, 20.0, methods=FEW, calibrate=True).fit(heart.X, heart.y)
    decision = farthing.consult(model, heart.X.iloc[3].to_dict())
    assert decision.probabilities[1] == model.predict_proba(heart.X[3:4])[0, 1]


def test_numbers():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = X[:, 0] + 0.5 * X[:, 1]
    methods = [("GreedyMiserRegressor", {"tradeoff": [0.0, 0.1], "relative": [True]})]
    model = BudgetedRegressor([1.0, 1, 1, 1], 1.0, methods=methods).fit(X, y)
    assert model.spend(X).max() == 1.0
    assert np.corrcoef(model.predict(X), X[:, 0])[0, 1] > 0.9


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"budget": "a lot"}, "share such as"),
        ({"budget": -3}, "budget"),
        ({"budget_kind": "soft"}, "'budget_kind' parameter"),
        ({"methods": [GaussianNB()]}, "keep the contract"),
    ],
)
def test_bad_arguments(heart, options, message):
    with pytest.raises((ValueError, TypeError), match=message):
        BudgetedClassifier(heart.costs.own, **options).fit(np.nan_to_num(heart.X.to_numpy(float)), heart.y)


def test_the_mean_budget_holds_after_the_last_fit(heart):
    # A miser spends more the more rows it grows on; here it is held to what it may.
    costs, whole = heart.costs, heart.costs.total(heart.costs.features)
    for share in (0.05, 0.1, 0.3, 0.6):
        model = BudgetedClassifier(costs, share * whole, methods=FEW[1:], cv=2).fit(heart.X, heart.y)
        assert model.spend(heart.X).mean() <= share * whole


def test_importances_are_those_of_the_chosen_model(heart):
    model = BudgetedClassifier(heart.costs, 60, methods=["BudgetTreeClassifier"], cv=2).fit(heart.X, heart.y)
    np.testing.assert_array_equal(model.feature_importances_, model.model_.feature_importances_)
    assert model.feature_importances_.sum() == pytest.approx(1)
    other = BudgetedClassifier(heart.costs, methods=["AdaptLinClassifier"], cv=2)
    assert not hasattr(other.fit(heart.X, heart.y), "feature_importances_")
