"""Features bought are counted by their price, as figure 2 of the Greedy Miser's paper draws them."""

import numpy as np
from experiments.lib.price_levels import bought_by_price

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor
from farthing.costs import CostSheet, Group

SHEET = CostSheet(
    [1.0, 0.3, 0.7, 0.0, 2.1, 0.1], groups={"lab": Group(1.3, ["x1", "x4"]), "scan": Group(0.6, ["x2", "x5"])}
)


def numbers(seed, n_rows=120):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 6)), 2)
    X[:, 3] = rng.integers(0, 3, n_rows)
    return X, X[:, 0] + (X[:, 3] == 1) * X[:, 1] - X[:, 4] * (X[:, 2] > 0) + 0.3 * X[:, 5]


def test_features_bought_are_counted_by_price():
    X, y = numbers(10)
    model = GreedyMiserRegressor(tradeoff=0.05, relative=True, costs=SHEET, n_estimators=10).fit(X, y)
    levels = bought_by_price(model)
    prices = [SHEET.price(f"x{j}") for j in range(6)]
    assert [level.price for level in levels] == sorted(set(prices))
    assert sum(level.n_features for level in levels) == 6
    tested = set(model.forest_.feature.tolist()) - {-1}
    assert {level.price: level.n_bought for level in levels} == {
        price: sum(prices[j] == price for j in tested) for price in set(prices)
    }
    assert all(level.n_bought == 0 for level in bought_by_price(model, 0))


def test_rounds_of_several_classes_have_a_tree_each():
    X, y = numbers(11)
    labels = np.digitize(y, np.quantile(y, [1 / 3, 2 / 3]))
    model = GreedyMiserClassifier(tradeoff=0.01, relative=True, costs=SHEET, n_estimators=6).fit(X, labels)
    for n_rounds in range(model.n_rounds_ + 1):
        tested = model.forest_.trees(0, 3 * (n_rounds + 1)).feature
        n_bought = sum(level.n_bought for level in bought_by_price(model, n_rounds))
        assert n_bought == len(set(tested.tolist()) - {-1})
