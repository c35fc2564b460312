"""Trade-offs that are chosen by what rows spend at those before."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.boosting import GreedyMiserClassifier, GreedyMiserRegressor, miser_path
from farthing.boosting.greedy_miser.tradeoff_search import largest_tradeoff, spread_tradeoffs


def table(n_rows=300):
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n_rows, 8))
    return X, (X @ 0.7 ** np.arange(8) + rng.normal(size=n_rows) > 0).astype(int)


PRICES = [30.0, 2.0, 9.0, 1.0, 20.0, 5.0, 1.0, 40.0]


@given(st.floats(1e-20, 1e20))
def test_the_largest_is_found_up_to_a_factor_of_two(bound):
    found = largest_tradeoff(lambda tradeoff: tradeoff < bound)
    assert found < bound <= 2 * found


def test_there_may_be_no_largest():
    assert largest_tradeoff(lambda _: True) is None
    assert largest_tradeoff(lambda _: False) is None


@given(st.integers(2, 30), st.floats(0.2, 3.0), st.floats(1e-6, 1e6), st.floats(1e-3, 1e3))
def test_no_gap_is_much_wider_than_it_must_be(n, power, largest, scale):
    def spend(tradeoff):
        return scale / (1 + 1000 * tradeoff / largest) ** power

    asked = []

    def spend_at(tradeoffs):
        asked.extend(tradeoffs)
        return [spend(tradeoff) for tradeoff in tradeoffs]

    found = spread_tradeoffs(n, largest, spend_at)
    assert len(found) == n == len(set(asked))
    assert found == sorted(asked)
    assert found[0] == 0
    assert found[-1] == largest
    if n >= 12:
        spends = [max(spend(tradeoff), 0.01 * spend(0)) for tradeoff in found]
        widest = max(math.log(a / b) for a, b in itertools.pairwise(spends))
        assert widest <= 4 * math.log(spends[0] / spends[-1]) / (n - 1)


def test_a_leap_does_not_take_all_fits():
    found = spread_tradeoffs(24, 1.0, lambda tradeoffs: [0.1 if t > 0.2 else 1.0 for t in tradeoffs])
    assert sum(0.15 < tradeoff < 0.25 for tradeoff in found) <= 8
    assert len(set(found)) == 24


def test_without_a_largest_there_is_zero_alone():
    assert spread_tradeoffs(9, None, lambda tradeoffs: [1.0] * len(tradeoffs)) == [0.0]
    assert len(spread_tradeoffs(9, 1.0, lambda tradeoffs: [0.0] * len(tradeoffs))) <= 9


def figures(path):
    """Return all that is known of the points; NaN fields, which are equal to nothing, left out."""
    return [(p.params, p.spend, p.max_spend, p.score, p.test_spend, p.test_score, p.details) for p in path]


@pytest.mark.parametrize("charge", ["model", "row"])
@pytest.mark.parametrize("relative", [False, True])
def test_a_path_finds_its_trade_offs(charge, relative):
    X, y = table()
    model = GreedyMiserClassifier(n_estimators=6, max_depth=2, charge=charge, relative=relative, costs=PRICES)
    given = {"validation": (X[200:], y[200:])}
    path = miser_path(model, X[:200], y[:200], tradeoffs=12, **given)
    settings = list(path.by("tradeoff"))
    assert settings[0] == 0
    assert settings == sorted(set(settings))
    assert len(settings) == 12
    again = miser_path(model, X[:200], y[:200], tradeoffs=settings, n_jobs=2, **given)
    assert figures(path) == figures(again)
    # The largest buys something, and at twice that trade-off nothing is bought in the first round.
    assert path.by("tradeoff")[settings[-1]][1].details["model_cost"] > 0
    beyond = miser_path(model, X[:200], y[:200], tradeoffs=[2 * settings[-1]], **given)
    assert [point.details for point in beyond] == [{"n_rounds": 0, "model_cost": 0}]


def test_free_features_need_no_trade_off():
    X, y = table(100)
    model = GreedyMiserRegressor(n_estimators=2, costs=np.zeros(8))
    path = miser_path(model, X, y, tradeoffs=5, validation=(X, y))
    assert list(path.by("tradeoff")) == [0.0]


def test_how_many_must_be_a_number_above_zero():
    X, y = table(20)
    with pytest.raises(ValueError, match="at least 1; got 0"):
        miser_path(GreedyMiserRegressor(), X, y, tradeoffs=0, validation=(X, y))
