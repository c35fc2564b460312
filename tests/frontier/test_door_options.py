"""Free columns, mixtures, refits, and models that a frontier hands out."""

import numpy as np
import pytest

import farthing
from farthing import BudgetedClassifier, BudgetedRegressor
from farthing.costs import CostSheet, Group
from farthing.datasets import load_heart_disease
from farthing.frontier.budgeted_model import is_heads

CASCADE = ("MiserCascadeClassifier", {"n_estimators": [10], "max_depth": [2], "budget_kind": ["mean"]})
TREES = ("BudgetTreeClassifier", {"max_depth": [1, 3], "budget": [None]})


@pytest.fixture(scope="module")
def heart():
    return load_heart_disease()


@pytest.fixture(scope="module")
def door(heart):
    return BudgetedClassifier(heart.costs, 40.0, methods=[CASCADE], cv=3).fit(heart.X, heart.y)


def test_free_columns_cost_nothing(heart):
    free = ["age", "thal"]
    model = BudgetedClassifier(heart.costs, 5.0, free=free, methods=[TREES], cv=3).fit(heart.X, heart.y)
    sheet = model.costs_
    assert sheet.price("thal") == 0.0
    assert model.spend(heart.X).mean() <= 5.0
    plain = BudgetedClassifier(heart.costs, 5.0, methods=[TREES], cv=3).fit(heart.X, heart.y)
    # thal, the dearest and best test, is now within a budget of 5.
    assert model.chosen_.score > plain.chosen_.score
    with pytest.raises(farthing.errors.CostError, match="pulse"):
        BudgetedClassifier(heart.costs, 5.0, free=["pulse"], methods=[TREES]).fit(heart.X, heart.y)


def test_a_fit_that_buys_nothing_at_any_budget_is_delivered(heart):
    free = list(heart.X.columns) if hasattr(heart.X, "columns") else list(heart.costs.features)
    model = BudgetedClassifier(heart.costs, 5.0, free=free, methods=[CASCADE], cv=3).fit(heart.X, heart.y)
    assert model.chosen_.method == "MiserCascadeClassifier"
    assert model.chosen_.spend == 0.0
    assert model.score(heart.X, heart.y) > 0.8  # it uses what is free


def test_a_free_column_leaves_its_group():
    sheet = CostSheet({"a": 1, "b": 2, "c": 3}, groups={"g": Group(10, ["a", "b"])})
    assert sheet.with_free("a").total(["a"]) == 0
    assert sheet.with_free("a").total(["a", "b"]) == 12
    assert sheet.with_free(["a", "b"]).groups == {}
    assert sheet.with_free([]) is sheet


def test_the_frontier_hands_out_models_of_the_chosen_fit(heart, door):
    with_models = [point for point in door.frontier_ if point.model is not None]
    assert len(with_models) > 10
    for point in with_models[::5]:
        spend = point.model.spend(heart.X).mean()
        assert spend == pytest.approx(point.spend, rel=0.5, abs=5.0)
    assert all(point.method == door.chosen_.method for point in with_models)


def test_another_budget_is_aimed_at(heart, door):
    for budget in (30.0, 80.0, 130.0):
        other = door.at(budget)
        assert other.spend(heart.X).mean() <= budget
        assert other.chosen_.spend > 0.8 * budget


def test_refit_takes_one_fit_and_the_new_rows(heart, door):
    again = door.refit(heart.X[:200], heart.y[:200])
    assert again is not door
    assert again.chosen_.method == door.chosen_.method
    assert again.model_.get_params()["max_depth"] == door.model_.get_params()["max_depth"]
    assert again.spend(heart.X[:200]).mean() <= 40.0
    assert again.spend(heart.X[:200]).mean() > 20.0
    assert again.growth_ == door.growth_
    assert 0.6 < again.chosen_.score < 0.9
    assert {**door.chosen_.params, **again.chosen_.params} == again.chosen_.params
    # The first model is as it was.
    assert door.spend(heart.X).mean() <= 40.0
    assert np.mean(again.predict(heart.X) == heart.y) > 0.7


