"""The default trade-offs suit the price list."""

import numpy as np
import pytest

from farthing.base import SweepContext
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet
from farthing.learning.tradeoff_grid import relative_tradeoffs


def context(prices):
    return SweepContext(n_rows=100, n_features=len(prices), n_classes=2, costs=CostSheet(prices))


@pytest.mark.parametrize("n_features", [8, 120])
def test_the_grid_ends_near_the_price_of_one_feature(n_features):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, n_features))
    y = X[:, :8].sum(axis=1) > 0
    prices = rng.integers(1, 51, size=n_features).astype(float)
    prices[0] = 1.0
    grid = relative_tradeoffs(context(prices))

    def spend(tradeoff):
        model = GreedyMiserClassifier(
            tradeoff=tradeoff, relative=True, charge="row", n_estimators=20, costs=prices
        )
        return model.fit(X, y).spend(X).mean() / prices.mean()

    assert grid[0] == 0.0
    assert spend(grid[0]) > 5
    assert 0 < spend(grid[-1]) < 1.5


def test_the_unit_of_prices_changes_nothing():
    prices = np.array([1.0, 5.0, 50.0])
    assert relative_tradeoffs(context(8 * prices)) == [
        value / 8 for value in relative_tradeoffs(context(prices))
    ]
    # Where all is free, any trade-off is as good.
    assert relative_tradeoffs(context(np.zeros(3)))[1] > 0
