"""`reprice`: the same prices give the same model, other prices what the held-out rows choose at them."""

import numpy as np
import pytest

import farthing
from farthing import BudgetedClassifier
from farthing.boosting import GreedyMiserClassifier
from farthing.cascades import MiserCascadeClassifier, MiserCascadeRegressor
from farthing.costs import CostSheet
from farthing.datasets import load_heart_disease, load_thyroid
from farthing.errors import RepriceError
from farthing.forests import BudgetTreeClassifier, PrunedForestClassifier

HEART = load_heart_disease()
THYROID = load_thyroid()
X, Y = THYROID.X[:1200], THYROID.y[:1200]


def moved(costs, seed=0):
    factors = np.random.default_rng(seed).uniform(0.5, 1.5, len(costs.features))
    prices = {name: float(costs.own[i] * factors[i]) for i, name in enumerate(costs.features)}
    return CostSheet(prices, groups=costs.groups, unit=costs.unit)


@pytest.fixture(scope="module")
def cascade():
    model = MiserCascadeClassifier(THYROID.costs, 20.0, n_estimators=20, n_stages=5, random_state=0)
    return model.fit(X, Y)


@pytest.fixture(scope="module")
def forest():
    model = PrunedForestClassifier(THYROID.costs, 20.0, n_estimators=5, growth_tradeoff=0.1, random_state=0)
    return model.fit(X, Y)


@pytest.mark.parametrize("name", ["cascade", "forest"])
def test_the_same_prices_give_the_same_model(name, request):
    model = request.getfixturevalue(name)
    again = model.reprice(THYROID.costs)
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    np.testing.assert_array_equal(again.acquired(X), model.acquired(X))


def test_prunings_cost_what_the_held_out_rows_paid(forest):
    again = forest.reprice(THYROID.costs)
    np.testing.assert_allclose(again.fitted_.path_costs, forest.fitted_.path_costs)
    # The purchases that are kept are those of the prunings themselves: of more rows, more is bought.
    drops = forest.fitted_.held_drops
    assert drops.max() <= len(forest.fitted_.path_costs)


@pytest.mark.parametrize("name", ["cascade", "forest"])
def test_other_prices(name, request, tmp_path):
    model = request.getfixturevalue(name)
    sheet = moved(THYROID.costs)
    new = model.reprice(sheet)
    assert new.costs_ == sheet
    np.testing.assert_allclose(new.spend(X), sheet.total_rows(new.acquired(X)))
    # Twice the prices are half the budget: the same model.
    twice = model.at(40.0).reprice(THYROID.costs.scaled(2.0))
    np.testing.assert_array_equal(twice.acquired(X), model.acquired(X))
    # From a file, too; and the old model is left as it was.
    model.save(tmp_path / "model.farthing")
    loaded = farthing.load(tmp_path / "model.farthing").reprice(sheet)
    np.testing.assert_array_equal(loaded.acquired(X), new.acquired(X))
    assert model.costs_ == THYROID.costs


def test_the_budget_holds_at_the_new_prices_on_the_held_out_rows(cascade):
    dear = cascade.reprice(THYROID.costs.scaled(3.0))
    fitted = dear.fitted_
    point = np.searchsorted(fitted.path_spend, 20.0, side="right") - 1
    assert fitted.path_spend[point] <= 20.0
    assert dear.spend(X).mean() < 3 * cascade.spend(X).mean()


def test_what_cannot_be_repriced_says_why(cascade):
    model = GreedyMiserClassifier(n_estimators=3, costs=THYROID.costs).fit(X, Y)
    with pytest.raises(RepriceError, match=r"GreedyMiserClassifier cannot .* keeps no held-out scores"):
        model.reprice(moved(THYROID.costs))
    free = MiserCascadeClassifier(THYROID.costs.with_free(["age"]), 20.0, n_estimators=5, n_stages=3)
    with pytest.raises(RepriceError, match="age cost nothing"):
        free.fit(X, Y).reprice(THYROID.costs)
    old = cascade.variant({}, _without_scores(cascade.fitted_))
    with pytest.raises(RepriceError, match="fit it again"):
        old.reprice(THYROID.costs)


def _without_scores(model):
    from dataclasses import replace  # noqa: PLC0415

    return replace(model, held_risks=None, held_errors=None, held_weights=None)


def test_regressors():
    rows = np.asarray(X, dtype=float)
    target = (np.asarray(Y) == 3).astype(float)
    costs = CostSheet(THYROID.costs.own)
    model = MiserCascadeRegressor(costs, 20.0, n_estimators=10, n_stages=3).fit(rows, target)
    np.testing.assert_array_equal(model.reprice(model.costs_).predict(rows), model.predict(rows))


def test_the_front_door_moves_the_model_that_it_chose():
    methods = [MiserCascadeClassifier(n_estimators=10, n_stages=4)]
    door = BudgetedClassifier(THYROID.costs, 20.0, methods=methods, cv=2).fit(X, Y)
    sheet = THYROID.costs.scaled(2.0)
    new = door.reprice(sheet)
    assert new.costs_ == sheet
    assert new.chosen_.spend <= 20.0
    # Twice the prices, and twice the budget.
    np.testing.assert_allclose(new.at(40.0).chosen_.spend, 2 * door.reprice(THYROID.costs).chosen_.spend)
    assert np.isnan(new.chosen_.score)
    tree = BudgetedClassifier(HEART.costs, 20.0, methods=[BudgetTreeClassifier(max_depth=2)], cv=2)
    with pytest.raises(RepriceError, match="it chose BudgetTreeClassifier, which"):
        tree.fit(HEART.X, HEART.y).reprice(HEART.costs)


def test_questions_of_a_cascade_have_the_fall_of_their_stage(cascade):
    walk = cascade.walk()
    reason = walk.ask.reason
    assert reason.measure == "error"
    assert reason.estimated
    assert 0 <= reason.risk <= 1
    assert "held-out rows" in reason.source
    # With all held-out rows alike, as at the first paid stage, the risks are those of the sets.
    place, then = cascade.fitted_.chain[:2]
    if len(np.unique(cascade.fitted_.held_risks[place])) == 1:
        risks = cascade.fitted_.set_risks
        assert reason.fall == pytest.approx(risks[place] - risks[then])
