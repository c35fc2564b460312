"""The trees of the miser are those of CART on equation 5, at the prices of either ledger."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.boosting.brute_force import Cart

from farthing.boosting import GradientBoostingRegressor, GreedyMiserRegressor
from farthing.costs import CostSheet, Group
from farthing.trees import Forest

SEEDS = st.integers(0, 2**32 - 1)
N_TREES, RATE = 3, 0.5


def table(seed: int, n_rows: int, missing: float):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(n_rows, 4)), 1)
    X[:, 3] = rng.integers(0, 3, n_rows)
    y = X[:, 0] + 2 * (X[:, 1] > 0) * X[:, 2] + X[:, 3] + rng.normal(size=n_rows)
    X[rng.random(X.shape) < missing] = np.nan
    own = rng.choice([0.0, 0.5, 1.0, 3.0], 4)
    shared = float(rng.choice([0.5, 2.0]))
    sheet = CostSheet(own, groups={"lab": Group(shared, ["x1", "x2"])})
    return X, y, sheet


SETTINGS = st.fixed_dictionaries(
    {
        "charge": st.sampled_from(["model", "row"]),
        "tradeoff": st.sampled_from([0.0, 0.1, 1.0, 5.0]),
        "budget": st.sampled_from([None, None, 1.5, 3.5]),
        "max_depth": st.sampled_from([1, 2, 3]),
    }
)


@given(SEEDS, st.integers(2, 25), st.sampled_from([0.0, 0.2]), SETTINGS)
def test_every_split_of_the_first_trees_is_the_best_of_all(seed, n_rows, missing, chosen):
    X, y, sheet = table(seed, n_rows, missing)
    model = GreedyMiserRegressor(n_estimators=N_TREES, learning_rate=RATE, costs=sheet, **chosen).fit(X, y)
    cart = Cart(X, sheet, **chosen)
    scores = np.full(n_rows, y.mean())
    # Boosting ends where no split pays.
    for number in range(1, model.forest_.n_trees):
        tree = model.forest_.trees(number, number + 1).scaled(1 / RATE)
        scores += RATE * cart.watch(tree, y - scores)
    if model.n_rounds_ < N_TREES:
        cart.watch(Forest.constant([(y - scores).mean()], X.shape[1]), y - scores)
    np.testing.assert_allclose(model.predict(X), np.where(model.acquired(X).any(axis=1), scores, y.mean()))
    if chosen["charge"] == "row":
        bought = np.array([ledger.bought for ledger in cart.rows])
        np.testing.assert_array_equal(model.acquired(X), bought)
    else:
        tested = model.forest_.feature[model.forest_.feature >= 0]
        assert set(tested.tolist()) == set(np.flatnonzero(cart.model.bought).tolist())


@given(SEEDS, st.sampled_from(["model", "row"]), st.booleans())
@settings(deadline=None, max_examples=15)
def test_a_trade_off_of_zero_is_the_cost_blind_booster_bit_for_bit(seed, charge, weighted):
    X, y, sheet = table(seed, 80, 0.1)
    weights = np.random.default_rng(seed).integers(1, 4, 80) if weighted else None
    limits = {"n_estimators": 10, "max_depth": 3, "max_leaf_nodes": 6, "min_samples_leaf": 2, "costs": sheet}
    blind = GradientBoostingRegressor(**limits).fit(X, y, sample_weight=weights)
    miser = GreedyMiserRegressor(tradeoff=0.0, charge=charge, **limits).fit(X, y, sample_weight=weights)
    assert miser.forest_ == blind.forest_


@given(SEEDS, st.sampled_from(["model", "row"]))
@settings(deadline=None, max_examples=10)
def test_weights_are_repetitions(seed, charge):
    X, y, sheet = table(seed, 40, 0.1)
    weights = np.random.default_rng(seed).integers(1, 4, 40)
    options = {"tradeoff": 0.5, "charge": charge, "n_estimators": 4, "max_depth": 2, "costs": sheet}
    weighted = GreedyMiserRegressor(**options).fit(X, y, sample_weight=weights)
    repeated = GreedyMiserRegressor(**options).fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_array_equal(weighted.acquired(X), repeated.acquired(X))
    np.testing.assert_allclose(weighted.predict(X), repeated.predict(X))
