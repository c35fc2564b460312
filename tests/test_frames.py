"""Whole models on frames that Hypothesis makes: missing values, categories, constants, one row, many rows."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from farthing.boosting import GradientBoostingRegressor
from farthing.costs import CostSheet, Group
from farthing.forests import BudgetTreeClassifier

NUMBERS = st.one_of(st.floats(-5, 5, width=16), st.just(np.nan), st.integers(-2, 2).map(float))
WORDS = st.one_of(st.sampled_from(["ash", "beech", "cedar", "", "Ä"]), st.none())
GARBAGE = {"float": 1e9, "word": "never seen", "flag": False, "constant": -7.0}


@st.composite
def frames(draw):
    """Draw a frame with a column of each kind, a target, and prices."""
    n = draw(st.one_of(st.just(1), st.integers(2, 12), st.integers(40, 60)))

    def column(values):
        return draw(st.lists(values, min_size=n, max_size=n))

    X = pd.DataFrame(
        {
            "float": np.array(column(NUMBERS), dtype=draw(st.sampled_from([np.float32, np.float64]))),
            "word": pd.Series(column(WORDS), dtype=draw(st.sampled_from([object, "category", "str"]))),
            "flag": np.array(column(st.booleans())),
            "constant": 1.0,
        }
    )
    prices = st.sampled_from([0.0, 0.1, 0.7, 1.0, 2.5])
    sheet = CostSheet(
        {name: draw(prices) for name in X.columns}, groups={"lab": Group(draw(prices), ["word", "flag"])}
    )
    y = np.array(column(st.integers(0, 2)))
    return X, y, sheet


def models(sheet, budget):
    return [
        BudgetTreeClassifier(costs=sheet, budget=budget),
        BudgetTreeClassifier(costs=sheet, impurity="pairs", cost_rule="penalty", tradeoff=0.05),
        GradientBoostingRegressor(costs=sheet, n_estimators=3, max_leaf_nodes=4, learning_rate=0.5),
    ]


@pytest.mark.filterwarnings("ignore:y has a single class")
@given(frames(), st.sampled_from([None, 0.0, 0.8, 2.0]))
def test_walks_agree_with_arrays_and_see_nothing_that_was_not_bought(table, budget):
    X, y, sheet = table
    for model in models(sheet, budget):
        model.fit(X, y)
        rows = model.decide(X, budget=budget)
        assert np.array_equal(rows.spent, model.costs_.total_rows(rows.acquired))
        if budget is not None:
            assert (rows.spent <= budget * (1 + 1e-12)).all()

        blind = X.astype(object)
        for j, name in enumerate(X.columns):
            blind[name] = blind[name].where(rows.acquired[:, j], GARBAGE[name])
        again = model.decide(blind, budget=budget)
        assert np.array_equal(again.prediction, rows.prediction)
        assert np.array_equal(again.acquired, rows.acquired)

        for i in range(min(len(X), 3)):
            walk = model.walk(budget=budget)
            while (ask := walk.ask) is not None:
                walk.tell(X[ask.feature].iloc[i])
            assert walk.decision.prediction == rows.prediction[i]
            assert walk.decision.spent == rows.spent[i]
            assert walk.decision.acquired == tuple(X.columns[rows.acquired[i]])


def test_many_rows_in_two_threads():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(50_000, 6)), columns=list("abcdef"))
    X["g"] = pd.Categorical(rng.choice(["u", "v", "w"], len(X)))
    X.loc[rng.random(len(X)) < 0.1, "a"] = np.nan
    y = (X["b"] > 0) & (X["g"] == "v") | (X["c"] > 1)
    for estimator in (BudgetTreeClassifier(max_depth=8), GradientBoostingRegressor(n_estimators=10)):
        one = estimator.set_params(n_jobs=1).fit(X, y)
        forest = one.forest_
        two = estimator.set_params(n_jobs=2).fit(X, y)
        assert two.forest_ == forest
        assert one.score(X, y) > 0.8


@pytest.mark.parametrize("model", [BudgetTreeClassifier(), GradientBoostingRegressor(n_estimators=3)])
def test_polars_frames_are_as_good_as_pandas_frames(model):
    polars = pytest.importorskip("polars")
    rng = np.random.default_rng(1)
    X = pd.DataFrame({"a": rng.normal(size=80), "b": rng.choice(["x", "y"], 80)})
    y = ((X["a"] > 0) ^ (X["b"] == "x")).to_numpy().astype(int)
    same = polars.DataFrame({"b": X["b"].to_list(), "a": X["a"].to_numpy()})  # another order of columns
    expected = model.fit(X, y).decide(X)
    got = model.decide(same)
    assert np.array_equal(got.prediction, expected.prediction)
    assert np.array_equal(got.acquired, expected.acquired)
