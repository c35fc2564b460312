"""Plans of sets: tables on which single columns tell nothing, distilled trees, and hostile files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from tests.export.walking import assert_same_walks

import farthing
from farthing.costs import CostSheet
from farthing.forests import BudgetTreeClassifier
from farthing.neighbors import LookaheadClassifier
from farthing.walks import REFUSED

QUICK = {
    "n_estimators": 40,
    "n_folds": 2,
    "max_sets": 64,
    "max_size": 3,
    "width": 4,
    "n_neighbors": 20,
    "random_state": 0,
}


def context_table(n_rows: int = 600, seed: int = 0):
    """Return bits: the first says whether the second or the third is the label, the others are noise."""
    X = np.random.default_rng(seed).integers(0, 2, size=(n_rows, 6)).astype(np.float64)
    return X, np.where(X[:, 0] == 0, X[:, 1], X[:, 2]).astype(np.int64)


@pytest.fixture(scope="module")
def planned():
    X, y = context_table()
    return LookaheadClassifier(tradeoff=0.01, **QUICK).fit(X, y)


def test_it_buys_the_context_and_then_the_column_that_it_names(planned):
    X, y = context_table(seed=1)
    bought = planned.acquired(X)
    expected = np.zeros_like(bought)
    expected[:, 0] = True
    expected[np.arange(len(X)), np.where(X[:, 0] == 0, 1, 2)] = True
    np.testing.assert_array_equal(bought, expected)
    np.testing.assert_array_equal(planned.predict(X), y)


def test_a_search_of_all_sets_buys_the_same(planned):
    X, y = context_table()
    every = LookaheadClassifier(tradeoff=0.01, **{**QUICK, "width": None}).fit(X, y)
    new, _ = context_table(seed=1)
    np.testing.assert_array_equal(every.acquired(new), planned.acquired(new))


def test_it_buys_two_columns_that_tell_only_together():
    X = np.random.default_rng(0).integers(0, 2, size=(600, 5)).astype(np.float64)
    y = (X[:, 1] != X[:, 3]).astype(np.int64)
    model = LookaheadClassifier(tradeoff=0.01, **QUICK).fit(X, y)
    np.testing.assert_array_equal(model.acquired(X).sum(axis=0), [0, 600, 0, 600, 0])
    assert model.score(X, y) == 1.0


def test_a_budget_below_every_plan_buys_nothing(planned):
    X, _ = context_table(50, seed=2)
    assert planned.acquired(X, budget=0.5).sum() == 0
    assert planned.spend(X, budget=2.0).max() == 2.0


def test_a_price_above_the_gain_buys_nothing():
    X, y = context_table()
    assert LookaheadClassifier(tradeoff=1.0, **QUICK).fit(X, y).acquired(X).sum() == 0


def test_a_refused_column_is_not_asked_again(planned):
    walk = planned.walk()
    asked = []
    while walk.ask is not None:
        asked.append(walk.ask.feature)
        walk.tell(REFUSED)
    assert len(asked) == len(set(asked))
    assert asked[0] == "x0"
    assert walk.decision.spent == 0.0


def test_a_shared_price_is_planned_once():
    X, y = context_table()
    names = [f"x{j}" for j in range(6)]
    shared = CostSheet(dict.fromkeys(names, 1.0), groups={"panel": farthing.Group(20.0, ["x0", "x1", "x2"])})
    model = LookaheadClassifier(costs=shared, tradeoff=0.01, **QUICK).fit(X, y)
    # 22 of 0.01 each for a loss of a half: paid once the plan pays, paid twice it would not.
    assert float(model.spend(X).mean()) == 22.0


def test_the_distilled_tree_does_the_same(planned):
    X, y = context_table(seed=3)
    tree = planned.distill(max_depth=3)
    assert isinstance(tree, BudgetTreeClassifier)
    assert tree.forest_.n_trees == 1
    np.testing.assert_array_equal(tree.predict(X), y)
    np.testing.assert_array_equal(tree.acquired(X), planned.acquired(X))
    assert tree.walk().ask.feature == "x0"
    of_these = planned.distill(X, max_depth=3)
    np.testing.assert_array_equal(of_these.predict(X), y)
    np.testing.assert_array_equal(planned.distill(max_depth=0).acquired(X), np.zeros(X.shape, dtype=bool))


def test_the_order_of_a_set_does_not_use_up_the_depth_of_the_distilled_tree():
    rng = np.random.default_rng(0)
    context, bits = rng.integers(0, 3, size=900), rng.integers(0, 2, size=(900, 3, 3))
    entries = bits + rng.normal(0, 0.17, bits.shape)
    X = np.column_stack([context, entries.reshape(900, -1)])
    y = bits[np.arange(900), context] @ [1, 2, 4]
    tree = LookaheadClassifier(tradeoff=0.01, **QUICK).fit(X, y).distill(max_depth=5)
    assert tree.score(X, y) > 0.9  # 0.6 if tests tell apart which column comes next
    needed = np.zeros(X.shape, dtype=bool)
    needed[:, 0] = True
    np.put_along_axis(needed, 1 + 3 * context[:, np.newaxis] + np.arange(3), values=True, axis=1)
    assert (tree.acquired(X) | ~needed).mean() > 0.99


def test_the_distilled_tree_can_be_stored_and_exported(planned, tmp_path):
    X, _ = context_table(40, seed=4)
    tree = planned.distill(max_depth=3)
    tree.save(tmp_path / "tree.farthing")
    np.testing.assert_array_equal(farthing.load(tmp_path / "tree.farthing").predict(X), tree.predict(X))
    assert assert_same_walks(tree, X, tmp_path / "c", n_walks=60) > 60


def test_the_distilled_tree_takes_categories_and_missing_values():
    rng = np.random.default_rng(0)
    X, y = context_table(900)
    table = X.astype(object)
    table[:, 0] = np.where(X[:, 0] == 0, "second", "third")
    table[rng.random(X.shape) < 0.03] = None
    model = LookaheadClassifier(tradeoff=0.01, **QUICK).fit(table, y)
    tree = model.distill(max_depth=4)
    assert (tree.predict(table) == model.predict(table)).mean() > 0.95


@pytest.mark.parametrize("settings", [{"max_depth": -1}, {"min_samples_leaf": 0}])
def test_distill_refuses_settings_that_make_no_tree(planned, settings):
    with pytest.raises(ValueError, match="max_depth must be 0 or more"):
        planned.distill(**settings)


def test_threads_give_the_same_model():
    X, y = context_table(200)
    one, two = (LookaheadClassifier(**QUICK, n_jobs=n).fit(X, y) for n in (1, 2))
    np.testing.assert_array_equal(one.losses_, two.losses_)
    np.testing.assert_array_equal(one.predict_proba(X), two.predict_proba(X))


def test_rows_beyond_max_rows_are_not_kept():
    X, y = context_table(300)
    model = clone(LookaheadClassifier(**QUICK, max_rows=100)).fit(np.column_stack([X, np.arange(300)]), y)
    assert len(model.values_) == 100


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("losses", np.full((1, 1), np.nan, dtype=np.float32)),
        ("sets", np.zeros((0, 6), dtype=bool)),
        ("answers", np.full((1, 6), 200, dtype=np.uint8)),
        ("weights", np.array([-1.0])),
        ("half", np.array([3], dtype=np.uint8)),
        ("n_neighbors", np.nan),
        ("tradeoff", -1.0),
        ("scale", np.full(6, np.inf)),
        ("values", np.zeros((1, 5))),
        ("prior", np.zeros(2)),
    ],
)
def test_fields_that_do_not_fit_are_refused(planned, field, value):
    model = planned.fitted_
    one = replace(
        model,
        values=model.values[:1],
        answers=model.answers[:1],
        weights=model.weights[:1],
        half=model.half[:1],
        losses=model.losses[:1, :1],
        sets=model.sets[:1],
    )
    one.check()
    with pytest.raises(ValueError):  # noqa: PT011 - each field has a message of its own
        replace(one, **{field: value}).check()


def test_the_library_has_the_pair_that_only_tells_together():
    X = np.random.default_rng(0).integers(0, 2, size=(400, 5)).astype(np.float64)
    y = (X[:, 0] != X[:, 4]).astype(np.int64)
    model = LookaheadClassifier(tradeoff=0.01, **QUICK).fit(X, y)
    assert [True, False, False, False, True] in model.sets_.tolist()


@pytest.mark.parametrize("sizes", [(20.0, 600.0), (600.0, 20.0)])
def test_the_number_of_neighbours_is_that_of_the_least_total_cost(monkeypatch, sizes):
    # All 600 rows as neighbours stand for no answer in particular, so that plans buy more than they need.
    monkeypatch.setattr("farthing.neighbors.lookahead.planning._SIZES", sizes)
    X, y = context_table()
    model = LookaheadClassifier(tradeoff=0.01, **QUICK | {"n_neighbors": None}).fit(X, y)
    assert model.fitted_.n_neighbors == 20
    assert model.spend(X).mean() == 2
