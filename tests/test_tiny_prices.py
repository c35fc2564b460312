"""Prices so small that a gain per price is more than a float holds."""

import numpy as np
import pytest

from farthing.base import SweepContext
from farthing.boosting import GreedyMiserRegressor, miser_path
from farthing.cascades import BranchingCascadeClassifier, MiserCascadeClassifier
from farthing.costs import CostSheet
from farthing.forests import BudgetForestClassifier, PrunedForestClassifier, prune_path
from farthing.learning.tradeoff_grid import relative_tradeoffs

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 3))
Y = X[:, 0] + 0.5 * X[:, 1] > 0
TINY = pytest.mark.parametrize("costs", [[5e-324] * 3, [1e-310, 1.0, 5.0]], ids=["all", "one"])


@TINY
@pytest.mark.parametrize(
    "estimator",
    [
        MiserCascadeClassifier(n_estimators=4, random_state=0),
        BranchingCascadeClassifier(n_estimators=4, budget=2.0, random_state=0),
        PrunedForestClassifier(n_estimators=4, random_state=0),
    ],
    ids=lambda e: type(e).__name__,
)
def test_ratios_of_gain_and_price_do_not_overflow(estimator, costs):
    model = estimator.set_params(costs=costs).fit(X, Y)
    assert model.score(X, Y) > 0.7  # it bought something
    assert np.isfinite(model.spend(X)).all()


@TINY
def test_prunings_have_finite_tradeoffs(costs):
    forest = BudgetForestClassifier(costs=costs, n_estimators=4, random_state=0).fit(X[:45], Y[:45])
    path = prune_path(forest, X[45:], Y[45:])
    assert np.isfinite(path.tradeoffs).all()
    assert (np.diff(path.tradeoffs) >= 0).all()
    assert path[-1].spend <= path[0].spend


@TINY
def test_grids_are_finite(costs):
    found = relative_tradeoffs(SweepContext(100, 3, 2, CostSheet(costs)))
    assert np.isfinite(found).all()
    assert found == sorted(found)


@TINY
@pytest.mark.parametrize("charge", ["model", "row"])
def test_paths_of_misers(costs, charge):
    model = GreedyMiserRegressor(n_estimators=3, costs=costs, charge=charge, relative=True)
    path = miser_path(model, X, Y.astype(float), tradeoffs=4, validation=(X, Y.astype(float)))
    assert np.isfinite([point.params["tradeoff"] for point in path]).all()
