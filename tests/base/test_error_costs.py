"""Prices of errors in methods: what they must not change, what they must, and what is refused."""

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss

import farthing
from farthing.base import ErrorCosts, ErrorPrices, TrainingSet
from farthing.base.error_costs import error_prices, row_error_prices
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import EarlyExitClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet, Group
from farthing.forests import (
    BudgetForestClassifier,
    BudgetTreeClassifier,
    DiagnosticPolicyClassifier,
    PrunedForestClassifier,
)

SHEET = CostSheet([1.0, 2.0, 4.0, 0.5], groups={"blood": Group(3.0, ["x1", "x2"])})
TABLE = np.array([[0.0, 20.0, 8.0], [60.0, 0.0, 30.0], [25.0, 25.0, 0.0]])
MISER = {"n_estimators": 6, "max_depth": 2}
# Small settings of every method with a parameter error_costs.
METHODS = {
    "tree": BudgetTreeClassifier(costs=SHEET, max_depth=3),
    "forest": BudgetForestClassifier(costs=SHEET, n_estimators=4, max_depth=3, random_state=0),
    "pruned": PrunedForestClassifier(SHEET, n_estimators=4, max_depth=4, random_state=0),
    "policy": DiagnosticPolicyClassifier(SHEET, max_depth=2),
    "miser": GreedyMiserClassifier(costs=SHEET, tradeoff=1.0, **MISER),
    "exit": EarlyExitClassifier(
        GreedyMiserClassifier(costs=SHEET, **MISER), threshold=0.6, rounds_per_exit=2
    ),
    "cascade": MiserCascadeClassifier(
        SHEET, n_stages=2, n_folds=1, random_state=0, n_estimators=3, max_depth=2
    ),
}


def made(name, sheet=SHEET, **params):
    """Return a fresh method with other parameters, for another sheet of the same features."""
    model = METHODS[name]
    model = type(model)(**model.get_params(deep=False))
    if name == "exit":
        model.estimator = GreedyMiserClassifier(**model.estimator.get_params(deep=False))
    return model.set_params(costs=sheet, **params)


def table_of(n_rows, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 4)).round(1)
    scores = np.column_stack([X[:, 0] + X[:, 3], 1.5 * X[:, 1], X[:, 2] - X[:, 0]])
    y = (scores + rng.gumbel(size=scores.shape)).argmax(axis=1)
    return X, y


X, Y = table_of(240)
NEW, TRUE = table_of(200, seed=1)


@pytest.mark.parametrize("name", ["tree", "forest", "exit"])
def test_the_same_price_for_all_errors_changes_nothing(name):
    plain, priced = made(name).fit(X, Y), made(name, error_costs=7.0 * (1 - np.eye(3))).fit(X, Y)
    assert np.array_equal(plain.predict_proba(NEW), priced.predict_proba(NEW))
    assert np.array_equal(plain.predict(NEW), priced.predict(NEW))
    assert np.array_equal(plain.spend(NEW), priced.spend(NEW))


def test_the_same_price_for_all_errors_prunes_the_same_within_a_budget():
    plain, priced = (made("pruned", budget=5.0, error_costs=costs).fit(X, Y) for costs in (None, 4.0))
    assert np.array_equal(plain.predict(NEW), priced.predict(NEW))
    assert np.allclose(priced.path_errors_[[0, -1]], 4.0 * plain.path_errors_[[0, -1]])


@pytest.mark.parametrize("name", METHODS)
def test_another_unit_of_money_changes_nothing(name):
    """A factor of 4 is exact in floats, so the models have the same bits."""
    dear = CostSheet(4 * SHEET.own, groups={"blood": Group(12.0, ["x1", "x2"])})
    one = made(name, error_costs=TABLE).fit(X, Y)
    four = made(name, dear, error_costs=4 * TABLE).fit(X, Y)
    assert np.array_equal(one.predict(NEW), four.predict(NEW))
    assert np.array_equal(4 * one.spend(NEW), four.spend(NEW))


@pytest.mark.parametrize("name", METHODS)
def test_labels_have_the_least_expected_cost(name):
    model = made(name, error_costs=TABLE).fit(X, Y)
    expected = model.predict_proba(NEW) @ TABLE
    labels = model.predict(NEW)
    assert np.allclose(expected[np.arange(len(NEW)), labels], expected.min(axis=1))
    assert np.array_equal(model.error_costs_, TABLE)


