"""The price of calling the expensive model, as a part of the account."""

import numpy as np
import pytest
from sklearn.naive_bayes import GaussianNB

import farthing
from farthing.adaptive import AdaptGbrtClassifier, AdaptLinClassifier, L1GateClassifier, adapt_path
from farthing.boosting import GreedyMiserClassifier

RNG = np.random.default_rng(1)
X = RNG.normal(size=(200, 4))
Y = X[:, 0] + (X[:, 0] > 0) * X[:, 1] + 0.3 * X[:, 2] > 0
COSTS = [1.0, 2.0, 4.0, 8.0]
TREES = GreedyMiserClassifier(n_estimators=6, max_depth=2)
SETTINGS = {"costs": COSTS, "random_state": 0, "n_folds": 2, "validation_fraction": 0.3}


@pytest.mark.parametrize("expensive", [TREES, GaussianNB()])
def test_rows_that_are_sent_on_pay_for_the_call(expensive):
    model = AdaptLinClassifier(expensive, tradeoff=0.05, p_full=0.4, **SETTINGS)
    # (OPT) does not know the price, so the same rows are sent on if one start is tried.
    paid = AdaptLinClassifier(expensive, tradeoff=0.05, p_full=0.4, call_cost=5.0, n_starts=1, **SETTINGS)
    free = model.set_params(n_starts=1).fit(X, Y)
    paid.fit(X, Y)
    assert 0 < free.sent(X).sum() < len(X)
    assert free.acquired(X).shape == X.shape
    assert paid.costs_.call_prices() == {"expensive model": 5.0}
    np.testing.assert_array_equal(paid.acquired(X)[:, :4], free.acquired(X))
    np.testing.assert_array_equal(paid.acquired(X)[:, 4], free.sent(X))
    np.testing.assert_array_equal(paid.spend(X), free.spend(X) + 5.0 * free.sent(X))
    np.testing.assert_array_equal(paid.predict_proba(X), free.predict_proba(X))


def test_a_budget_counts_the_calls():
    settings = {**SETTINGS, "n_estimators": 5, "tradeoff": 0.02, "relative": True}
    shares = []
    for price in (0.0, 4.0, 40.0):
        model = AdaptGbrtClassifier(TREES, budget=6.0, call_cost=price, **settings)
        model.fit(X, Y, validation=(X, Y))
        assert model.spend(X).mean() <= 6.0 * (1 + 1e-12)
        shares.append(model.sent(X).mean())
    assert shares[0] > shares[1] > shares[2]


@pytest.mark.parametrize("expensive", [TREES, GaussianNB()])
@pytest.mark.parametrize("cap", [1.0, 5.5, 7.0, 12.5, 16.0, 40.0])
def test_a_row_that_cannot_pay_for_the_call_keeps_the_cheap_answer(expensive, cap):
    model = L1GateClassifier(expensive, n_features=1, call_cost=5.0, send_share=0.5, **SETTINGS).fit(X, Y)
    decided = model.decide(X, budget=cap)
    assert decided.spent.max() <= cap
    for row in range(12):
        walk = model.walk(budget=cap)
        while (ask := walk.ask) is not None:
            walk.tell(X[row, int(ask.feature[1:])])
        decision = walk.decision
        assert (decision.prediction, decision.spent) == (decided.prediction[row], decided.spent[row])
        assert list(decision.probabilities.values()) == decided.probabilities[row].tolist()
        np.testing.assert_array_equal(
            np.isin(model.costs_.features, decision.acquired), decided.acquired[row]
        )
    called = decided.acquired[:, 4]
    assert called.any() == (cap >= 6.0 if expensive is TREES else cap >= 20.0)


def test_evaluations_within_the_expensive_model_are_parts_of_the_account(tmp_path):
    trees = GreedyMiserClassifier(n_estimators=6, max_depth=2, tree_cost=0.5)
    model = AdaptLinClassifier(trees, call_cost=2.0, p_full=0.5, **SETTINGS).fit(X, Y)
    price = model.expensive_.evaluation_cost_
    assert model.costs_.call_prices() == {"expensive model": 2.0, "expensive model: trees": price}
    sent = model.sent(X)
    np.testing.assert_array_equal(model.acquired(X)[:, 4:], np.column_stack([sent, sent]))
    for budget in (None, 6.0, 9.0):
        decided = model.decide(X[:20], budget=budget)
        for row in range(20):
            walk = model.walk(budget=budget)
            while (ask := walk.ask) is not None:
                walk.tell(X[row, int(ask.feature[1:])])
            assert (walk.decision.prediction, walk.spent) == (decided.prediction[row], decided.spent[row])
    nested = AdaptLinClassifier(model, call_cost=1.0, **SETTINGS).fit(X, Y)
    assert list(nested.costs_.calls) == [
        "expensive model",
        "expensive model: expensive model",
        "expensive model: expensive model: trees",
    ]
    nested.save(tmp_path / "nested.farthing")
    loaded = farthing.load(tmp_path / "nested.farthing")
    np.testing.assert_array_equal(loaded.spend(X), nested.spend(X))
    np.testing.assert_array_equal(nested.costs_.total_rows(nested.acquired(X)), nested.spend(X))


def test_the_points_of_a_path_pay_for_calls():
    model = AdaptLinClassifier(TREES, call_cost=3.0, p_full=0.4, **SETTINGS)
    path = adapt_path(model, X, Y, validation=(X, Y), tradeoffs=[0.01], shares=[0.2, 0.7])
    for point in path:
        assert point.spend == pytest.approx(point.model.spend(X).mean())
    assert path.reference.spend == pytest.approx(path[0].model.expensive_.spend(X).mean() + 3.0)