def test_the_frontier_of_a_refit_hands_out_models_of_the_new_rows(heart, door):
    again = door.refit(heart.X[:200], heart.y[:200])
    made = [point.model for point in again.frontier_ if point.model is not None]
    assert len(made) > 10
    assert all(model.fitted_.forest is again.model_.fitted_.forest for model in made)


def test_a_mixture_never_takes_a_variant_with_a_cap_of_its_own(heart):
    """Such a variant is capped row by row, which the mixture does not do: it would spend far more."""
    whole = heart.costs.total(heart.costs.features)
    door = BudgetedClassifier(heart.costs, 40.0, methods=[CASCADE], cv=3, mixture=True, random_state=0)
    door = door.fit(heart.X, heart.y)
    seeds = np.arange(len(heart.y))
    for share in (0.1, 0.2, 0.3):
        moved = door.at(share * whole)
        above = moved.fitted_.above
        assert above is None or above.fitted_.budget == moved.model_.fitted_.budget
        assert moved.spend(heart.X, seeds=seeds).mean() <= 1.15 * share * whole  # a coin of 303 rows
    assert door.fitted_.share > 0


def test_a_mixture_fills_the_gap_below_a_mean_budget(heart, tmp_path):
    methods = [("BudgetTreeClassifier", {"max_depth": [3], "budget": [None, 2.0]})]
    tree = BudgetedClassifier(heart.costs, 40.0, methods=methods, cv=3).fit(heart.X, heart.y)
    assert tree.spend(heart.X).mean() < 30  # there is no tree between
    cascade = BudgetedClassifier(heart.costs, 40.0, methods=[CASCADE], cv=3, mixture=True)
    model = cascade.fit(heart.X, heart.y)
    seeds = np.arange(len(heart.y))
    if model.above_ is None:
        pytest.fail("the cascade has a more expensive and better variant")
    mixed = model.spend(heart.X, seeds=seeds)
    plain = model.spend(heart.X)
    assert plain.mean() < mixed.mean()
    # A row's seed decides, in walks as in arrays.
    heads = is_heads(seeds, model.share_)
    assert np.array_equal(mixed[~heads], plain[~heads])
    for row in [int(np.flatnonzero(heads)[0]), int(np.flatnonzero(~heads)[0])]:
        walk = model.walk(seed=row)
        while walk.ask is not None:
            walk.tell(heart.X.iloc[row][walk.ask.feature])
        assert walk.decision.spent == mixed[row]
    path = tmp_path / "mixed.farthing"
    model.save(path)
    assert np.array_equal(farthing.load(path).spend(heart.X, seeds=seeds), mixed)


def test_the_coin_is_fair_and_repeatable():
    seeds = np.arange(20_000)
    for share in (0.0, 0.1, 0.9, 1.0):
        heads = is_heads(seeds, share)
        assert heads.mean() == pytest.approx(share, abs=0.01)
        assert np.array_equal(heads, is_heads(seeds, share))
    # Neighbours fall independently.
    half = is_heads(seeds, 0.5)
    assert np.mean(half[1:] == half[:-1]) == pytest.approx(0.5, abs=0.02)


def test_the_score_is_corrected_for_the_choice(heart):
    grid = {"max_depth": [2, 3, 4], "min_samples_leaf": [1, 5, 9]}
    model = BudgetedClassifier(heart.costs, methods=[("BudgetTreeClassifier", grid)], cv=3)
    model.fit(heart.X, heart.y)
    assert 0 <= model.optimism_ < 0.05
    assert model.chosen_.score + model.optimism_ == pytest.approx(
        next(p.score for p in model.frontier_ if dict(p.params) == dict(model.chosen_.params)), abs=1e-12
    )
    one = BudgetedClassifier(heart.costs, methods=[("BudgetTreeClassifier", {"max_depth": [3]})], cv=3)
    assert one.fit(heart.X, heart.y).optimism_ < 0.02


def test_regressors_have_the_options_too():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(120, 4))
    y = X[:, 0] + X[:, 1]
    model = BudgetedRegressor(
        [1.0, 1.0, 5.0, 5.0], 1.0, free="x0", methods=[("GreedyMiserRegressor", {"n_estimators": [20]})], cv=2
    ).fit(X, y)
    assert model.costs_.price("x0") == 0
    assert model.refit(X, y).spend(X).mean() <= 1.0
