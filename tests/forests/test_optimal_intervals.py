"""Optimal trees with tests of intervals: one test and one price, written as two nested thresholds."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.forests.test_optimal_tree import PLAIN, count_tests, priced_tables, xor_table

from farthing import load
from farthing.boosting import GreedyMiserClassifier
from farthing.costs import CostSheet, Group
from farthing.forests import OptimalTreeClassifier


def middle_table(n_rows=300, seed=0):
    """The label is whether one column lies in the middle and another one does not."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 6, size=(n_rows, 4)).astype(float)
    y = ((X[:, 0] == 2) ^ ((X[:, 1] > 1) & (X[:, 1] <= 3))).astype(int)
    return X, y


def intervals(**settings):
    return OptimalTreeClassifier(**{"numeric_tests": "intervals", "tradeoff": 0.001, **PLAIN, **settings})


def test_a_value_in_the_middle_is_one_test():
    X = np.arange(5.0).repeat(4)[:, np.newaxis]
    y = (X[:, 0] == 2).astype(int)
    model = intervals(costs=[3.0], max_depth=1).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.forest_.depth() == 2
    assert model.spend(X).tolist() == [3.0] * 20
    thresholds = intervals(costs=[3.0], max_depth=1, numeric_tests="thresholds").fit(X, y)
    assert thresholds.objective_ > model.objective_ == pytest.approx(0.003)
    # A walk asks for the column once.
    walk = model.walk()
    assert walk.ask.feature == "x0"
    walk.tell(2.2)
    assert walk.ask is None
    assert (walk.decision.prediction, walk.spent) == (1, 3.0)


def test_a_penalty_is_paid_once_for_an_interval():
    X = np.arange(5.0).repeat(4)[:, np.newaxis]
    y = (X[:, 0] == 2).astype(int)
    # Four errors without a test: two penalties of 2.5 would not pay, one does.
    settings = {"tradeoff": 0.0, "node_penalty": 2.5, "max_depth": 2}
    assert intervals(**settings).fit(X, y).objective_ * 20 == pytest.approx(2.5)
    assert intervals(**settings, numeric_tests="thresholds").fit(X, y).objective_ * 20 == pytest.approx(4.0)


@pytest.mark.parametrize("inside", [True, False])
def test_missing_values_are_inside_or_outside(inside):
    X = np.array([0.0, 1.0, 2.0, 3.0, 4.0, np.nan]).repeat(5)[:, np.newaxis]
    y = ((X[:, 0] == 2) | (np.isnan(X[:, 0]) & inside)).astype(int)
    model = intervals(max_depth=1).fit(X, y)
    assert (model.predict(X) == y).all()
    assert model.objective_ == pytest.approx(0.001)


def test_a_missing_value_that_no_row_had_gets_the_label_of_the_node():
    X = np.arange(5.0).repeat(4)[:, np.newaxis]
    y = (X[:, 0] != 2).astype(int)
    model = intervals(max_depth=1).fit(X, y)
    assert model.predict([[np.nan]]).tolist() == [1]
    np.testing.assert_allclose(model.predict_proba([[np.nan]]), [[0.2, 0.8]])


@given(priced_tables(), st.integers(0, 3), st.sampled_from([None, 1.3, 3.5]))
def test_no_more_than_with_thresholds_and_no_more_with_one_test_more(table, depth, budget):
    _, _, frame, y, weights, sheet, errors = table
    settings = {"costs": sheet, "budget": budget, "error_costs": errors, "tradeoff": 1.0}
    model = intervals(**settings, max_depth=depth).fit(frame, y, weights)
    thresholds = intervals(**settings, max_depth=depth, numeric_tests="thresholds").fit(frame, y, weights)
    deeper = intervals(**settings, max_depth=depth + 1).fit(frame, y, weights)
    assert deeper.objective_ <= model.objective_ + 1e-12
    assert model.objective_ <= thresholds.objective_ + 1e-12
    assert model.forest_.depth() <= 2 * depth


