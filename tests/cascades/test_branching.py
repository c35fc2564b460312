"""The branching cascade: what rows buy, by what, and what a file of it must hold."""

from dataclasses import replace

import numpy as np
import pytest

from farthing import load
from farthing.base import TrainingSet
from farthing.cascades import BranchingCascadeClassifier
from farthing.cascades.branching.branch_table import BranchTable
from farthing.cascades.branching.feature_selection import Gains, coarse_codes, select_features
from farthing.costs import CostSheet, Group, RowLedger
from farthing.errors import FileError
from farthing.learning.booster import TreeSettings
from farthing.learning.losses import LOGISTIC
from farthing.table import Bins, Schema
from farthing.trees.node_arrays import MISSING_STAY

SMALL = {
    "n_branches": 2,
    "branch_share": 0.5,
    "n_estimators": 15,
    "min_samples_branch": 50,
    "random_state": 0,
}


def forked(n_rows, seed):
    """Draw rows: the sign of x0 says whether x1 or x2 tells the class; x3 is a copy of x1, x4 is noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n_rows, 5))
    X[:, 0] += np.where(X[:, 0] > 0, 0.2, -0.2)
    X[:, 3] = X[:, 1]
    # The class leans on x0 a little, so that the routes have a reason to ask for it first.
    signal = np.where(X[:, 0] > 0, X[:, 1], X[:, 2])
    return X, np.where(signal > 0, 1 + (X[:, 0] > 0), 0)


def table_of(X, y, sheet, max_depth):
    settings = TreeSettings(
        n_estimators=10, learning_rate=0.3, max_depth=max_depth, min_samples_leaf=5, l2_regularization=1.0
    )
    rows = TrainingSet.of(X, y, costs=sheet, classes=np.array([0, 1]))
    return BranchTable(rows, LOGISTIC, settings, max_bins=255, seed=0)


@pytest.fixture(scope="module")
def tables():
    return forked(1500, 0), forked(500, 1)


def test_rows_buy_what_their_first_answer_calls_for(tables):
    (X, y), (fresh, truth) = tables
    model = BranchingCascadeClassifier(budget=2, **SMALL).fit(X, y)
    decided = model.decide(fresh)
    assert decided.spent.max() == 2
    right = fresh[:, 0] > 0
    assert decided.acquired[right][:, [1, 3]].any(axis=1).all()
    assert decided.acquired[~right, 2].all()
    assert np.mean(decided.prediction == truth) > 0.95
    static = BranchingCascadeClassifier(budget=2, **{**SMALL, "n_branches": 1}).fit(X, y)
    assert len(np.unique(static.acquired(fresh), axis=0)) == 1
    assert np.mean(static.predict(fresh) == truth) < 0.9


def test_branches_may_learn_from_their_own_rows_alone(tables):
    (X, y), (fresh, truth) = tables
    model = BranchingCascadeClassifier(budget=2, **SMALL, outside_weight=0.0).fit(X, y)
    assert np.mean(model.predict(fresh) == truth) > 0.95


def test_walks_go_down_the_routes_and_ask_one_feature_at_a_time(tables):
    (X, y), (fresh, _) = tables
    model = BranchingCascadeClassifier(budget=3, **SMALL).fit(X, y)
    walk, asked = model.walk(), []
    while (ask := walk.ask) is not None:
        asked.append(ask.feature)
        walk.tell(fresh[0, int(ask.feature[1:])])
    assert asked[0] == f"x{model.routes_.feature[0]}"
    branch = int(model.fitted_.branches_of(fresh[:1])[0])
    assert asked == [f"x{column}" for column in model.fitted_.columns(branch)]


def test_a_dear_copy_is_left_alone_and_groups_share_their_price(tables):
    (X, y), (fresh, _) = tables
    sheet = CostSheet([1, 1, 1, 5, 1], groups={"lab": Group(1, ["x1", "x2"])})
    model = BranchingCascadeClassifier(sheet, 4, **SMALL).fit(X, y)
    acquired = model.acquired(fresh)
    assert not acquired[:, 3].any()
    assert (model.spend(fresh) == sheet.total_rows(acquired)).all()
    assert model.spend(fresh).max() <= 4


def test_gains_are_those_of_the_naive_sums():
    rng = np.random.default_rng(0)
    codes = rng.integers(0, 4, size=(6, 50)).astype(np.uint8)
    gradients, hessians = rng.normal(size=(3, 50)), rng.random((3, 50))

    def half(rows):
        return (gradients[:, rows].sum(axis=1) ** 2 / (hessians[:, rows].sum(axis=1) + 2)).sum() / 2

    naive = [sum(half(row == code) for code in range(4)) - half(np.ones(50, bool)) for row in codes]
    assert Gains(codes)(gradients, hessians, 2.0) == pytest.approx(naive, rel=1e-6)


def test_coarse_codes_keep_the_heaviest_value_and_the_missing_apart_and_know_weights():
    rng = np.random.default_rng(0)
    X = np.where(rng.random((400, 1)) < 0.5, 0.0, rng.random((400, 1)))
    X[:20] = np.nan
    weights = rng.integers(1, 4, size=400)
    codes = coarse_codes(Bins(X, Schema.learn(X)), weights.astype(np.float64))[0]
    assert set(codes[np.isnan(X[:, 0])]) == {8}
    assert set(codes[X[:, 0] == 0]) == {0}
    assert set(codes[X[:, 0] > 0]) == set(range(1, 8))
    repeated = np.repeat(X, weights, axis=0)
    again = coarse_codes(Bins(repeated, Schema.learn(repeated)), np.ones(len(repeated)))[0]
    assert (again == np.repeat(codes, weights)).all()


def test_selection_takes_the_most_gain_per_price_first_and_stays_within_the_budget():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4))
    y = (X[:, 0] + 2 * X[:, 1] > 0).astype(np.int64)
    sheet = CostSheet([1, 20, 1, 1])
    table = table_of(X, y, sheet, max_depth=3)
    trainer = table.trainer(np.arange(600), np.ones(600), n_folds=2)
    for budget, first, rest in ((2.0, 0, {2, 3}), (21.0, 0, {1})):
        bought = select_features(trainer, table.coarse, RowLedger(sheet, budget))
        assert bought[0] == first
        assert set(bought[1:]) <= rest | {2, 3}
        assert sheet.total([f"x{column}" for column in bought]) <= budget
    free = CostSheet([1, 1, 1, 1])
    assert select_features(trainer, table.coarse, RowLedger(free, 2.0)) == [1, 0]


def test_features_that_are_tried_out_are_seen_with_those_that_are_owned():
    # x1 and x2 tell the class together, as the sign of their product; x3 tells a little of it alone.
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 5))
    y = (X[:, 1] * X[:, 2] + 0.4 * X[:, 3] > 0).astype(np.int64)
    sheet = CostSheet([1, 1, 1, 1, 1])
    table = table_of(X, y, sheet, max_depth=4)
    for n_candidates, first in ((1, [3]), (5, [2])):
        ledger = RowLedger(sheet, 2.0)
        ledger.buy(1)
        trainer = table.trainer(np.arange(2000), np.ones(2000), n_folds=2)
        assert select_features(trainer, table.coarse, ledger, n_candidates=n_candidates) == first


def test_what_is_tried_out_is_weighed_by_its_price_and_free_features_are_taken_at_once():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1000, 3))
    y = (X[:, 0] + X[:, 1] > 0).astype(np.int64)
    for prices, bought in (([5, 1, 1], 1), ([1, 5, 1], 0), ([1, 1, 0], 2)):
        sheet = CostSheet(prices)
        table = table_of(X, y, sheet, max_depth=3)
        trainer = table.trainer(np.arange(1000), np.ones(1000), n_folds=2)
        assert select_features(trainer, table.coarse, RowLedger(sheet, 5.0), n_candidates=3)[0] == bought


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"n_candidates": 0}, "'n_candidates' parameter .* must be an int in the range"),
        ({"n_branches": 0}, "'n_branches' parameter .* must be an int in the range"),
        ({"branch_share": 1.5}, "'branch_share' parameter .* must be a float in the range"),
        ({"outside_weight": -0.1}, "'outside_weight' parameter .* must be a float in the range"),
        ({"growth_rows": 0}, "'growth_rows' parameter .* must be an int in the range"),
        ({"learning_rate": 0.0}, "'learning_rate' parameter .* must be a float in the range"),
    ],
)
def test_bad_parameters_are_named(tables, params, message):
    with pytest.raises(ValueError, match=message):
        BranchingCascadeClassifier(**{**SMALL, **params}).fit(*tables[0])


@pytest.mark.parametrize("field", ["bought", "ends"])
def test_a_file_whose_branches_look_without_paying_is_refused(tables, tmp_path, field):
    model = BranchingCascadeClassifier(budget=2, **SMALL).fit(*tables[0])
    model.adopt(replace(model.fitted_, **{field: getattr(model.fitted_, field)[::-1].copy()}))
    model.save(tmp_path / "model.farthing")
    with pytest.raises(FileError):
        load(tmp_path / "model.farthing")


def test_fields_that_do_not_fit_are_refused(tables):
    model = BranchingCascadeClassifier(budget=2, **SMALL).fit(*tables[0]).fitted_
    routes = model.routes
    elsewhere = routes.value.copy()
    elsewhere[routes.feature < 0, 0] = len(model.ends)
    stays = np.where(routes.feature < 0, routes.missing, MISSING_STAY).astype(routes.missing.dtype)
    wrong = {
        "4 classes need 4 scores; got 3": {"classes": np.arange(4)},
        "bought must have columns for each branch": {"bought": model.bought[:1]},
        "bought must hold columns of the table": {"bought": np.where(model.bought >= 0, 5, model.bought)},
        "ends must ascend to the number of trees": {"ends": model.ends + 1},
        "routes must be one tree of a branch and the scores": {"routes": model.forest},
        "routes must end at branches": {"routes": replace(routes, node_values=elsewhere)},
        "routes must send every row to a leaf": {"routes": replace(routes, missing=stays)},
    }
    model.check()
    for message, fields in wrong.items():
        with pytest.raises(ValueError, match=message):
            replace(model, **fields).check()


def test_a_refused_first_question_leaves_the_row_to_its_branch(tables):
    model = BranchingCascadeClassifier(budget=2, **SMALL).fit(*tables[0])
    X = tables[1][0][:40]
    without_first = model.decide(X, refused=["x0"])
    assert not without_first.acquired[:, 0].any()
    hidden = X.copy()
    hidden[:, 0] = np.nan
    # Neither way says anything of x0, so both take the same branch; only the measured gap is paid for.
    measured = model.decide(hidden)
    np.testing.assert_array_equal(without_first.acquired[:, 1:], measured.acquired[:, 1:])
    np.testing.assert_array_equal(without_first.spent + 1, measured.spent)