@pytest.mark.parametrize("name", METHODS)
def test_prices_of_rows_that_are_those_of_their_class(name):
    by_class = made(name, error_costs=TABLE).fit(X, Y)
    by_row = made(name).fit(X, Y, row_error_costs=TABLE[Y])
    assert np.allclose(by_row.error_costs_, TABLE)
    assert np.array_equal(by_class.predict(NEW), by_row.predict(NEW))
    assert np.array_equal(by_class.spend(NEW), by_row.spend(NEW))


@pytest.mark.parametrize("name", ["tree", "forest", "policy", "cascade"])
def test_prices_of_rows_leave_with_rows_of_weight_zero(name):
    weights = (np.arange(len(X)) % 3 > 0).astype(float)
    prices = TABLE[Y] * (1 + np.arange(len(X)) % 2)[:, np.newaxis]
    kept = weights > 0
    some = made(name).fit(X[kept], Y[kept], row_error_costs=prices[kept])
    prices[~kept] = 1e6
    all_rows = made(name).fit(X, Y, weights, row_error_costs=prices)
    assert np.array_equal(some.predict_proba(NEW), all_rows.predict_proba(NEW))
    assert np.array_equal(some.error_costs_, all_rows.error_costs_)


def test_prices_of_rows_reach_leaves():
    """A leaf of three rows of class 0 and one of class 1, whose error costs ten times the usual."""
    X, y = np.repeat([[0.0], [1.0]], 4, axis=0), np.array([0, 0, 0, 1, 1, 1, 1, 0])
    prices = (1.0 - np.eye(2))[y]
    assert BudgetTreeClassifier().fit(X, y, row_error_costs=prices).predict([[0.0]]) == 0
    prices[3] *= 10
    assert BudgetTreeClassifier().fit(X, y, row_error_costs=prices).predict([[0.0]]) == 1


def test_prices_of_rows_reach_exits():
    """The path of the cascade holds the mean price of the held-out rows, row by row."""
    prices = TABLE[Y] * np.where(X[:, 0] > 0, 3.0, 0.2)[:, np.newaxis]
    settings = {"n_stages": 1, "n_folds": 2, "random_state": 0, "trust": 0.0, **MISER}
    model = MiserCascadeClassifier(SHEET, **settings).fit(X, Y, row_error_costs=prices)
    by_class = MiserCascadeClassifier(SHEET, error_costs=model.error_costs_, **settings).fit(X, Y)
    assert np.array_equal(model.predict_proba(NEW, budget=0), by_class.predict_proba(NEW, budget=0))
    # Without a feature, all rows have the label of the least price.
    assert model.fitted_.set_risks[0] == pytest.approx(prices.mean(axis=0).min())
    assert not np.allclose(model.fitted_.set_risks, by_class.fitted_.set_risks)


def test_trees_hold_the_classes_as_they_come():
    model = BudgetTreeClassifier(max_depth=3, error_costs=TABLE).fit(X, Y)
    assert np.allclose(model.forest_.value[0], np.bincount(Y))
    assert np.allclose(model.forest_.value, model.forest_.value.round())


@pytest.mark.parametrize(
    "method", [GreedyMiserClassifier, BudgetForestClassifier, DiagnosticPolicyClassifier]
)
def test_probabilities_stay_calibrated(method):
    """Errors on one class cost 20 times as much: weights alone would lift its odds by 20.

    Of 4,000 rows the Brier score has a standard error of some 0.003, and 0.01 is three of them; the mean
    probability differs from the share of the class by 0.02 at most, where one of weighted rows is at 0.7.
    """
    rng = np.random.default_rng(0)
    X = rng.normal(size=(8000, 3)).round(1)
    y = (rng.random(8000) < 1 / (1 + np.exp(1.5 - X[:, 0] - X[:, 1]))).astype(int)
    small = {"n_estimators": 20, "max_depth": 3} if method is not DiagnosticPolicyClassifier else {}
    fits = [method(error_costs=costs, **small).fit(X[:4000], y[:4000]) for costs in (None, [[0, 1], [20, 0]])]
    plain, priced = (model.predict_proba(X[4000:])[:, 1] for model in fits)
    truth = y[4000:]
    assert brier_score_loss(truth, priced) < brier_score_loss(truth, plain) + 0.01
    assert abs(priced.mean() - truth.mean()) < 0.02
    assert fits[1].predict(X[4000:]).mean() > 0.5