def test_the_tests_outside_an_interval_stand_twice():
    X, y = middle_table()
    model = intervals(max_depth=2).fit(X, y)
    forest = model.forest_
    assert model.score(X, y) == 1.0
    assert count_tests(forest, intervals=True) == (3, 2)
    assert (forest.feature >= 0).sum() > 3
    # What stands twice has the same class weights; rows are counted where they are.
    left, outside = int(forest.left[0]), int(forest.right[forest.right[0]])
    assert forest.feature[left] == forest.feature[outside] == forest.feature[forest.right[left]]
    np.testing.assert_array_equal(forest.value[left], forest.value[outside])
    np.testing.assert_allclose(forest.cover[left] + forest.cover[outside], forest.value[left].sum())
    inner = np.flatnonzero(forest.feature >= 0)
    np.testing.assert_allclose(
        forest.cover[inner], forest.cover[forest.left[inner]] + forest.cover[forest.right[inner]]
    )
    assert model.feature_importances_[:2].sum() == pytest.approx(1.0)


def test_unseen_rows_keep_the_hard_budget():
    X, y = middle_table()
    sheet = CostSheet([1.0, 2.0, 3.0, 4.0], groups={"g": Group(2.0, ["x1", "x3"])})
    new = np.random.default_rng(1).normal(size=(500, 4)) * 4
    new[np.random.default_rng(2).random(new.shape) < 0.2] = np.nan
    spends = []
    for budget in (0.0, 1.0, 4.0, 5.0, 20.0):
        model = intervals(costs=sheet, budget=budget, max_depth=3, error_costs=50.0).fit(X, y)
        assert model.spend(new).max() <= budget
        spends.append(model.objective_)
    assert spends == sorted(spends, reverse=True)
    assert spends[0] > spends[-1]


@pytest.mark.parametrize("depth", [3, 4])
def test_any_number_of_threads_gives_the_same_tree(depth):
    X, y = xor_table(120, 5)
    X = np.round(X)  # many ties
    fits = [intervals(max_depth=depth, max_values=6, n_jobs=n_jobs).fit(X, y) for n_jobs in (1, 2, 4, 1)]
    assert all(fit.forest_ == fits[0].forest_ for fit in fits)
    assert len({fit.objective_ for fit in fits}) == 1


def test_a_time_limit_returns_a_tree_and_a_bound_below_the_optimum():
    X, y = middle_table(200)
    y = np.where(np.random.default_rng(3).random(len(y)) < 0.1, 1 - y, y)
    best = intervals(max_depth=3).fit(X, y)
    for seconds in (0.0, 0.0005, 0.002):
        hurried = intervals(max_depth=3, time_limit=seconds).fit(X, y)
        assert hurried.lower_bound_ <= best.objective_ <= hurried.objective_
        paid = (hurried.predict(X) != y).mean() + 0.001 * hurried.spend(X).mean()
        assert paid == pytest.approx(hurried.objective_)


def test_files_keep_the_trees_of_all_budgets(tmp_path):
    X, y = middle_table()
    model = intervals(costs=np.arange(1.0, 5.0), budget_kind="mean", max_depth=2, error_costs=30.0).fit(X, y)
    assert len(model.path_costs_) > 1
    model.save(tmp_path / "tree")
    again = load(tmp_path / "tree")
    assert again.numeric_tests == "intervals"
    assert [variant.forest_ for _, variant in again.variants()] == [v.forest_ for _, v in model.variants()]
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    for row in X[:20]:
        walk = again.walk()
        while walk.ask is not None:
            walk.tell(row[int(walk.ask.feature[1:])])
        assert walk.decision.prediction == model.predict(row[np.newaxis])[0]
        assert walk.spent == model.spend(row[np.newaxis])[0]


def test_other_kinds_of_tests_are_refused():
    with pytest.raises(ValueError, match="numeric_tests"):
        OptimalTreeClassifier(numeric_tests="ranges").fit([[0.0], [1.0]], [0, 1])


@pytest.mark.parametrize("seed", range(3))
def test_guessed_bounds_cost_at_most_the_errors_of_the_reference(seed):
    X, y = middle_table(150, seed)
    y = np.where(np.random.default_rng(seed).random(len(y)) < 0.15, 0, y)
    reference = GreedyMiserClassifier(n_estimators=6, max_depth=2)
    wrong = (reference.fit(X, y).predict(X) != y).mean()
    best = intervals(max_depth=3, reference=reference).fit(X, y)
    guessed = intervals(max_depth=3, reference=reference, guess_bounds=True).fit(X, y)
    thresholds = intervals(max_depth=3, reference=reference, numeric_tests="thresholds").fit(X, y)
    assert best.objective_ < thresholds.objective_
    assert best.objective_ - 1e-12 <= guessed.objective_ <= best.objective_ + wrong + 1e-12
    assert guessed.lower_bound_ <= best.objective_ + 1e-12
