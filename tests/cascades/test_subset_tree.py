"""The subset tree: sets chosen together, tests that make different sets possible, and their account."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from farthing.base import TrainingSet
from farthing.cascades import SubsetTreeClassifier
from farthing.cascades.branching.branch_table import BranchTable
from farthing.cascades.branching.subset_search import SetBoosters, SubsetSearch
from farthing.cascades.branching.subset_tests import TestSearch, crossed
from farthing.costs import CostSheet, Group
from farthing.learning.booster import TreeSettings
from farthing.learning.losses import LOGISTIC
from farthing.table import Bins, Schema

QUICK = {"n_estimators": 30, "n_folds": 2, "random_state": 0}


def forked(n_rows, seed):
    """Draw rows: the sign of x0, which alone says nothing of the class, says whether x1 or x2 tells it."""
    X = np.random.default_rng(seed).normal(size=(n_rows, 5))
    return X, (np.where(X[:, 0] > 0, X[:, 1], X[:, 2]) > 0).astype(np.int64)


def search_on(X, y, sheet, limit, **changes):
    settings = TreeSettings(n_estimators=30, learning_rate=0.2, max_depth=4, min_samples_leaf=5)
    rows = TrainingSet.of(X, y, costs=sheet, classes=np.array([0, 1]))
    table = BranchTable(rows, LOGISTIC, settings, max_bins=64, seed=0)
    every = np.arange(len(X))
    options = {"fixed": (), "n_candidates": 3, "n_swaps": 4, **changes}
    trainer = table.trainer(every, np.ones(len(X)), n_folds=3)
    return SubsetSearch(
        SetBoosters(trainer), np.ones(len(X), dtype=bool), table.coarse, limit=limit, **options
    )


def test_the_first_question_is_chosen_for_what_it_makes_possible():
    (X, y), (fresh, truth) = forked(1200, 0), forked(500, 1)
    model = SubsetTreeClassifier(budget=2, **QUICK).fit(X, y)
    decided = model.decide(fresh)
    assert (decided.spent == 2).all()
    right = fresh[:, 0] > 0.2
    left = fresh[:, 0] < -0.2
    assert decided.acquired[right][:, [0, 1]].all()
    assert decided.acquired[left][:, [0, 2]].all()
    assert np.mean(decided.prediction == truth) > 0.95
    same = SubsetTreeClassifier(budget=2, n_branches=1, **QUICK).fit(X, y)
    assert len(np.unique(same.acquired(fresh), axis=0)) == 1
    assert np.mean(same.predict(fresh) == truth) < 0.85


def test_columns_that_tell_something_only_together_are_found_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1500, 6))
    # Alone, x3 tells most and x1 and x2 nothing.
    y = (X[:, 1] * X[:, 2] + 0.3 * X[:, 3] > 0).astype(np.int64)
    search = search_on(X, y, CostSheet([1] * 6), 2.0)
    assert 3 in search.filled((), 1)
    assert search.best() == (1, 2)


def test_no_test_is_made_where_all_rows_need_the_same_columns():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(800, 5))
    y = (X[:, 0] + X[:, 1] + 0.3 * rng.normal(size=800) > 0).astype(np.int64)
    model = SubsetTreeClassifier(budget=2, **QUICK).fit(X, y)
    assert model.bought_.tolist() == [[0, 1]]


def test_shared_prices_are_paid_once_and_the_budget_holds_on_every_row():
    X, y = forked(900, 0)
    sheet = CostSheet([1, 2, 2, 5, 1], groups={"lab": Group(1, ["x1", "x2"])})
    for budget in (3.5, 4.0, 6.0):
        model = SubsetTreeClassifier(sheet, budget, **QUICK).fit(X, y)
        fresh, _ = forked(300, 1)
        acquired = model.acquired(fresh)
        assert (model.spend(fresh) == sheet.total_rows(acquired)).all()
        assert model.spend(fresh).max() <= budget
    assert acquired[:, [0, 1, 2]].all()  # 6 pays for both of the group, whose price is shared


def test_a_set_is_exchanged_for_a_cheaper_one_that_is_as_good():
    X, y = forked(900, 0)
    X[:, 3] = X[:, 1]
    search = search_on(X, y, CostSheet([1, 3, 1, 1, 1]), 3.0)
    assert search.swapped((0, 2, 4)) == (0, 2, 3)
    assert search.affords((0, 2, 3))
    assert not search.affords((0, 1))


def test_categories_and_missing_values_route_rows():
    rng = np.random.default_rng(0)
    kind = rng.choice(["a", "b", "c"], size=1500)
    values = rng.normal(size=(1500, 2))
    y = np.where(kind == "b", values[:, 0], values[:, 1]) > 0
    named = pd.Series(kind).where(kind != "c", None)  # one kind is never known
    X = pd.DataFrame({"kind": named.astype("category"), "one": values[:, 0], "two": values[:, 1]})
    model = SubsetTreeClassifier(budget=2, **QUICK).fit(X[:1200], y[:1200])
    acquired = model.acquired(X[1200:])
    assert (acquired[:, 1] == (kind[1200:] == "b")).all()
    assert model.score(X[1200:], y[1200:]) > 0.95
    walk = model.walk(known={"kind": "b"})
    assert walk.ask.feature == "one"


def test_of_many_columns_those_that_gain_most_alone_are_boosted_on_together():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 40))
    X[:, 30] = np.nan
    y = (X[:, 7] + 0.8 * X[:, 20] + 0.6 * X[:, 33] + 0.3 * rng.normal(size=600) > 0).astype(np.int64)
    search = search_on(X, y, CostSheet([1] * 40), 2.0, most_columns=9, fixed=(30,))
    kept = search._screened(6)
    gains = search.gains((30,))
    assert sorted(kept) == kept.tolist()
    assert set(kept) - {30} == set(sorted(range(40), key=lambda column: -gains[column])[:9]) - {30}
    assert {7, 20, 30, 33} <= set(kept)
    assert set(search._thinned()) <= {*kept}
    assert len(search._screened(12)) == 13  # never fewer than the search begins with, and the free one
    assert len(search_on(X, y, CostSheet([1] * 40), 2.0)._screened(6)) == 40


def test_columns_are_screened_only_where_there_are_more_than_asked_for():
    X, y = forked(500, 0)
    whole, same, fewer = (
        SubsetTreeClassifier(budget=2, selection_columns=most, **QUICK).fit(X, y) for most in (None, 5, 1)
    )
    assert whole.predict_proba(X).tobytes() == same.predict_proba(X).tobytes()
    assert fewer.spend(X).max() <= 2


def test_threads_give_the_same_bits():
    X, y = forked(600, 0)
    one, two = (SubsetTreeClassifier(budget=2, n_jobs=n, **QUICK).fit(X, y) for n in (1, 2))
    assert one.predict_proba(X).tobytes() == two.predict_proba(X).tobytes()
    assert one.bought_.tolist() == two.bought_.tolist()


@pytest.mark.parametrize("categorical", [False, True])
def test_the_best_test_is_that_of_all_tests(categorical):
    rng = np.random.default_rng(1)
    n_rows, n_sets, n_bins = 80, 4, 5
    values = rng.integers(0, n_bins, size=n_rows).astype(np.float64)
    values[rng.random(n_rows) < 0.2] = np.nan
    column = pd.Series(pd.Categorical(values)) if categorical else pd.Series(values)
    table = pd.DataFrame({"x": column})
    schema = Schema.learn(table)
    bins = Bins(schema.encode(table, "X").values, schema)
    losses, weights = rng.random((n_rows, n_sets)), rng.integers(1, 4, size=n_rows).astype(np.float64)
    half = rng.integers(0, 2, size=n_rows)
    allowed = np.array([[True, True, False, True]])
    found = TestSearch(losses, allowed, weights, half, least=10.0).best([0], bins, bins.codes())

    def fall(left):
        total = 0.0
        for side, chosen in product((left, ~left), (0, 1)):
            other = side & (half != chosen)
            best = min((0, 1, 3), key=lambda one: weights[other] @ losses[other, one])
            judged = side & (half == chosen)
            total += weights[judged] @ (losses[judged, 0] - losses[judged, best])
        return total

    naive = {}
    for code, missing_left in product(range(n_bins), (False, True)):
        left = values == code if categorical else values <= code
        left = np.where(np.isnan(values), missing_left, left)
        if min(weights[left].sum(), weights[~left].sum()) >= 10:
            naive[code, missing_left] = fall(left)
    assert (found.code, found.missing_left) == max(naive, key=naive.get)
    assert found.gain == pytest.approx(max(naive.values()), abs=1e-6)


def test_each_half_is_judged_with_the_set_of_the_other():
    sums = np.random.default_rng(0).random((2, 3, 4))
    naive = [sums[0, b, sums[1, b].argmin()] + sums[1, b, sums[0, b].argmin()] for b in range(3)]
    assert crossed(sums) == pytest.approx(naive)