@pytest.mark.parametrize("name", METHODS)
def test_files_hold_the_prices(name, tmp_path):
    labels = np.array(["a", "b", "c"])
    costs = ErrorCosts(TABLE, ["c", "a", "b"])
    model = made(name, error_costs=costs).fit(X, labels[Y])
    model.save(tmp_path / "model")
    again = farthing.load(tmp_path / "model")
    assert np.array_equal(again.error_costs_, costs.over(labels).costs)
    assert np.array_equal(again.predict(NEW), model.predict(NEW))
    assert again.fit(X, labels[Y]).predict(NEW).tolist() == model.predict(NEW).tolist()


@pytest.mark.parametrize(
    ("costs", "message"),
    [
        ([[0, -1], [1, 0]], "zero or more"),
        ([[0, np.inf], [1, 0]], "finite"),
        ([[0, 1]], "square table"),
        (-1.0, "zero or more"),
    ],
)
def test_no_prices(costs, message):
    with pytest.raises(ValueError, match=f"costs must be .*{message}"):
        ErrorCosts(costs)


def test_prices_that_do_not_fit_the_rows():
    with pytest.raises(ValueError, match="error_costs: the costs are for 2 classes; y has 3"):
        BudgetTreeClassifier(error_costs=[[0, 1], [1, 0]]).fit(X, Y)
    with pytest.raises(ValueError, match=r"error_costs: the costs are for the labels \[0, 1, 9\]"):
        BudgetTreeClassifier(error_costs=ErrorCosts(TABLE, [0, 1, 9])).fit(X, Y)
    with pytest.raises(ValueError, match="class_weight has no place"):
        BudgetTreeClassifier(error_costs=TABLE, class_weight="balanced").fit(X, Y)
    with pytest.raises(ValueError, match=r"shape \(240, 3\); got \(240, 2\)"):
        BudgetTreeClassifier().fit(X, Y, row_error_costs=TABLE[Y][:, :2])
    prices = TABLE[Y].copy()
    prices[7, 2] = -1
    with pytest.raises(ValueError, match=r"row 7 has .*-1.0.* for 2"):
        BudgetTreeClassifier().fit(X, Y, row_error_costs=prices)
    with pytest.raises(ValueError, match="aggregation='vote'"):
        BudgetForestClassifier(aggregation="vote", error_costs=TABLE).fit(X, Y)
    with pytest.raises(ValueError, match="warm_start"):
        GreedyMiserClassifier(warm_start=True, error_costs=TABLE).fit(X, Y)
    with pytest.raises(ValueError, match="no parameter error_costs"):
        EarlyExitClassifier(farthing.boosting.AdaBoostClassifier(), error_costs=TABLE).fit(X, Y)


def test_a_right_label_may_cost_something():
    costs = ErrorCosts([[5.0, 6.0], [0.0, 4.0]])
    assert costs.decide(np.array([[0.5, 0.5], [0.9, 0.1]])).tolist() == [0, 0]
    # What matters to growth is how much more a wrong label costs; here it costs less for class 1.
    factors = ErrorPrices(costs.costs, costs.costs).class_prices()
    assert factors[0] == pytest.approx(1.0)
    assert factors[1] > 0


def test_factors_of_classes_and_rows():
    rows = TrainingSet.of(np.zeros((3, 1)), np.array([0, 1, 1]), classes=np.array([0, 1, 2]))
    prices = error_prices(TABLE, rows)
    assert prices.class_prices().tolist() == [14.0, 45.0, 25.0]
    assert prices.factors(rows.target) == pytest.approx(np.array([14.0, 45.0, 45.0]) / 28.0)
    own = row_error_prices([[0, 2, 2], [4, 0, 4], [8, 0, 8]], rows)
    # The means of each class; of all rows for a class without rows.
    assert own.table.tolist() == [[0, 2, 2], [6, 0, 6], [4, 2 / 3, 14 / 3]]
    weighted = own.factors(rows.target)[1:]
    assert weighted.mean() == pytest.approx(own.class_factors()[1])
