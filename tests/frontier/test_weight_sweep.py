"""Sweeps over the weights of resources: the points, and the best within caps."""

import numpy as np
import pytest

from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet
from farthing.forests import BudgetTreeClassifier
from farthing.frontier import sweep_weights

RNG = np.random.default_rng(0)
X = RNG.normal(size=(240, 3))
# Two columns say nearly the same: one costs money, the other time.
X[:, 1] = X[:, 0] + 0.1 * RNG.normal(size=240)
Y = (X[:, 0] > 0).astype(int)
SHEET = CostSheet([5, 1, 1], unit="EUR", resources={"minutes": {"x1": 60, "x0": 1}})


@pytest.fixture(scope="module")
def found():
    tree = BudgetTreeClassifier(max_depth=1)
    return sweep_weights(tree, X, Y, costs=SHEET, weights={"minutes": [0.0, 1.0]})


def test_a_weight_moves_the_model_from_slow_to_expensive(found):
    by_money, by_both = (
        next(point for point in found.points if point.weights["minutes"] == weight) for weight in (0.0, 1.0)
    )
    assert by_money.spends["minutes"] > 50 > by_both.spends["minutes"]
    assert by_money.spends["EUR"] < by_both.spends["EUR"]
    assert by_both.spends["EUR"] == pytest.approx(5, abs=1)


def test_the_best_within_caps(found):
    quick = found.within({"minutes": 10})
    assert quick.weights == {"minutes": 1.0}
    assert found.within({"EUR": 2}).weights == {"minutes": 0.0}
    best = max(point.score for point in found.points)
    assert found.within({}).score == best
    with pytest.raises(LookupError, match="no model of the sweep"):
        found.within({"EUR": 2, "minutes": 10})
    # Hard caps on every row, of a model that was learned by the weighted sum.
    acquired = quick.model.acquired(X, budget={"EUR": 3, "minutes": 10})
    assert SHEET.total_rows(acquired).max() <= 3
    assert SHEET.resources["minutes"].total_rows(acquired).max() <= 10


def test_methods_with_budgets_are_aimed_at_several():
    miser = GreedyMiserClassifier(n_estimators=4, tradeoff=0.01)
    found = sweep_weights(miser, X, Y, costs=SHEET)
    assert len({point.weights["minutes"] for point in found.points}) == 3
    assert all(set(point.spends) == {"EUR", "minutes"} for point in found.points)


def test_prices_without_resources_have_nothing_to_weigh():
    with pytest.raises(ValueError, match="no resources to weigh"):
        sweep_weights(BudgetTreeClassifier(), X, Y, costs=CostSheet([1, 2, 3]))
